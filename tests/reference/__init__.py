"""Naive versions, which a reader checks by eye, and what compares with them."""
