"""One decision is taken back by a person: the document goes to the target, or is open again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bson.raw_bson import RawBSONDocument
from pymongo.client_session import ClientSession

from dedup_job.documents import Document, Kept
from dedup_job.errors import StateMismatch, UsageError
from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.bson.extended_json import shown
from dedup_job.mongo.bulk_insert import insert_once
from dedup_job.mongo.reading import majority
from dedup_job.mongo.state.document import next_run
from dedup_job.mongo.state.fields import LEDGER_ROW
from dedup_job.mongo.target import Target


def take_out(
    target: Target, key: bytes, about: Mapping[str, Any], kept: tuple[Document, Kept] | None
) -> int:
    """Take a row out of the ledger; return the number under which that is recorded.

    kept: the document that goes to the target instead; None leaves it to the next run.
    about: what the row of `T.runs` says; the lease is held.
    The order of arrival counts, so this has a number of its own, as a run has.
    """
    only = bson_edit.among([key])
    state, row = target.patience(lambda: _to_be_taken_out(target, key))
    number = next_run(state)
    record = {"_id": number, **about, LEDGER_ROW: RawBSONDocument(row)}

    def writes(session: ClientSession | None) -> None:
        target.runs.replace_one({"_id": number}, record, upsert=True, session=session)
        if kept is not None:
            document, decision = kept
            insert_once(target.documents, [target.rows.encode(document, decision, number)], session)
        target.ledger.delete_one(only, session=session)

    # a standalone server is brought back by `undo` if this is cut off
    values = {"last_run": number, "undo": None}
    target.commits.commit(writes, values, {"undo": number, "last_run": number})
    return number


def _to_be_taken_out(target: Target, key: bytes) -> tuple[Mapping[str, Any], bytes]:
    """Return state and ledger row; UsageError or StateMismatch say why it stays."""
    state = target.state.read() or {}
    checkpoint = state.get("checkpoint") or {}
    if checkpoint and not checkpoint["finished"]:
        raise UsageError(
            f"run {checkpoint['run']} of {target.name} is not at its end. Let it end by the same "
            f"command, or take it back (`dedup undo {checkpoint['run']} --target {target.name}`); "
            "then restore the document."
        )
    only = bson_edit.among([key])
    row = next(majority(target.ledger).find(only), None)
    if row is None:
        raise UsageError(
            f"_id {shown(key)} is no longer in the ledger of {target.name}: someone "
            "was faster. `dedup explain` shows how it stands now."
        )
    if target.documents.find_one(only, {"_id": 1}) is not None:
        raise StateMismatch(
            f"_id {shown(key)} is in {target.name} and in its ledger, which no run "
            "does. Find out what wrote it there, and remove the one that is wrong."
        )
    return state, bytes(row.raw)
