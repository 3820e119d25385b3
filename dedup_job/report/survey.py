"""What a page says of a target: counts, samples of pairs, groups and runs, as plain values."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from dedup_job.report.counts import Counts
from dedup_job.report.run import Machine
from dedup_job.report.samples import Sample

BINS = 50
"""Bins of a similarity histogram: each holds 0.02, the last one 1 as well."""


class Stratum(StrEnum):
    """A group of pairs of which a page shows a sample."""

    LEFT_OUT = "left_out"  # near duplicates with the largest part left out of the comparison
    LEAST_SIMILAR = "least_similar"  # near duplicates that were dropped
    MOST_SIMILAR = "most_similar"  # kept documents that nearly were duplicates
    CLASS = "class"  # near duplicates with a difference of this class
    KEPT_APART = "kept_apart"  # kept documents, by the class that keeps them apart
    RICHER = "richer"  # near duplicates with content that the kept document lacks
    SIZE = "size"  # near duplicates, by characters of the text
    RANDOM = "random"
    EXACT = "exact"
    WITHOUT_TEXT = "without_text"  # skipped and quarantined documents, by reason


@dataclass(frozen=True, slots=True)
class Layer:
    """A sample of one stratum. name: of the class, reason or size that its documents share."""

    stratum: Stratum
    name: str
    samples: Sequence[Sample]


@dataclass(frozen=True, slots=True)
class Group:
    """A kept document and some of its duplicates.

    id: as a person writes it; text: cleaned; written: `_id` as in `Sample`.
    """

    id: str
    text: str | None
    duplicates: int
    members: Sequence[Sample]
    written: str = ""


@dataclass(frozen=True, slots=True)
class RunLine:
    """A run in a list of runs.

    series: (seconds, documents decided, resident bytes) over time; machines: of a run on a cluster.
    """

    number: int
    status: str
    started: datetime | None
    finished: datetime | None
    counts: Counts
    known: int
    seconds: float
    series: Sequence[Sequence[float]] = ()
    machines: Mapping[str, Machine] = field(default_factory=dict)

    @property
    def docs_per_second(self) -> float:
        """Documents decided per second of wall time."""
        return self.counts.scanned / self.seconds if self.seconds > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Similarities:
    """Near duplicates and refused documents by similarity, `BINS` counts each.

    refused: kept documents that had a candidate, by similarity to the nearest one.
    """

    near: Sequence[int] = (0,) * BINS
    refused: Sequence[int] = (0,) * BINS


@dataclass(frozen=True, slots=True)
class Survey:
    """What a page says of a target.

    counts: of all runs that were not taken back. kept, ledger: documents in the collections now.
    restored, reopened: documents that a person put back, or had decided again. runs: the last ones;
    runs_left_out: how many there are before. threshold: of the
    similarity, None where differences decide. seed: of the samples. source_gone: nothing could be
    read from the source. dry_run: nothing was written; kept and ledger are what they would be.
    """

    target: str
    source: str
    made: datetime
    version: str
    counts: Counts
    kept: int
    ledger: int
    restored: int = 0
    reopened: int = 0
    threshold: float | None = None
    seed: int = 0
    source_gone: bool = False
    dry_run: bool = False
    similarities: Similarities = field(default_factory=Similarities)
    layers: Sequence[Layer] = ()
    groups: Sequence[Group] = ()
    runs: Sequence[RunLine] = ()
    runs_left_out: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def adds_up(self) -> bool:
        """Tell whether the collections hold what the runs counted."""
        by_hand = self.restored + self.reopened
        dropped = self.counts.scanned - self.counts.kept
        return self.kept == self.counts.kept + self.restored and self.ledger == dropped - by_hand


_EXTREME, _EACH, _RANDOM = 12, 3, 12
_SIZES = (30, 100, 300, 1000, 10_000)


def layered(
    left_out: Sequence[Sample],
    least: Sequence[Sample],
    near: Sequence[Sample],
    most: Sequence[Sample],
    refused: Sequence[Sample],
    others: Sequence[Sample],
) -> list[Layer]:
    """Sort samples into strata, a few of each.

    left_out: near duplicates with the largest part left out of the comparison; least: near
    duplicates, the least similar first; near: others, in random order; most: kept
    documents, the most similar to what was refused first; refused: others, in random order; others:
    exact duplicates, and documents without a text.
    """
    exact = [one for one in others if one.reason == "exact"]
    parts: list[tuple[Stratum, Mapping[str, Sequence[Sample]]]] = [
        (Stratum.LEFT_OUT, {"": left_out[:_EXTREME]}),
        (Stratum.LEAST_SIMILAR, {"": least[:_EXTREME]}),
        (Stratum.MOST_SIMILAR, {"": most[:_EXTREME]}),
        (Stratum.CLASS, _by(near, lambda one: [each.kind for each in one.differences])),
        (Stratum.KEPT_APART, _by(refused, lambda one: [one.reason])),
        (Stratum.RICHER, _by(near, lambda one: one.richer)),
        (Stratum.SIZE, dict(sorted(_by(near, _size).items(), key=_first_number))),
        (Stratum.RANDOM, {"": near[:_RANDOM]}),
        (Stratum.EXACT, {"": exact[:_EACH]}),
        (Stratum.WITHOUT_TEXT, _by([o for o in others if not o.of], lambda one: [one.reason])),
    ]
    return [
        Layer(stratum, name, found)
        for stratum, groups in parts
        for name, found in groups.items()
        if found
    ]


def _by(
    samples: Sequence[Sample], names_of: Callable[[Sample], Iterable[str]]
) -> dict[str, list[Sample]]:
    """Return the first samples of each name."""
    found: dict[str, list[Sample]] = {}
    for one in samples:
        for name in dict.fromkeys(names_of(one)):
            group = found.setdefault(name, [])
            if len(group) < _EACH:
                group.append(one)
    return found


def _size(one: Sample) -> Sequence[str]:
    """Return the range of sizes that a text is in; nothing where the text is gone."""
    if one.text is None:
        return ()
    place = bisect_right(_SIZES, len(one.text))
    low = _SIZES[place - 1] if place else 0
    return (f"{low:,}-{_SIZES[place] - 1:,}" if place < len(_SIZES) else f"{low:,}+",)


def _first_number(group: tuple[str, Sequence[Sample]]) -> int:
    return int(group[0].rstrip("+").split("-")[0].replace(",", ""))
