"""Faults brought about on purpose, and what becomes of a run that meets them."""
