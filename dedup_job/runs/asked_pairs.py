"""What a person is shown while they label: a pair with its texts, and how they stand."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from dedup_job.messages import Message
from dedup_job.runs.decided import DecidedDocument
from dedup_job.runs.share import Share


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
