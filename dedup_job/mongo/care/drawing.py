"""A sample of what a person should look at: near duplicates, and pairs that were kept apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from typing import Any

import bson
import xxhash

from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.bson.edit import RawDocument
from dedup_job.mongo.connection import Documents
from dedup_job.mongo.reading import ID_PAGE, majority, pages
from dedup_job.mongo.target_reader import TargetReader
from dedup_job.report.survey import Stratum

_NEAR: Mapping[str, Any] = {"reason": "near"}
_REFUSED: Mapping[str, Any] = {"dedup.refused": {"$exists": True}}
_SPARE = 1000  # items that are held beyond those that are wanted


@dataclass(frozen=True, slots=True)
class DrawnPair:
    """A document and the kept one that it was compared with, as it was decided.

    of, id: their `_id` fields; decision: `duplicate` or `kept`; reason: `near`, or the class that
    keeps them apart.
    """

    of: bytes
    id: bytes
    decision: str
    reason: str
    similarity: float | None
    stratum: Stratum = Stratum.RANDOM

    @property
    def pair(self) -> tuple[bytes, bytes]:
        """The two ids."""
        return self.of, self.id

    def rank(self, seed: int) -> int:
        """Return a number that stands for chance, the same for the same seed."""
        return xxhash.xxh3_64_intdigest(self.of + self.id, seed=seed)


def draw_pairs(target: TargetReader, number: int, seed: int, *, mixed: bool) -> list[DrawnPair]:
    """Return up to `number` pairs, near duplicates and pairs that were kept apart by turns.

    Half of each are those at the boundary, the nearest first: the least similar near duplicates,
    the most similar that were kept apart; the others are drawn at random by the seed. What one
    kind lacks, the other has more. mixed: in random order, so that it tells nothing.
    """
    near = _drawn(_near(target), number, seed, 1, Stratum.LEAST_SIMILAR)
    refused = _drawn(_refused(target), number, seed, -1, Stratum.MOST_SIMILAR)
    of_near = max(number - number // 2, number - len(refused))
    turns = zip_longest(_halves(near, of_near), _halves(refused, number - min(of_near, len(near))))
    found = [pair for pair in chain.from_iterable(turns) if pair is not None]
    return sorted(found, key=lambda pair: pair.rank(seed)) if mixed else found


@dataclass(slots=True)
class _Least:
    """The items of the least order among many, without holding all."""

    number: int
    items: list[tuple[tuple[float, int], DrawnPair]] = field(default_factory=list)

    def add(self, order: tuple[float, int], item: DrawnPair) -> None:
        self.items.append((order, item))
        if len(self.items) > self.number + _SPARE:
            self.cut()

    def cut(self) -> list[DrawnPair]:
        self.items.sort(key=lambda both: both[0])
        del self.items[self.number :]
        return [item for _, item in self.items]


@dataclass(frozen=True, slots=True)
class _Drawn:
    """Pairs of one kind: those at the boundary, and some at random; one may be in both."""

    boundary: list[DrawnPair]
    random: list[DrawnPair]
    stratum: Stratum

    def __len__(self) -> int:
        return len({pair.pair for pair in (*self.boundary, *self.random)})


def _drawn(
    pairs: Iterator[DrawnPair], number: int, seed: int, sign: int, stratum: Stratum
) -> _Drawn:
    boundary, chance = _Least(number), _Least(number)
    for pair in pairs:
        rank = pair.rank(seed)
        boundary.add((sign * (pair.similarity or 0.0), rank), pair)
        chance.add((0.0, rank), pair)
    return _Drawn(boundary.cut(), chance.cut(), stratum)


def _halves(drawn: _Drawn, number: int) -> list[DrawnPair]:
    """Return the pairs at the boundary, then others at random."""
    first = drawn.boundary[: number - number // 2]
    named = {pair.pair for pair in first}
    others = [pair for pair in drawn.random if pair.pair not in named][: number - len(first)]
    at_boundary = [
        DrawnPair(p.of, p.id, p.decision, p.reason, p.similarity, drawn.stratum) for p in first
    ]
    return [*at_boundary, *others]


def _near(target: TargetReader) -> Iterator[DrawnPair]:
    for found in _rows(target, target.ledger, _NEAR, {"of": 1, "similarity": 1}):
        of = bson_edit.find(found.raw, b"of")
        if of is not None:
            key = bson_edit.renamed(found.raw[of.start : of.end], b"_id")
            similarity = _number(_values(found).get("similarity"))
            yield DrawnPair(key, found.key, "duplicate", "near", similarity)


def _refused(target: TargetReader) -> Iterator[DrawnPair]:
    if not target.rows.has_runs:
        return  # the form has no place for it
    for found in _rows(target, target.documents, _REFUSED, {"dedup.refused": 1}):
        own = _values(found).get("dedup")
        refused = own.get("refused") if isinstance(own, dict) else None
        if isinstance(refused, dict) and "of" in refused:
            similarity, kind = _number(refused.get("similarity")), str(refused.get("class"))
            of = bson_edit.stored(refused["of"])
            yield DrawnPair(of, found.key, "kept", kind, similarity)


def _rows(
    target: TargetReader, collection: Documents, wanted: Mapping[str, Any], parts: Mapping[str, Any]
) -> Iterator[RawDocument]:
    for page in pages(majority(collection), ID_PAGE, wanted, parts, target.patience):
        yield from page


def _values(found: RawDocument) -> dict[str, Any]:
    return bson.decode(found.raw, bson_edit.LENIENT)


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None
