"""What a person is shown while they label: a pair with its texts, and how they stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dedup_job.cleaning import Cleaner
from dedup_job.decision.near_pairs import Share
from dedup_job.mongo.bson.extended_json import shown
from dedup_job.mongo.care.drawing import DrawnPair
from dedup_job.mongo.care.records import KeptRecord, Record
from dedup_job.report.opinion import Opinion
from dedup_job.report.survey import Difference, Sample


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


def sample_of(
    drawn: DrawnPair, record: Record, other: KeptRecord | None, cleaner: Cleaner
) -> Sample:
    """Return a pair with its texts, as far as they are still there.

    record: of the document; other: the kept one.
    """
    row, text = record.row or {}, None
    if record.kept is not None:
        text = record.kept.text
    elif record.dropped is not None and isinstance(record.dropped.content, str):
        text = cleaner.clean(record.dropped.content)
    run = row.get("run") or (record.kept.run if record.kept else 0)
    richer = row.get("richer")
    return Sample(
        decision=drawn.decision,
        reason=drawn.reason,
        id=shown(drawn.id),
        of=shown(drawn.of),
        similarity=drawn.similarity,
        run=run if isinstance(run, int) else 0,
        text=text,
        other=None if other is None else other.text,
        differences=[*_differences(row.get("differences"))],
        richer=[str(name) for name in richer] if isinstance(richer, list) else [],
    )


def _differences(stored: object) -> Iterator[Difference]:
    for one in stored if isinstance(stored, list) else []:
        if isinstance(one, dict):
            yield Difference(*(str(one.get(name)) for name in ("class", "of", "text")))
