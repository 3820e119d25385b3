"""Candidates -> decisions, first wins. No I/O, no clock."""
