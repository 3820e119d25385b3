"""Names of all that keeps two texts apart, and of what a text has more."""

from __future__ import annotations

from typing import Final

from dedup_job.columns import Names
from dedup_job.judgment.differences import RICHER
from dedup_job.judgment.judge import APART

SIMILARITY: Final = "similarity"
"""What keeps texts apart that are not alike enough; of others it is a guard, or the model."""
NAMES: Final = Names((*APART, SIMILARITY), RICHER)
"""What keeps a pair apart by its code, and what a text has more by its bit."""
