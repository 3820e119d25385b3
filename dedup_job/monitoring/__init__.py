"""Signals of a run for machines: a file of metrics, pings to a URL, events in the log."""
