"""What a target remembers: its state document, the lease, commits, and what must last."""
