"""A corpus that the project makes itself."""

from dedup_job.demo.corpus import SHARES, Kind, due, make_corpus

__all__ = ["SHARES", "Kind", "due", "make_corpus"]
