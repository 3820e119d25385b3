"""Signals of a run for machines: a file of metrics."""
