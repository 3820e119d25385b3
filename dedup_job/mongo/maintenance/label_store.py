"""What people say of pairs of documents, stored beside a target in `T.labels`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

import bson
from bson.raw_bson import RawBSONDocument
from pymongo import ReplaceOne

from dedup_job.documents import Pair
from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.bson.edit import RawDocument
from dedup_job.mongo.connection import LABELS, AnyCollection
from dedup_job.mongo.reading import ID_PAGE, in_turn, majority, pages
from dedup_job.mongo.target_reader import TargetReader
from dedup_job.runs.decided import DecidedDocument
from dedup_job.runs.survey import Label

NEVER = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class LabelRow:
    """What someone says of a pair, as dedup had decided it then. when: UTC."""

    document: DecidedDocument
    name: str
    label: Label
    when: datetime = NEVER


class LabelStore:
    """Reads and writes the labels of a target; one row for each pair and name."""

    def __init__(self, target: TargetReader) -> None:
        self._target = target
        documents = target.documents
        self._collection: AnyCollection = documents.database.get_collection(
            f"{documents.name}{LABELS}", write_concern=documents.write_concern
        )

    @property
    def full_name(self) -> str:
        """The namespace."""
        return self._collection.full_name

    def rows(self, name: str | None = None) -> list[LabelRow]:
        """Return all labels, or those of a name; what dedup does not write is left out."""
        query = {} if name is None else {"_id.name": name}
        found = pages(majority(self._collection), ID_PAGE, query, retry=self._target.retry)
        return [row for page in found for one in page if (row := _read(one)) is not None]

    def put(self, rows: Sequence[LabelRow]) -> None:
        """Write labels; each takes the place of a former one of the same pair and name."""
        for writes in in_turn(map(_replacing, rows)):
            self._target.retry(partial(self._collection.bulk_write, writes))


def _replacing(row: LabelRow) -> ReplaceOne[Any]:
    place = bson_edit.place_of(row.document.pair.of)
    own = bson_edit.document(
        bson_edit.renamed(row.document.pair.of, b"of"),
        bson_edit.fields({"against": place}) if place else b"",
        bson_edit.renamed(row.document.key, b"id"),
        bson_edit.fields({"name": row.name}),
    )
    key = RawBSONDocument(own)
    values = {
        "_id": key,
        "label": str(row.label),
        "decision": row.document.decision,
        "reason": row.document.reason,
        "similarity": row.document.pair.similarity,
        "when": row.when,
    }
    return ReplaceOne({"_id": key}, values, upsert=True)


def _read(found: RawDocument) -> LabelRow | None:
    values = bson.decode(found.raw, bson_edit.LENIENT)
    label, when = values.get("label"), values.get("when")
    try:
        own = bson_edit.value(found.raw, b"_id")
        of, id_ = bson_edit.named_key(own), bson_edit.named_key(own, b"id", b"")
        name = values["_id"]["name"]
    except (KeyError, TypeError, ValueError):
        return None
    if not of or not id_ or label not in [*Label] or not isinstance(name, str):
        return None
    similarity = s if isinstance(s := values.get("similarity"), float) else None
    document = DecidedDocument(
        id_,
        _text(values, "decision"),
        _text(values, "reason"),
        Pair(of, 0, similarity, ()),
    )
    return LabelRow(
        document,
        name,
        Label(str(label)),
        when.replace(tzinfo=UTC) if isinstance(when, datetime) else NEVER,
    )


def _text(values: Mapping[str, Any], name: str) -> str:
    return found if isinstance(found := values.get(name), str) else ""
