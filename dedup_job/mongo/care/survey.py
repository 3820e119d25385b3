"""Rows of a target and its ledger to be looked at: counted and drawn by the server."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import bson

from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.bson.extended_json import shown
from dedup_job.mongo.bson.ledger_rows import DOCUMENT
from dedup_job.mongo.care.records import texts_of_dropped
from dedup_job.mongo.connection import Documents
from dedup_job.mongo.reading import majority, some
from dedup_job.mongo.target_reader import TargetReader
from dedup_job.report.survey import BINS, Difference, Sample

_PRIMES: Final = (2_147_483_629, 2_147_483_587, 2_147_483_563, 2_147_483_549, 2_147_483_543)
_NO_TEXT: Final = ("skipped", "quarantined")
Steps = Sequence[Mapping[str, Any]]
_JOINED: Final = ("exact", "near")


@dataclass(frozen=True, slots=True)
class Drawn:
    """Keys of documents that were drawn, and how many there are by similarity, in `BINS` bins.

    extreme: those nearest to the other decision; by_class: one for each class of difference.
    """

    bins: tuple[int, ...] = (0,) * BINS
    extreme: list[bytes] = field(default_factory=list)
    random: list[bytes] = field(default_factory=list)
    by_class: list[bytes] = field(default_factory=list)


def draw_near(target: TargetReader, seed: int, extreme: int, random: int) -> Drawn:
    """Draw near duplicates of the ledger: the least similar, random ones, one of each class."""
    steps: Steps = [
        {"$match": {"reason": "near"}},
        {"$project": {"s": "$similarity", "c": "$differences.class", "k": _order(seed, "$digest")}},
    ]
    return _drawn(target, target.ledger, steps, {"s": 1, "k": 1}, extreme, random)


def draw_refused(target: TargetReader, seed: int, extreme: int, random: int) -> Drawn:
    """Draw kept documents that were compared with another: the most similar first."""
    if not target.rows.has_runs:
        return Drawn()
    refused = "$dedup.refused"
    steps: Steps = [
        {"$match": {"dedup.refused.similarity": {"$exists": True}}},
        {
            "$project": {
                "s": f"{refused}.similarity",
                "c": [f"{refused}.class"],
                "k": _order(seed, "$dedup.fingerprint"),
            }
        },
    ]
    return _drawn(target, target.documents, steps, {"s": -1, "k": 1}, extreme, random)


def draw_exact(target: TargetReader, seed: int, number: int) -> list[bytes]:
    """Draw exact duplicates at random."""
    steps: Steps = [
        {"$match": {"reason": "exact"}},
        {"$project": {"k": _order(seed, "$digest")}},
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
    steps: Steps = [
        {"$match": {"decision": "duplicate"}},
        {"$group": {"_id": "$of", "n": {"$sum": 1}}},
        {"$sort": {"n": -1, "_id": 1}},
        {"$limit": number},
    ]
    return [(_key(row), int(row["n"])) for row in _aggregate(target, target.ledger, steps)]


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
    collection: Documents,
    steps: Steps,
    order: Mapping[str, int],
    extreme: int,
    random: int,
) -> Drawn:
    """Return what one pass over the rows draws; each row has similarity, classes, random order."""
    place = {"$min": [{"$floor": {"$multiply": ["$s", BINS]}}, BINS - 1]}
    facets = {
        "bins": [
            {"$match": {"s": {"$type": "number"}}},
            {"$group": {"_id": place, "n": {"$sum": 1}}},
        ],
        "extreme": [{"$sort": order}, {"$limit": extreme}, {"$project": {"_id": 1}}],
        "random": [{"$sort": {"k": 1, "_id": 1}}, {"$limit": random}, {"$project": {"_id": 1}}],
        "classes": [
            {"$unwind": "$c"},
            {"$group": {"_id": "$c", "first": {"$min": {"k": "$k", "_id": "$_id"}}}},
            {"$replaceRoot": {"newRoot": "$first"}},
            {"$project": {"_id": 1}},
        ],
    }
    (found,) = _aggregate(target, collection, [*steps, {"$facet": facets}])
    bins = [0] * BINS
    for row in found["bins"]:
        bins[int(row["_id"])] += int(row["n"])
    keys = {name: [_key(row) for row in found[name]] for name in ("extreme", "random", "classes")}
    return Drawn(tuple(bins), keys["extreme"], keys["random"], keys["classes"])


def _order(seed: int, hashed: str) -> Mapping[str, Any]:
    """Return a number that orders rows at random, the same with each seed.

    hashed: a field of 64 random bits; its remainder by a prime is as random.
    """
    prime = _PRIMES[seed % len(_PRIMES)] - 2 * (seed // len(_PRIMES))
    return {"$abs": {"$mod": [{"$ifNull": [hashed, 0]}, prime]}}


def _aggregate(target: TargetReader, collection: Documents, steps: Steps) -> list[Any]:
    return target.patience(
        lambda: list(majority(collection).aggregate(list(steps), allowDiskUse=True))
    )


def _key(row: Any) -> bytes:
    return bson_edit.id_element(bytes(row.raw))


def read_dropped_samples(
    target: TargetReader, clean_all: Callable[[Sequence[str]], list[str]], keys: Sequence[bytes]
) -> dict[bytes, Sample]:
    """Return documents of the ledger by key, with their texts; those that are gone are left out."""
    found = some(majority(target.ledger), keys, {DOCUMENT: 0}, target.patience)
    rows = {one.key: bson.decode(one.raw, bson_edit.LENIENT) for one in found}
    of = {
        k: bson_edit.fields({"_id": row["of"]})
        for k, row in rows.items()
        if row.get("reason") in _JOINED
    }
    texts = texts_of_dropped(target, clean_all, [*rows])
    others = target.texts([*dict.fromkeys(of.values())])
    return {
        key: Sample(
            decision=str(row.get("decision")),
            reason=str(row.get("reason")),
            id=shown(key),
            of=shown(of[key]) if key in of else "",
            similarity=_similarity(row.get("similarity")),
            run=run if isinstance(run := row.get("run"), int) else 0,
            text=texts.get(key),
            other=others.get(of[key]) if key in of else None,
            differences=tuple(
                Difference(str(each.get("class")), str(each.get("of")), str(each.get("text")))
                for each in row.get("differences") or ()
            ),
            richer=tuple(map(str, row.get("richer") or ())),
            detail=str(row.get("detail") or ""),
        )
        for key, row in rows.items()
    }


def read_refused_samples(target: TargetReader, keys: Sequence[bytes]) -> dict[bytes, Sample]:
    """Return kept documents by key, each with the one that it was compared with."""
    found = some(majority(target.documents), keys, target.rows.projection, target.patience)
    own = {one.key: bson.decode(one.raw, bson_edit.LENIENT).get("dedup", {}) for one in found}
    refused = {key: marks["refused"] for key, marks in own.items() if marks.get("refused")}
    of = {key: bson_edit.fields({"_id": one.get("of")}) for key, one in refused.items()}
    texts = target.texts([*dict.fromkeys([*refused, *of.values()])])
    return {
        key: Sample(
            decision="kept",
            reason=str(one.get("class")),
            id=shown(key),
            of=shown(of[key]),
            similarity=_similarity(one.get("similarity")),
            run=run if isinstance(run := own[key].get("run"), int) else 0,
            text=texts.get(key),
            other=texts.get(of[key]),
        )
        for key, one in refused.items()
    }


def _similarity(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None
