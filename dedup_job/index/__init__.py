"""Search among kept documents: by simhash, sketch and equal text. No I/O, no clock."""

from dedup_job.index.kept import IndexSettings, KeptIndex, Promised

__all__ = ["IndexSettings", "KeptIndex", "Promised"]
