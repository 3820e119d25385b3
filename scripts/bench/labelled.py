"""Pairs of questions that people labelled, each decided by itself."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dedup_job.cleaning import Cleaner, CleaningSettings
from scripts.bench.engines import Keeps

SAME, DIFFERENT = "S", "D"
ALL = "all"


@dataclass(frozen=True, slots=True)
class Labelled:
    """A pair: its number, both texts as they are, the label, and what it is of (kind or source)."""

    n: int
    a: str
    b: str
    label: str
    of: str


@dataclass(frozen=True, slots=True)
class Score:
    """How many pairs of one kind are joined: of different ones and of the same."""

    of: str
    different: tuple[int, int]
    same: tuple[int, int]


def read_labelled(file: Path, half: int | None = None) -> list[Labelled]:
    """Return the pairs labelled S or D; of the half whose n % 2 is that, if one is asked for."""
    opened = gzip.open if file.suffix == ".gz" else open
    with opened(file, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    return [
        Labelled(r["n"], r["a"], r["b"], r["label"], r.get("kind") or r.get("source") or "-")
        for r in records
        if r["label"] in (SAME, DIFFERENT) and (half is None or r["n"] % 2 == half)
        if r["a"] is not None and r["b"] is not None  # dedup labels export: a text may be gone
    ]


def joined(pairs: Sequence[Labelled], cleaning: CleaningSettings, keeps: Keeps) -> list[bool]:
    """Tell of each pair, cleaned, whether its second text is dropped as the first one's duplicate.

    A text of which cleaning leaves nothing is the duplicate of none.
    """
    cleaner = Cleaner(cleaning)
    cleaned = [(cleaner.clean(pair.a), cleaner.clean(pair.b)) for pair in pairs]
    return [bool(a and b) and not keeps([a, b])[1] for a, b in cleaned]


def scores(pairs: Sequence[Labelled], found: Sequence[bool]) -> Iterator[Score]:
    """Yield the score of all pairs, then of each kind by name."""
    both = list(zip(pairs, found, strict=True))
    for of in (ALL, *sorted({pair.of for pair in pairs})):
        some = [(pair.label, hit) for pair, hit in both if of in (ALL, pair.of)]
        counts = [
            (sum(hits), len(hits))
            for label in (DIFFERENT, SAME)
            for hits in [[hit for own, hit in some if own == label]]
        ]
        yield Score(of, counts[0], counts[1])


def table(file: Path, columns: dict[str, list[Score]]) -> Iterator[str]:
    """Yield aligned lines: a row for each kind, for each contender D and S joined."""
    names = [score.of for score in next(iter(columns.values()))]
    width = max(24, *map(len, names))
    widths = [max(15, len(name)) for name in columns]
    head = "".join(f"  {name:>{w}}" for name, w in zip(columns, widths, strict=True))
    title = file.name.partition(".")[0]
    yield f"\n{title:{width}}{head}"
    under = "".join(f"  {'D        S':>{w}}" for w in widths)
    yield f"{'joined of':{width}}{under}"
    for i, name in enumerate(names):
        cells = ""
        for own, w in zip(columns.values(), widths, strict=True):
            told = f"{_of(own[i].different)}  {_of(own[i].same)}"
            cells += f"  {told:>{w}}"
        yield f"{name:{width}}{cells}"


def wrong(
    pairs: Sequence[Labelled], found: Sequence[bool], label: str | None = None
) -> Iterator[Labelled]:
    """Yield the pairs that are decided unlike their label."""
    for pair, hit in zip(pairs, found, strict=True):
        if hit != (pair.label == SAME) and label in (None, pair.label):
            yield pair


def _of(counts: tuple[int, int]) -> str:
    part, whole = counts
    return f"{part}/{whole}" if whole else "-"
