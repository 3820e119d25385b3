"""Rows of a batch, inserted once: what is there already is told apart from what went wrong."""

from __future__ import annotations

from collections.abc import Sequence

from bson.raw_bson import RawBSONDocument
from pymongo.client_session import ClientSession
from pymongo.errors import BulkWriteError

from dedup_job.errors import StateMismatch
from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.bson.extended_json import shown_value
from dedup_job.mongo.connection import Documents
from dedup_job.mongo.patience import DUPLICATE_KEY, refused_writes
from dedup_job.mongo.reading import look_up

_BY_ID = ["_id"]


def insert_once(
    collection: Documents, rows: Sequence[bytes], session: ClientSession | None
) -> None:
    """Insert raw documents; outside a transaction only those that an earlier attempt did not.

    What is there already must be the very same bytes; else StateMismatch. A unique index on
    another field than `_id` raises BulkWriteError, as other errors do, with a note that names the
    collection, since the server's answer does not.
    """
    if not rows:
        return
    try:
        documents = [RawBSONDocument(row) for row in rows]
        collection.insert_many(documents, ordered=False, session=session)
    except BulkWriteError as e:
        e.add_note(collection.full_name)
        refused = refused_writes(e)
        clashes = [x for x in refused if x.get("code") == DUPLICATE_KEY]
        by_id = clashes and all([*x.get("keyPattern", _BY_ID)] == _BY_ID for x in clashes)
        if not by_id or e.has_error_label("TransientTransactionError"):
            raise
        if session is None:
            if len(clashes) < len(refused):
                raise
            keys = [bson_edit.id_element(row) for row in rows]
            there = {found.raw for found in look_up(collection, bson_edit.among(keys))}
            if there.issuperset(rows):
                return
        id_ = shown_value(clashes[0].get("keyValue", {}).get("_id"))
        raise StateMismatch(
            f"{collection.full_name} already holds _id {id_}: something else "
            "writes to the target while this run does. Find it and stop it; the same command then "
            "goes on."
        ) from e
