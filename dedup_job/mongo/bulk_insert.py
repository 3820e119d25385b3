"""Rows of a batch, inserted once: what is there already is told apart from what went wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bson.raw_bson import RawBSONDocument
from pymongo.client_session import ClientSession
from pymongo.errors import BulkWriteError

from dedup_job.errors import StateMismatch
from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.bson.extended_json import shown_value
from dedup_job.mongo.connection import Documents
from dedup_job.mongo.patience import DUPLICATE_KEY
from dedup_job.mongo.reading import majority

_BY_ID = ["_id"]


class Clash(StateMismatch):
    """Documents are there already."""

    def __init__(self, name: str, clash: Mapping[str, Any], bulk: BulkWriteError) -> None:
        id_ = shown_value(clash.get("keyValue", {}).get("_id"))
        super().__init__(
            f"{name} already holds _id {id_}: something else "
            "writes to the target while this run does. Find it and stop it; the same command then "
            "goes on."
        )
        errors = bulk.details.get("writeErrors", [])
        concerns = bulk.details.get("writeConcernErrors", [])
        self.bulk = bulk
        self.has_others = bool(concerns) or any(x.get("code") != DUPLICATE_KEY for x in errors)


def insert(
    collection: Documents, rows: Sequence[bytes], session: ClientSession | None = None
) -> None:
    """Insert raw documents; Clash where one is there already.

    A unique index on another field than `_id` is no clash: BulkWriteError, with a note that names
    the collection, since the server's answer does not.
    """
    if not rows:
        return
    documents = [RawBSONDocument(row) for row in rows]
    try:
        collection.insert_many(documents, ordered=False, session=session)
    except BulkWriteError as e:
        e.add_note(collection.full_name)
        errors = e.details.get("writeErrors", [])
        clashes = [x for x in errors if x.get("code") == DUPLICATE_KEY]
        by_id = all(list(x.get("keyPattern", _BY_ID)) == _BY_ID for x in clashes)
        clash = clashes[0] if clashes and by_id else None
        if clash is None or e.has_error_label("TransientTransactionError"):
            raise
        raise Clash(collection.full_name, clash, e) from e


def insert_once(
    collection: Documents, rows: Sequence[bytes], session: ClientSession | None
) -> None:
    """Insert raw documents; outside a transaction only those that an earlier attempt did not.

    What is there already must be the very same bytes; else Clash.
    """
    try:
        insert(collection, rows, session)
    except Clash as clash:
        if session is not None:
            raise
        if clash.has_others:
            raise clash.bulk from None
        keys = [bson_edit.id_element(row) for row in rows]
        there = {bytes(d.raw) for d in majority(collection).find(bson_edit.among(keys))}
        if not there.issuperset(rows):
            raise
