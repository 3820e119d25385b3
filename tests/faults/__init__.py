"""Faults that a run must live through, on real servers."""
