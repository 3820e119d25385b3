"""Exact search among kept documents: by Hamming distance and by equal text. No I/O, no clock."""

from dedup_job.index.blocks import BlockIndex
from dedup_job.index.equal import EqualIndex
from dedup_job.index.settings import IndexSettings

__all__ = ["BlockIndex", "EqualIndex", "IndexSettings"]
