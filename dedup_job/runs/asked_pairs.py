"""What a person is shown while they label: a pair with its texts, and how they stand."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from dedup_job.messages import Message
from dedup_job.runs.decided import DecidedDocument

_Z = 1.959964  # of the normal distribution, 95 % between -z and z


@dataclass(frozen=True, slots=True)
class Share:
    """A proportion: `part` of `whole`."""

    part: int
    whole: int

    @property
    def rate(self) -> float:
        """The quotient, nan of none."""
        return self.part / self.whole if self.whole else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval: Wilson's score interval (JASA 22, 1927)."""
        if not self.whole:
            return 0.0, 1.0
        n, p = self.whole, self.rate
        middle = (p + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
        reach = _Z / (1 + _Z**2 / n) * math.sqrt(p * (1 - p) / n + _Z**2 / (4 * n**2))
        return max(middle - reach, 0.0), min(middle + reach, 1.0)


class Label(StrEnum):
    """Whether a person would keep only one of two documents."""

    SAME = Message("same")
    DIFFERENT = Message("different")
    UNSURE = Message("unsure")


@dataclass(frozen=True, slots=True)
class AskedPair:
    """A pair as it is shown: its key, its place in the sample, what was said of it.

    number: from 1 on, 0 for one that was answered before and is not in this sample.
    """

    key: str
    number: int
    document: DecidedDocument
    label: Label | None


@dataclass(frozen=True, slots=True)
class ReviewProgress:
    """What one person has said so far.

    answered: of the sample; precision: of the joined pairs, those that are the same; recall: of
    the pairs that are the same, those that were joined; unsure counts for neither.
    """

    answered: int
    total: int
    precision: Share
    recall: Share
    unsure: int
