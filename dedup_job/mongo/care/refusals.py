"""Kept documents with their nearest refused candidates, the most similar pairs first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bson

from dedup_job.errors import UsageError
from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.bson.edit import RawDocument
from dedup_job.mongo.bson.extended_json import shown
from dedup_job.mongo.reading import majority
from dedup_job.mongo.target import Target


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


def most_similar(target: Target, limit: int) -> list[Refusal]:
    """Return up to `limit` kept documents with `dedup.refused`; the server sorts them.

    Raises UsageError for a form of the target that has no place for it.
    """
    if not target.rows.has_runs:
        raise UsageError(
            f"the form of {target.name} (output.document = classic) does not hold what was refused."
        )
    documents = majority(target.documents)

    def read() -> list[bytes]:
        found = documents.find({"dedup.refused": {"$exists": True}}, target.rows.projection)
        ordered = found.sort([("dedup.refused.similarity", -1), ("_id", 1)]).limit(limit)
        return [bytes(document.raw) for document in ordered]

    rows = target.patience(read)
    stored = [_refused(raw) for raw in rows]
    keys = [bson_edit.fields({"_id": one.get("of")}) for one in stored]
    others = target.texts(keys)
    return [
        Refusal(
            shown(bson_edit.id_element(raw)),
            shown(key),
            _number(one.get("similarity")),
            str(one.get("class")),
            target.rows.text(RawDocument(bson_edit.id_element(raw), raw)),
            others.get(key),
        )
        for raw, one, key in zip(rows, stored, keys, strict=True)
    ]


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _refused(raw: bytes) -> dict[str, Any]:
    """Return what a document says of its nearest candidate, nothing where it is malformed."""
    own = bson.decode(raw, bson_edit.LENIENT).get("dedup")
    found = own.get("refused") if isinstance(own, dict) else None
    return found if isinstance(found, dict) else {}
