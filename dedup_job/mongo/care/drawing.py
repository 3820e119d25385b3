"""AnyCollection of a target and its ledger to be looked at: counted and drawn by the server."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from random import Random
from typing import Any, Final

import bson
import xxhash
from bson import Int64

from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.care.samples import number
from dedup_job.mongo.connection import AnyCollection
from dedup_job.mongo.reading import majority
from dedup_job.mongo.target_reader import TargetReader
from dedup_job.report.survey import BINS

_LAST: Final = Int64(1 << 62)
_NO_TEXT: Final = ("skipped", "quarantined")
Steps = Sequence[Mapping[str, Any]]


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

    @property
    def pair(self) -> tuple[bytes, bytes]:
        """The two ids."""
        return self.of, self.id


@dataclass(frozen=True, slots=True)
class Drawn:
    """Pairs that were drawn, and how many there are by similarity, in `BINS` bins.

    extreme: those nearest to the other decision; by_class: one for each class of difference;
    left_out: those with the largest part left out of the comparison.
    """

    bins: tuple[int, ...] = (0,) * BINS
    extreme: list[DrawnPair] = field(default_factory=list)
    random: list[DrawnPair] = field(default_factory=list)
    by_class: list[DrawnPair] = field(default_factory=list)
    left_out: list[DrawnPair] = field(default_factory=list)

    def __len__(self) -> int:
        """Return the number of different pairs, those by class left out."""
        return len({pair.pair for pair in (*self.extreme, *self.random)})


def draw_pairs(target: TargetReader, number: int, seed: int, *, mixed: bool) -> list[DrawnPair]:
    """Return up to `number` pairs, near duplicates and pairs that were kept apart by turns.

    Half of each are those at the boundary, the nearest first: the least similar near duplicates,
    the most similar that were kept apart; the others are drawn at random by the seed. What one
    kind lacks, the other has more. mixed: in random order, so that it tells nothing.
    """
    near = draw_near(target, seed, number, number)
    refused = draw_refused(target, seed, number, number)
    of_near = max(number - number // 2, number - len(refused))
    turns = zip_longest(_halves(near, of_near), _halves(refused, number - min(of_near, len(near))))
    found = [pair for pair in chain.from_iterable(turns) if pair is not None]
    if mixed:
        found.sort(key=lambda pair: xxhash.xxh3_64_intdigest(pair.id, seed=seed))
    return found


def _halves(drawn: Drawn, number: int) -> list[DrawnPair]:
    """Return the pairs at the boundary, then others at random."""
    first = drawn.extreme[: number - number // 2]
    named = {pair.pair for pair in first}
    others = [pair for pair in drawn.random if pair.pair not in named]
    return [*first, *others[: number - len(first)]]


def draw_near(target: TargetReader, seed: int, extreme: int, random: int) -> Drawn:
    """Draw near duplicates of the ledger.

    The least similar, random ones, one of each class, those with the largest part left out.
    """
    steps: Steps = [
        {"$match": {"reason": "near", "of": {"$exists": True}}},
        {
            "$project": {
                "of": 1,
                "d": "$decision",
                "r": "$reason",
                "s": "$similarity",
                "c": "$differences.class",
                "l": "$left_out",
                "k": random_order(seed, "$digest"),
            }
        },
    ]
    return _drawn(target, target.ledger, steps, {"s": 1, "k": 1, "_id": 1}, extreme, random)


def draw_refused(target: TargetReader, seed: int, extreme: int, random: int) -> Drawn:
    """Draw kept documents that were compared with another: the most similar first."""
    if not target.rows.has_runs:
        return Drawn()
    own = "$dedup.refused"
    steps: Steps = [
        {"$match": {"dedup.refused.of": {"$exists": True}}},
        {
            "$project": {
                "of": f"{own}.of",
                "d": "kept",
                "r": f"{own}.class",
                "s": f"{own}.similarity",
                "c": [f"{own}.class"],
                "k": random_order(seed, "$dedup.fingerprint"),
            }
        },
    ]
    return _drawn(target, target.documents, steps, {"s": -1, "k": 1, "_id": 1}, extreme, random)


def draw_exact(target: TargetReader, seed: int, number: int) -> list[bytes]:
    """Draw exact duplicates at random."""
    steps: Steps = [
        {"$match": {"reason": "exact"}},
        {"$project": {"k": random_order(seed, "$digest")}},
        {"$sort": {"k": 1, "_id": 1}},
        {"$limit": number},
    ]
    return [_key(row) for row in _aggregate(target, target.ledger, steps)]


def draw_without_text(target: TargetReader, reasons: Iterable[str], number: int) -> list[bytes]:
    """Return the first documents of each reason for which a text was not compared."""
    keys: list[bytes] = []
    for reason in reasons:
        steps: Steps = [
            {"$match": {"decision": {"$in": _NO_TEXT}, "reason": reason}},
            {"$limit": number},
            {"$project": {"_id": 1}},
        ]
        keys += [_key(row) for row in _aggregate(target, target.ledger, steps)]
    return keys


def largest_groups(target: TargetReader, number: int) -> list[tuple[bytes, int]]:
    """Return the keys of the kept documents with the most duplicates, and how many they have."""
    steps = group_steps({"decision": "duplicate"}, number)
    return [(_key(row), int(row["n"])) for row in _aggregate(target, target.ledger, steps)]


def group_steps(query: Mapping[str, Any], limit: int | None) -> Steps:
    """Return what counts the rows of a ledger by kept document, the most first, as `n`."""
    return [
        {"$match": query},
        {"$group": {"_id": "$of", "n": {"$sum": 1}}},
        {"$sort": {"n": -1, "_id": 1}},
        *([] if limit is None else [{"$limit": limit}]),
    ]


def members_of(target: TargetReader, key: bytes, number: int) -> list[bytes]:
    """Return the keys of some duplicates of a kept document."""
    steps: Steps = [
        {"$match": {"of": bson_edit.id_value(key)}},
        {"$limit": number},
        {"$project": {"_id": 1}},
    ]
    return [_key(row) for row in _aggregate(target, target.ledger, steps)]


def _drawn(
    target: TargetReader,
    collection: AnyCollection,
    steps: Steps,
    order: Mapping[str, int],
    extreme: int,
    random: int,
) -> Drawn:
    """Return what one pass over the rows draws.

    Each row has the other document (of), decision (d), reason (r), similarity (s), classes (c),
    the share left out (l), if any, and its place in a random order (k).
    """
    pair = {"of": 1, "d": 1, "r": 1, "s": 1}
    place = {"$min": [{"$floor": {"$multiply": ["$s", BINS]}}, BINS - 1]}
    facets = {
        "bins": [
            {"$match": {"s": {"$type": "number"}}},
            {"$group": {"_id": place, "n": {"$sum": 1}}},
        ],
        "extreme": [{"$sort": order}, {"$limit": extreme}, {"$project": pair}],
        "left_out": [
            {"$match": {"l": {"$gt": 0}}},
            {"$sort": {"l": -1, "k": 1, "_id": 1}},
            {"$limit": extreme},
            {"$project": pair},
        ],
        "random": [{"$sort": {"k": 1, "_id": 1}}, {"$limit": random}, {"$project": pair}],
        "classes": [
            {"$unwind": "$c"},
            {"$group": {"_id": "$c", "first": {"$min": {"k": "$k", "row": "$$ROOT"}}}},
            {"$replaceRoot": {"newRoot": "$first.row"}},
            {"$project": pair},
        ],
    }
    (found,) = _aggregate(target, collection, [*steps, {"$facet": facets}])
    bins = [0] * BINS
    for row in found["bins"]:
        bins[int(row["_id"])] += int(row["n"])
    drawn = (
        [_pair(bytes(row.raw)) for row in found[name]]
        for name in ("extreme", "random", "classes", "left_out")
    )
    return Drawn(tuple(bins), *drawn)


def _pair(row: bytes) -> DrawnPair:
    values, of = bson.decode(row, bson_edit.LENIENT), bson_edit.find(row, b"of")
    assert of is not None  # it was asked for
    return DrawnPair(
        bson_edit.renamed(row[of.start : of.end], b"_id"),
        bson_edit.id_element(row),
        str(values.get("d")),
        str(values.get("r")),
        number(values.get("s")),
    )


def random_order(seed: int, hashed: str) -> Mapping[str, Any]:
    """Return a number that orders rows at random, the same with each seed.

    hashed: a field of 64 random bits; its remainder, which every version of the server can compute,
    is as random. Rows without it, as former versions wrote them, come last.
    """
    by = Int64(Random(seed).getrandbits(40) | 1 << 40 | 1)
    rest = {"$abs": {"$mod": [hashed, by]}}
    return {"$cond": [{"$isNumber": hashed}, rest, _LAST]}


def _aggregate(target: TargetReader, collection: AnyCollection, steps: Steps) -> list[Any]:
    return target.patience(
        lambda: list(majority(collection).aggregate(list(steps), allowDiskUse=True))
    )


def _key(row: Any) -> bytes:
    return bson_edit.id_element(bytes(row.raw))
