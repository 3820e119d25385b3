"""Measurements, run by hand: `python -m scripts.bench.job`."""
