"""What a person is shown while they label: a pair with its texts, and how they stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dedup_job.decision.near_pairs import Share
from dedup_job.report.opinion import Opinion
from dedup_job.report.samples import Sample


@dataclass(frozen=True, slots=True)
class AskedPair:
    """A pair as it is shown: its key, its place in the sample, what was said of it.

    number: from 1 on, 0 for one that was answered before and is not in this sample. hidden: what
    was decided is not to be shown; restored: it was dropped, and is kept by now.
    """

    key: str
    number: int
    sample: Sample
    opinion: Opinion | None
    hidden: bool
    restored: bool


@dataclass(frozen=True, slots=True)
class WrongDrop:
    """A document that was dropped, and is another one to the person; text: how it begins."""

    key: str
    id: str
    text: str | None
    restored: bool


@dataclass(frozen=True, slots=True)
class Standing:
    """What one person has said so far.

    answered: of the sample; precision: of the joined pairs, those that are the same; recall: of
    the pairs that are the same, those that were joined; unsure counts for neither.
    wrong: documents that were dropped and are different; wrong_left_out: how many more there are.
    """

    answered: int
    total: int
    precision: Share
    recall: Share
    unsure: int
    wrong: Sequence[WrongDrop]
    wrong_left_out: int
