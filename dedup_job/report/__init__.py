"""What a run counted and how a person sees it."""
