"""Documents that a person may want to look at: dropped ones, and kept ones that nearly were."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import bson

from dedup_job.errors import UsageError
from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.bson.extended_json import shown
from dedup_job.mongo.bson.ledger_rows import DOCUMENT
from dedup_job.mongo.care.records import stored_document
from dedup_job.mongo.reading import look_up, majority, some
from dedup_job.mongo.target_reader import TargetReader


@dataclass(frozen=True, slots=True)
class Dropped:
    """A document that a run did not keep.

    id, of: as shown; of is "" but for duplicates, similarity None where texts were not compared;
    text, other: cleaned text of the document and of the kept one, None where they are gone.
    """

    id: str
    reason: str
    detail: str
    of: str = ""
    similarity: float | None = None
    text: str | None = None
    other: str | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """A kept document and the nearest one that it was compared with; texts that are gone are None.

    id, of: their `_id` as shown; kind: what keeps them apart.
    """

    id: str
    of: str
    similarity: float
    kind: str
    text: str | None
    other: str | None


def read_dropped(
    target: TargetReader,
    clean_all: Callable[[Sequence[str]], list[str]],
    wanted: Mapping[str, str],
    limit: int,
) -> list[Dropped]:
    """Return up to `limit` rows of the ledger whose fields are as wanted.

    Of near duplicates the least similar come first, else they come in `_id` order. A text is read
    from the source, or from the ledger where the source no longer holds it.
    """
    order = [*([("similarity", 1)] if wanted.get("reason") == "near" else []), ("_id", 1)]
    only: dict[str, Any] = {"sort": order, "limit": limit}
    found = look_up(target.ledger, dict(wanted), {DOCUMENT: 0}, target.patience, **only)
    rows = {one.key: bson.decode(one.raw, bson_edit.LENIENT) for one in found}
    texts = _texts(target, clean_all, [key for key, row in rows.items() if "of" in row])
    originals = {k: bson_edit.fields({"_id": row["of"]}) for k, row in rows.items() if "of" in row}
    others = target.texts([*dict.fromkeys(originals.values())])
    return [
        Dropped(
            shown(key),
            str(row.get("reason")),
            str(row.get("detail") or ""),
            shown(originals[key]) if key in originals else "",
            similarity if isinstance(similarity := row.get("similarity"), float) else None,
            texts.get(key),
            others.get(originals[key]) if key in originals else None,
        )
        for key, row in rows.items()
    ]


def _texts(
    target: TargetReader, clean_all: Callable[[Sequence[str]], list[str]], keys: Sequence[bytes]
) -> dict[bytes, str]:
    """Return the cleaned texts of dropped documents by key; those that are gone are left out."""
    source = target.source_reader()
    found = source.texts(keys)
    for row in some(majority(target.ledger), [k for k in keys if k not in found], {}):
        held = stored_document(row, source)
        if held is not None and isinstance(held[0].content, str):
            found[row.key] = held[0].content
    return dict(zip(found, clean_all([*found.values()]), strict=True))


def most_similar(target: TargetReader, limit: int) -> list[Refusal]:
    """Return up to `limit` kept documents with `dedup.refused`; the server sorts them.

    Raises UsageError for a form of the target that has no place for it.
    """
    if not target.rows.has_runs:
        raise UsageError(
            f"the form of {target.name} (output.document = classic) does not hold what was refused."
        )
    order = [("dedup.refused.similarity", -1), ("_id", 1)]
    only: dict[str, Any] = {"sort": order, "limit": limit}
    wanted, projection = {"dedup.refused": {"$exists": True}}, target.rows.projection
    rows = look_up(target.documents, wanted, projection, target.patience, **only)
    refused = [_refused(row.raw) for row in rows]
    keys = [bson_edit.fields({"_id": one.get("of")}) for one in refused]
    others = target.texts(keys)
    return [
        Refusal(
            shown(row.key),
            shown(key),
            float(s) if isinstance(s := one.get("similarity"), int | float) else 0.0,
            str(one.get("class")),
            target.rows.read(row)[0],
            others.get(key),
        )
        for row, one, key in zip(rows, refused, keys, strict=True)
    ]


def _refused(raw: bytes) -> dict[str, Any]:
    """Return what a document says of its nearest candidate, nothing where it is malformed."""
    own = bson.decode(raw, bson_edit.LENIENT).get("dedup")
    found = own.get("refused") if isinstance(own, dict) else None
    return found if isinstance(found, dict) else {}
