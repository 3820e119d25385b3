"""Exact search among kept documents: by Hamming distance and by equal text. No I/O, no clock."""

from dedup_job.index.equal import EqualIndex
from dedup_job.index.hamming import Candidates, HammingIndex, pairs_within
from dedup_job.index.ids import Ids
from dedup_job.index.layout import Layout, Plan, plan
from dedup_job.index.settings import IndexSettings

__all__ = [
    "Candidates",
    "EqualIndex",
    "HammingIndex",
    "Ids",
    "IndexSettings",
    "Layout",
    "Plan",
    "pairs_within",
    "plan",
]
