"""What makes two texts the same: their canonical form, and the class of each difference."""

from dedup_job.judgment.classes import CLASSES, HARMLESS, DifferenceClass, bits_of
from dedup_job.judgment.judge import (
    MOST_LEFT_OUT,
    RICHER,
    RULES,
    Found,
    Judge,
    Judged,
    ReadTexts,
    Verdicts,
)

__all__ = [
    "CLASSES",
    "HARMLESS",
    "MOST_LEFT_OUT",
    "RICHER",
    "RULES",
    "DifferenceClass",
    "Found",
    "Judge",
    "Judged",
    "ReadTexts",
    "Verdicts",
    "bits_of",
]
