"""What machines are told of a run: a file of metrics, pings to a URL, events in the log."""
