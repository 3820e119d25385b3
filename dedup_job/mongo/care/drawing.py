"""A sample of what a person should look at: near duplicates, and pairs that were kept apart."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
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
_SPARE = 1000  # documents that are held beyond those that are wanted


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


def draw_pairs(target: TargetReader, number: int, seed: int, *, mixed: bool) -> list[DrawnPair]:
    """Return up to `number` pairs, near duplicates and pairs that were kept apart by turns.

    Half of each are those at the boundary, the nearest first: the least similar near duplicates,
    the most similar that were kept apart; the others are drawn at random by the seed. What one
    kind lacks, the other has more. mixed: in random order, so that it tells nothing.
    """
    near = _drawn(_near(target), number, seed, _near_pair)
    refused = _drawn(_refused(target), number, seed, _refused_pair)
    of_near = max(number - number // 2, number - len(refused))
    turns = zip_longest(_halves(near, of_near), _halves(refused, number - min(of_near, len(near))))
    found = [pair for pair in chain.from_iterable(turns) if pair is not None]
    return sorted(found, key=lambda pair: _rank(pair.id, seed)) if mixed else found


@dataclass(slots=True)
class _Least:
    """The documents of the least order among many, without holding all."""

    number: int
    items: list[tuple[float, int, RawDocument]] = field(default_factory=list)
    most: tuple[float, int] = (math.inf, 0)  # from here on there are enough

    def add(self, order: float, rank: int, found: RawDocument) -> None:
        if (order, rank) < self.most:
            self.items.append((order, rank, found))
            if len(self.items) > self.number + _SPARE:
                self.cut()

    def cut(self) -> list[RawDocument]:
        self.items.sort(key=lambda item: item[:2])
        del self.items[self.number :]
        if len(self.items) == self.number:
            self.most = self.items[-1][:2]
        return [found for _, _, found in self.items]


@dataclass(frozen=True, slots=True)
class _Drawn:
    """Pairs of one kind: those at the boundary, and some at random; one may be in both."""

    boundary: list[DrawnPair]
    random: list[DrawnPair]

    def __len__(self) -> int:
        return len({pair.pair for pair in (*self.boundary, *self.random)})


def _drawn(
    rows: Iterator[tuple[float, RawDocument]],
    number: int,
    seed: int,
    pair_of: Callable[[RawDocument], DrawnPair],
) -> _Drawn:
    """Read documents, each with its distance from the boundary."""
    boundary, chance = _Least(number), _Least(number)
    for order, found in rows:
        rank = _rank(found.key, seed)
        boundary.add(order, rank, found)
        chance.add(0.0, rank, found)
    return _Drawn([*map(pair_of, boundary.cut())], [*map(pair_of, chance.cut())])


def _rank(key: bytes, seed: int) -> int:
    """Return a number that stands for chance, the same for the same seed."""
    return xxhash.xxh3_64_intdigest(key, seed=seed)


def _halves(drawn: _Drawn, number: int) -> list[DrawnPair]:
    """Return the pairs at the boundary, then others at random."""
    first = drawn.boundary[: number - number // 2]
    named = {pair.pair for pair in first}
    others = [pair for pair in drawn.random if pair.pair not in named]
    return [*first, *(replace(p, stratum=Stratum.RANDOM) for p in others[: number - len(first)])]


def _near(target: TargetReader) -> Iterator[tuple[float, RawDocument]]:
    for found, row in _rows(target, target.ledger, _NEAR, {"of": 1, "similarity": 1}):
        if "of" in row:
            yield _number(row.get("similarity")) or 0.0, found


def _near_pair(found: RawDocument) -> DrawnPair:
    of = bson_edit.find(found.raw, b"of")
    assert of is not None  # it is there
    key = bson_edit.renamed(found.raw[of.start : of.end], b"_id")
    similarity = _number(_values(found).get("similarity"))
    return DrawnPair(key, found.key, "duplicate", "near", similarity, Stratum.LEAST_SIMILAR)


def _refused(target: TargetReader) -> Iterator[tuple[float, RawDocument]]:
    if not target.rows.has_runs:
        return  # the form has no place for it
    for found, row in _rows(target, target.documents, _REFUSED, {"dedup.refused": 1}):
        if "of" in (refused := _refusal_in(row)):
            yield -(_number(refused.get("similarity")) or 0.0), found


def _refused_pair(found: RawDocument) -> DrawnPair:
    refused = _refusal_in(_values(found))
    similarity, kind = _number(refused.get("similarity")), str(refused.get("class"))
    of = bson_edit.stored(refused["of"])
    return DrawnPair(of, found.key, "kept", kind, similarity, Stratum.MOST_SIMILAR)


def _refusal_in(row: Mapping[str, Any]) -> Mapping[str, Any]:
    own = row.get("dedup")
    refused = own.get("refused") if isinstance(own, dict) else None
    return refused if isinstance(refused, dict) else {}


def _rows(
    target: TargetReader, collection: Documents, wanted: Mapping[str, Any], parts: Mapping[str, Any]
) -> Iterator[tuple[RawDocument, dict[str, Any]]]:
    for page in pages(majority(collection), ID_PAGE, wanted, parts, target.patience):
        yield from ((found, _values(found)) for found in page)


def _values(found: RawDocument) -> dict[str, Any]:
    return bson.decode(found.raw, bson_edit.LENIENT)


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None
