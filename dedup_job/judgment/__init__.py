"""Whether two texts are the same to an editor: their forms, differences, guards, and a model."""

from dedup_job.judgment.differences import PLACES, RICHER, DifferenceKind, Found
from dedup_job.judgment.judge import (
    APART,
    RULES,
    UNLIKELY,
    Judge,
    Judged,
    ReadTexts,
    Verdicts,
    Weighed,
)

__all__ = [
    "APART",
    "PLACES",
    "RICHER",
    "RULES",
    "UNLIKELY",
    "DifferenceKind",
    "Found",
    "Judge",
    "Judged",
    "ReadTexts",
    "Verdicts",
    "Weighed",
]
