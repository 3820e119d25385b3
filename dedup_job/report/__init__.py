"""Output for a person: tables, the progress bar, log lines, metrics, differences of texts."""
