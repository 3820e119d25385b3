"""A corpus that the project makes itself, and what a run makes of its documents, by kind."""

from __future__ import annotations

from dedup_job.demo.corpus import SHARES, Kind, due, make_corpus
from dedup_job.demo.score import Row, score

__all__ = ["SHARES", "Kind", "Row", "due", "make_corpus", "score"]
