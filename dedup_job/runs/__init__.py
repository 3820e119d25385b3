"""Values of runs and targets: counts, checkpoints, reports, decided documents, findings."""
