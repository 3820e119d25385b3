"""Search among kept documents: by simhash, sketch and equal text. No I/O, no clock."""

from dedup_job.index.candidates import Candidates
from dedup_job.index.equal import EqualIndex, Ids
from dedup_job.index.hamming import HammingIndex, pairs_within
from dedup_job.index.kept import KeptIndex, Promised
from dedup_job.index.layout import Layout, layout_of
from dedup_job.index.settings import IndexSettings

__all__ = [
    "Candidates",
    "EqualIndex",
    "HammingIndex",
    "Ids",
    "IndexSettings",
    "KeptIndex",
    "Layout",
    "Promised",
    "layout_of",
    "pairs_within",
]
