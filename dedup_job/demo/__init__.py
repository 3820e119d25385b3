"""A corpus the project makes itself, and how a run's result is scored against its labels."""

from __future__ import annotations

from dedup_job.demo.corpus import SHARES, Kind, due, make_corpus
from dedup_job.demo.score import Row, Score, score

__all__ = [
    "SHARES",
    "Kind",
    "Row",
    "Score",
    "due",
    "make_corpus",
    "score",
]
