"""A run, or one decision, is taken back; and what a person did to one document, too.

The state names what is being undone before anything is deleted, so whoever holds the lease next
finishes it. A number is never used again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from bson.raw_bson import RawBSONDocument
from pymongo.client_session import ClientSession

from dedup_job.documents import Document, Kept
from dedup_job.errors import StateMismatch, UsageError
from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.bson.extended_json import shown
from dedup_job.mongo.bson.ledger_rows import DOCUMENT, stored_in
from dedup_job.mongo.connection import Documents
from dedup_job.mongo.reading import ID_PAGE, in_commands, look_up, majority, pages
from dedup_job.mongo.state.commits import insert_once
from dedup_job.mongo.state.document import next_run
from dedup_job.mongo.state.fields import BY_HAND, LEDGER_ROW
from dedup_job.mongo.target import Target
from dedup_job.mongo.target_reader import TargetReader
from dedup_job.report.counts import Counts
from dedup_job.report.progress import Log, Progress
from dedup_job.report.run import Checkpoint, Status

_UNDONE = str(Status.UNDONE)
_WRITE = 1000  # documents in a transaction


@dataclass(frozen=True, slots=True)
class Undone:
    """What was taken back; `left` documents stay, since the source no longer holds them.

    by_hand: `restored` or `reopened`, "" for a run; id: of the document that this was, as shown.
    """

    run: int
    kept: int
    ledger: int
    left: int
    by_hand: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True)
class Planned:
    """What an undo is about to take back, as `T.runs` and the checkpoint count it.

    by_hand: `restored` or `reopened`, "" for a run; begun: another process began and was cut off.
    """

    target: str
    run: int
    kept: int
    ledger: int
    by_hand: str = ""
    begun: bool = False


def planned(target: TargetReader, run: int) -> Planned:
    """Return what `undo` would take back; UsageError where it would refuse."""
    state = target.patience(target.state.read) or {}
    begun = state.get("undo") == run
    if not begun:
        target.patience(lambda: _check_last(target, run))
    row, checkpoint = target.patience(lambda: target.run(run)) or {}, state.get("checkpoint") or {}
    status = str(row.get("status"))
    if status in BY_HAND:
        return Planned(target.name, run, 0, 0, status, begun)
    behind = checkpoint.get("run") == run  # of a run that was cut off its row is
    found = (checkpoint if behind else row).get("counts")
    counts = Counts.from_dict(found) if found else Counts()
    dropped = counts.scanned - counts.kept
    return Planned(target.name, run, counts.kept, dropped, begun=begun)


def undo(target: Target, run: int, progress: Progress) -> Undone:
    """Take back the last run of a target; UsageError says which that is if it is another."""
    progress.stage("taking the lease")
    pending = (target.patience(target.state.read) or {}).get("undo")
    with target.hold():  # which finishes an undo that was cut off
        row = target.patience(lambda: target.run(run)) or {}
        if pending == run and row.get("status") == _UNDONE:
            return Undone(run, 0, 0, row.get("left", 0))
        target.patience(lambda: _begin(target, run))
        return _take_back(target, run, progress)


def finish_undo(target: Target) -> None:
    """Finish what another process began to undo and did not end; the lease is held."""
    run = (target.patience(target.state.read) or {}).get("undo")
    if run is not None:
        target.patience(lambda: check_begun(target, run))
        progress = Log()
        progress.stage(f"finishing the undo of run {run}, which was cut off")
        _take_back(target, run, progress)


def _begin(target: Target, run: int) -> None:
    _check_last(target, run)
    state = target.state.read() or {}
    target.state.update({"undo": run, "last_run": next_run(state) - 1})


def check_begun(target: TargetReader, run: int) -> None:
    """Raise StateMismatch where the state names a run that no command would have begun to undo."""
    later = target.last_run({"_id": {"$gt": run}, "status": {"$ne": _UNDONE}})
    if later is not None:
        raise StateMismatch(
            f"{target.name}.state says that run {run} is being undone, and run {later['_id']} came "
            "after it: only the last run can be undone, so someone changed the state. Put it back "
            "as it was, or set its field `undo` to null; nothing was taken back."
        )
    row = target.run(run)
    if row is not None:
        _check_own(target, row)


def _check_own(target: TargetReader, row: Mapping[str, Any]) -> None:
    """Raise StateMismatch where undoing what a person did would delete what a run kept."""
    number = row["_id"]
    if row["status"] in BY_HAND and target.rows.has_runs:
        key = bson_edit.id_element(_ledger_row(target, number))
        there = look_up(target.documents, bson_edit.among([key]), {"_id": 1, "dedup.run": 1})
        if any(_run_of(one.raw, is_kept=True) != number for one in there):
            raise StateMismatch(
                f"{target.name} holds _id {shown(key)}, which another run kept than number "
                f"{number}, as {target.runs.full_name} says: someone changed one of them. Put it "
                "back as it was, from a backup; nothing was taken back."
            )


def _check_last(target: TargetReader, run: int) -> None:
    last = target.last_run({"status": {"$ne": _UNDONE}})
    if last is None:
        raise UsageError(f"no run of the target {target.name} is left to undo.")
    if last["_id"] != run:
        what = "run" if last["status"] not in BY_HAND else f"one ({last['status']} by hand)"
        raise UsageError(
            f"only the last run can be undone, since later ones build on the earlier. Of "
            f"{target.name} the last {what} is {last['_id']}: `dedup undo {last['_id']} --target "
            f"{target.name}`."
        )
    _check_own(target, last)
    _former(target, run)  # it must be there before anything is deleted
    if last["status"] in BY_HAND:
        row = _ledger_row(target, run)
        key = bson_edit.id_element(row)
        only_copy = stored_in(row) is None and key not in target.held_by(target.source, [key])
        if last["status"] == str(Status.RESTORED) and only_copy:
            raise UsageError(
                f"the source no longer holds _id {shown(key)}: the target's copy is "
                "the only one, and taking it back would lose it. Put it into the source first."
            )
    elif not target.rows.has_runs:
        raise UsageError(
            "the form `classic` does not say which run kept a document, so a run cannot be undone. "
            "To start over, drop the target, its ledger, runs and state, all four."
        )


def _take_back(target: Target, run: int, progress: Progress) -> Undone:
    row = target.patience(lambda: target.run(run))
    if row is None:  # cut off before anything was written
        target.patience(lambda: target.state.update({"undo": None}))
        return Undone(run, 0, 0, 0)
    if row["status"] in BY_HAND:
        return _put_row_back(target, run, str(row["status"]))
    total = sum(target.patience(c.estimated_document_count) for c in target.decided)
    progress.total(total, f"undoing run {run}: reading")
    kept, left, done = _delete(target, target.documents, run, progress, 0)
    ledger, rows_left, _ = _delete(target, target.ledger, run, progress, done)
    left += rows_left
    former = target.patience(lambda: _former(target, run))

    def writes(session: ClientSession | None) -> None:
        _mark(target, run, session, left=left)

    target.commits.commit(writes, {"checkpoint": former, "undo": None}, {"undo": run})
    return Undone(run, kept, ledger, left)


def _delete(
    target: Target, collection: Documents, run: int, progress: Progress, done: int
) -> tuple[int, int, int]:
    """Delete what a run wrote; return how many, how many are left, how many were looked at.

    A document that the source no longer holds stays, in the target or in the ledger's row: it may
    be the only copy. Pages are read whole, since no index leads to the run.
    """
    is_kept = collection is target.documents
    stored = {"run": run, DOCUMENT: {"$exists": True, "$ne": None}}
    holds = is_kept or look_up(collection, stored, {"_id": 1}, target.patience, limit=1)
    deleted = left = 0
    projection = {"_id": 1, "dedup.run": 1} if is_kept else {"_id": 1, "run": 1}
    for page in pages(majority(collection), ID_PAGE, None, projection, target.patience):
        own = [row.key for row in page if _run_of(row.raw, is_kept) == run]
        for start in range(0, len(own), _WRITE):
            keys = own[start : start + _WRITE]
            if holds:
                there = target.held_by(target.source, keys)
                left += len(keys) - len(there)
                keys = [key for key in keys if key in there]
            for part in in_commands(keys):
                _delete_some(target, collection, run, part)
                deleted += len(part)
        done += len(page)
        progress.advance(done)
    return deleted, left, done


def _mark(target: Target, run: int, session: ClientSession | None, **more: int) -> None:
    undone = {"status": _UNDONE, **more, "undone": datetime.now(UTC)}
    target.runs.update_one({"_id": run}, {"$set": undone}, session=session)


def _delete_some(target: Target, collection: Documents, run: int, keys: Sequence[bytes]) -> None:
    def writes(session: ClientSession | None) -> None:
        collection.delete_many(bson_edit.among(keys), session=session)

    target.commits.commit(writes, {"undo": run}, {"undo": run})


def _run_of(raw: bytes, is_kept: bool) -> Any:
    found = RawBSONDocument(raw)
    own = found.get("dedup") if is_kept else found
    return own.get("run") if isinstance(own, Mapping) else None


def _former(target: TargetReader, run: int) -> dict[str, Any] | None:
    """Return the checkpoint of the last run before this one that still counts."""
    not_these = {"$nin": [_UNDONE, *BY_HAND]}
    row = target.last_run({"_id": {"$lt": run}, "status": not_these})
    if row is None:
        return None
    ended = {"run": row["_id"], "last_id": None, "finished": True}
    return Checkpoint.from_dict({**row, **ended}).as_dict()


def _ledger_row(target: TargetReader, run: int) -> bytes:
    """Return the row that a person took out of the ledger, raw as it was."""
    (row,) = look_up(target.runs, {"_id": run}, None, target.patience)
    return bson_edit.value(row.raw, LEDGER_ROW.encode())


def _put_row_back(target: Target, run: int, by_hand: str) -> Undone:
    """Let the ledger's row stand again in place of the document, unless that is the only copy."""
    row = _ledger_row(target, run)
    key = bson_edit.id_element(row)
    only = bson_edit.among([key])
    in_target = bool(look_up(target.documents, only, {"_id": 1}, target.patience))
    stays = in_target and stored_in(row) is None and key not in target.held_by(target.source, [key])

    def writes(session: ClientSession | None) -> None:
        if stays:
            target.ledger.delete_one(only, session=session)
        else:
            target.documents.delete_one(only, session=session)
            insert_once(target.ledger, [row], session)
            _mark(target, run, session)

    target.commits.commit(writes, {"undo": None}, {"undo": run})
    return Undone(run, int(in_target and not stays), 0, int(stays), by_hand, shown(key))


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
    rows = look_up(target.ledger, only)
    if not rows:
        raise UsageError(
            f"_id {shown(key)} is no longer in the ledger of {target.name}: someone "
            "was faster. `dedup explain` shows how it stands now."
        )
    if look_up(target.documents, only, {"_id": 1}):
        raise StateMismatch(
            f"_id {shown(key)} is in {target.name} and in its ledger, which no run "
            "does. Find out what wrote it there, and remove the one that is wrong."
        )
    return state, rows[0].raw
