"""What looks after a target: audit, undo, restore, the lease broken by hand, lists."""
