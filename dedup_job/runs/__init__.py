"""Runs and what they leave behind, as values: counts, checkpoints, documents decided, findings."""
