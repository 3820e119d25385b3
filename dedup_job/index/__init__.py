"""Search among kept documents: by simhash, sketch and equal text. No I/O, no clock."""

from dedup_job.index.kept import KeptIndex, Promised
from dedup_job.index.settings import IndexSettings

__all__ = ["IndexSettings", "KeptIndex", "Promised"]
