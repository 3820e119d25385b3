"""The target with its ledger, runs and state: opened under the lease, written batch by batch."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import partial
from types import MappingProxyType
from typing import Any

import pymongo
from pymongo.errors import DuplicateKeyError, OperationFailure, PyMongoError

from dedup_job.columns import Batch, Decisions, Documents
from dedup_job.index import KeptIndex
from dedup_job.messages import LeaseLost, Message, StateMismatch, joined
from dedup_job.mongo import checks
from dedup_job.mongo.change_stream import Bookmark
from dedup_job.mongo.commits import Commits, unsettled
from dedup_job.mongo.connection import (
    NO_RETRY,
    UNAUTHORIZED,
    Client,
    Namespace,
    RetryPolicy,
    suppress_codes,
)
from dedup_job.mongo.database_settings import OnChange, OnDelete
from dedup_job.mongo.reading import estimated
from dedup_job.mongo.replacing import (
    RemovalPlan,
    count_decided_again,
    encode_ledger_rows,
    plan_removals,
    purge,
    revert,
)
from dedup_job.mongo.state import LAST_WORD_SECONDS, next_run
from dedup_job.mongo.target_reader import TargetForm, TargetReader
from dedup_job.native.bytes_column import strings_of
from dedup_job.runs.decided import Counts
from dedup_job.runs.run_record import Checkpoint, Run, Scope, Status, is_by_hand

_WAY_OUT = Message(
    "All that was decided is written. What is missing is decided again by the same command, while "
    "the source holds it; `dedup check` shows what is left."
)
_NAMESPACE_EXISTS = 48
RUN_ROW_SECONDS = 5.0
_NOTHING: Mapping[str, Set[bytes]] = MappingProxyType({})


class Target(TargetReader):
    """Writes a target batch by batch under its lease; the job's `Target` on MongoDB."""

    def __init__(
        self,
        client: Client,
        namespace: Namespace,
        form: TargetForm,
        source: Namespace,
        recover: Callable[["Target"], None],
        retry: RetryPolicy = NO_RETRY,
        writers: int = 1,
    ) -> None:
        """Take the names; recover: finishes an undo cut off; writers: batches written at once."""
        super().__init__(client, namespace, form, source, retry)
        self._recover = recover
        self.commits = Commits(client, self.state, retry, at_once=writers)
        self.writers = writers
        self._row_written = 0.0
        self._resumed = False
        self.ended: Set[int] = frozenset()  # runs not to be resumed: their documents are requeued
        self._uuids: Mapping[str, bytes] = {}  # of the collections when the run began
        self._counts_before = Counts()  # of the run, before its present part
        self._before = 0  # the generation then
        self._rows_before = 0  # of the ledger, then
        self._removals: RemovalPlan | None = None  # of the batch that is written alone
        self._over: Sequence[int] = ()  # `_id`s of chunks that only the last batch needed
        self.undo_days: float | None = None  # after which a run cannot be undone

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Hold the lease for the block; LeaseHeld if it is taken.

        Rights are checked and collections made; half-done commits and undos are brought to an end.
        """
        state = self.retry(self.check)
        self.retry(self._check_rights)
        self.retry(lambda: self._create(is_new=state is None))
        try:
            self.retry(self.state.acquire)
            self.retry.before_again = self.state.renew  # what waited may have lost the lease
            if self.retry(self._take_over).get("undo") is not None:
                self._recover(self)
            yield
        finally:
            self.retry.before_again = lambda: None
            # a commit under way is reverted by the next holder, once this process is dead
            if not self.commits.under_way:
                self.commits.end()
                self.state.release()

    def _check_rights(self) -> None:
        form, rows = self.form, ["find", "insert", "remove", "createCollection"]
        keeps = (OnChange.KEEP, OnDelete.KEEP)
        replaces = form.ranking or (form.source.on_change, form.source.on_delete) != keeps
        more = ["update"] if replaces and not self.state.has_transactions else []
        index = [] if form.ranking is None else ["createIndex"]
        needed = [
            (self.documents, [*rows, *more]),
            (self.ledger, [*rows, *more, *index]),
            (self.runs, [*rows, "update"]),
            (self.state.collection, [*rows[:3], "update"]),
            (self.changes.collection, rows[:3]),
        ]
        checks.check_rights(self.documents.database.client, needed)

    def _create(self, *, is_new: bool) -> None:
        for collection in (self.documents, self.ledger, self.runs):
            with suppress_codes(_NAMESPACE_EXISTS):  # two transactions that create it conflict
                collection.database.create_collection(collection.name, check_exists=False)
        if self.form.ranking is not None:  # a better copy is compared with its group
            self.ledger.create_index("group", partialFilterExpression={"reason": "near"})
        if is_new:
            self.state.seed(self.source.full_name, self.stamp)

    def _take_over(self) -> Mapping[str, Any]:
        state = self.check() or {}  # another run may have come first between check and lease
        self.check_runs(state)
        if not self.form.as_made and state["settings"] != self.stamp:
            self.state.update({"settings": self.stamp})
        self.state.fence(state["token"])
        self.commits.generation = state["generation"]
        for record in unsettled(self.state.collection, state):
            self.commits.revert(record, partial(revert, self, record))
        self.commits.begin(state["id"])
        return state

    def check_runs(self, state: Mapping[str, Any]) -> None:
        """Raise StateMismatch if `T.runs` has later runs than the state, or runs of another source.

        Else a number would be given twice, or an undo would look up documents in a wrong source.
        """
        last, source = self.last_run(), self.source.full_name
        if last is not None and last["_id"] >= next_run(state):
            raise StateMismatch(
                "{runs} holds run {run}, and {target}.state knows {number} runs: someone "
                "changed one of them, or put an older copy back. Put both back as they were, "
                "from one backup; to start over, drop the target, its ledger, runs and state, "
                "all four. Nothing was written.",
                runs=self.runs.full_name,
                run=last["_id"],
                target=self.name,
                number=next_run(state) - 1,
            )
        foreign = self.last_run({"source": {"$ne": source}})
        if foreign is not None:
            raise StateMismatch(
                "run {run} in {runs} read {other}, and {target}.state names {source}: someone "
                "changed one of them. Where the source was renamed, both need its new name; "
                "else put back what was there. Nothing was written.",
                run=foreign["_id"],
                runs=self.runs.full_name,
                other=foreign["source"],
                target=self.name,
                source=source,
            )

    def begin(
        self, scope: Scope, record: Callable[[Checkpoint], Run]
    ) -> tuple[Checkpoint, list[Run]]:
        """Resume or begin a run of this scope; return its checkpoint and all runs in order."""
        checkpoint = self.retry(lambda: self._begin(scope, record))
        self.record_baseline(checkpoint)
        return checkpoint, self.run_lines()

    def record_baseline(self, checkpoint: Checkpoint) -> None:
        """Remember the collections' UUIDs and counts before a run begins or resumes."""
        self._before = self.commits.generation
        self._uuids = {}
        self._uuids = self.retry(self._look)
        self._counts_before = checkpoint.counts
        self._rows_before = self.retry(self.ledger.estimated_document_count)

    def _begin(self, scope: Scope, record: Callable[[Checkpoint], Run]) -> Checkpoint:
        state = self.state.read() or {}
        if state.get("checkpoint"):
            former = Checkpoint.from_dict(state["checkpoint"])
            if not former.finished and former.scope == scope and former.run not in self.ended:
                self.write_run_row(record(former))
                self._resumed = True
                return former
            self._close_run_row(former)
        checkpoint = Checkpoint(next_run(state), scope, datetime.now(UTC), Counts())
        if checkpoint.run == 1:
            self.changes.collection.delete_many({})  # of a former target of this name
        # first where the token is proved: a run that lost the lease adds no row
        self.state.update({"checkpoint": checkpoint.as_dict()})
        self.write_run_row(record(checkpoint))
        return checkpoint

    def is_alone(self, batch: Batch, decisions: Decisions) -> bool:
        """Return whether a batch removes documents, so that no other may be written meanwhile."""
        return bool(batch.documents.former) or decisions.superseded is not None

    def write(self, batch: Batch, decisions: Decisions, report: Run, number: int) -> None:
        """Write documents and ledger rows of a batch; they count once it is settled.

        number: of the batch in the run, from 1. LeaseLost if another run took over: on a replica
        set nothing is written then, else the holder of the lease reverts it.
        """
        documents, run = batch.documents, report.checkpoint.run
        kept = self.rows.encode(documents, decisions, run)
        ledger, replaced = encode_ledger_rows(self, documents, decisions, run)
        out = plan_removals(self, run, documents.former, replaced, self._over)
        record, writes = out.record(documents.keys.list()), partial(out.apply, kept, ledger)
        try:
            self.commits.write(self._before + number, writes, record)
        except OperationFailure as e:
            with suppress(PyMongoError):
                if lines := [*self._replaced_collections()]:
                    raise StateMismatch(joined([*lines, _WAY_OUT], "\n")) from e
            raise
        if self.is_alone(batch, decisions):
            self._removals = out

    def settle(self, report: Run, number: int) -> None:
        """Settle a written batch with the checkpoint of `report`; number: as of `write`."""
        self.commits.settle(self._before + number, {"checkpoint": report.checkpoint.as_dict()})
        if (out := self._removals) is not None:
            self._rows_before -= sum(len(chunk.rows) for chunk in out.chunks)
            self._over, self._removals = out.needless_ids, None
        if time.monotonic() - self._row_written > RUN_ROW_SECONDS:
            self.retry(lambda: self.write_run_row(report))

    def remove_documents(self, run: int, keys: Sequence[bytes]) -> None:
        """Remove decided documents without successors, and their ledger rows, in one commit."""
        out, empty = plan_removals(self, run, keys, Documents.of(())), strings_of([])
        if out.chunks:  # else an attempt that was cut off did it
            self.commits.commit(partial(out.apply, empty, empty), {}, out.record(()))

    def problem(self, kept: KeptIndex, checkpoint: Checkpoint) -> str:
        """Return a message on collections that others changed, by UUIDs and counts, "" for none."""
        lines = [*self._replaced_collections(), *self._miscounted(kept.live, checkpoint)]
        return joined([*lines, _WAY_OUT], "\n") if lines else ""

    def _look(self) -> dict[str, bytes]:
        # UUIDs of existing collections; an invisible one counts as unchanged
        own, uuids = [self.documents, self.ledger, self.runs], dict[str, bytes]()
        for one in (self.source, *own, self.state.collection, self.changes.collection):
            only = {"name": one.name, "type": "collection"}
            found = {n: uuid for n, uuid in self._uuids.items() if n == one.full_name}
            with suppress_codes(UNAUTHORIZED):
                rows = one.database.list_collections(filter=only)
                found = {f"{one.database.name}.{r['name']}": bytes(r["info"]["uuid"]) for r in rows}
            uuids |= found
        return uuids

    def _replaced_collections(self) -> Iterator[str]:
        now = self.retry(self._look)
        for name, uuid in self._uuids.items():
            if name not in now:
                yield Message("{name} was dropped or renamed while the run was at work.", name=name)
            elif now[name] != uuid:
                yield Message(
                    "{name} was replaced by another collection while the run was at work.",
                    name=name,
                )

    def _miscounted(self, kept: int, checkpoint: Checkpoint) -> Iterator[str]:
        counted, before = [(self.name, self.count(kept), kept)], self._counts_before
        rows = checkpoint.counts.scanned - checkpoint.counts.kept
        written = self._rows_before + rows - (before.scanned - before.kept)
        if self.retry(self.ledger.estimated_document_count) != written:
            only = {"run": checkpoint.run}  # which no index covers
            number = self.retry(lambda: self.ledger.count_documents(only))
            counted.append((self.ledger.full_name, number, rows))
        for name, number, written in counted:
            if number != written:
                yield Message(
                    "{name} holds {there:,} documents, and runs wrote {wrote:,}. Something removed "
                    "or added some while the run was at work.",
                    name=name,
                    there=number,
                    wrote=written,
                )

    def bookmark(self) -> Bookmark | None:
        """Return the bookmark of the last full run; None if all ids are to be compared."""
        state = self.retry(self.state.read) or {}
        last, found = state.get("checkpoint"), None
        with suppress(TypeError):  # there is none, or something else
            found = Bookmark(**(state.get("bookmark") or {}))
        if not last or found is None:
            return None
        rows = [row for row in self.run_rows(after=found.run) if not is_by_hand(row)]
        since = {row["_id"]: row["counts"]["scanned"] for row in rows}
        if last["run"] > found.run:  # newer than the row
            since[last["run"]] = last["counts"]["scanned"]
        decided = found.decided + sum(since.values())
        decided -= count_decided_again(self.runs, [*since], self.retry)
        return found if estimated(self.decided, self.retry) == decided else None

    def finish(
        self,
        report: Run,
        bookmark: Bookmark | None = None,
        changed: Mapping[str, Set[bytes]] = _NOTHING,
        *,
        unseen: bool = False,
    ) -> None:
        """Record the end of a run: its last checkpoint and row, the bookmark and the changes."""
        self.state.check()
        try:  # before the next one begins behind them
            fits = self.changes.enter(report.checkpoint.run, changed)
        except OperationFailure:
            self.state.recheck_lease()  # the next holder may enter the same
            raise
        values: dict[str, Any] = {"checkpoint": report.checkpoint.as_dict()}
        if bookmark is not None:
            decided = estimated(self.decided, self.retry)
            # only documents decided before this run could change unseen
            has_earlier = self._resumed or decided > report.counts.scanned
            if (unseen and has_earlier) or not fits:
                values["unseen"] = True
            own = replace(bookmark, run=report.checkpoint.run, decided=decided)
            values["bookmark"] = asdict(own)
        self.retry(lambda: self.state.update(values))
        self.retry(lambda: self.write_run_row(report))
        if self._over and report.checkpoint.finished:
            self.retry(lambda: self.runs.delete_many({"_id": {"$in": [*self._over]}}))
        if (days := self.undo_days) is not None and report.status is Status.DONE:
            self.retry(lambda: purge(self.runs, report.checkpoint.run, days))

    def abort(self, report: Run) -> None:
        """Write the row of a run that broke off, if possible; the checkpoint stays as it is."""
        with suppress(PyMongoError, LeaseLost), pymongo.timeout(LAST_WORD_SECONDS):
            self.write_run_row(report)

    def write_run_row(self, report: Run) -> None:
        """Write the row of a run; LeaseLost if another run took the lease."""
        self.state.check()  # the row may be another run's by now
        own, row = self._own_row(report.checkpoint.run), report.as_row()
        try:
            self.runs.update_one(own, {"$set": {**row, "token": self.state.token}}, upsert=True)
        except DuplicateKeyError:  # it is another's
            self.state.recheck_lease()
            raise
        self._row_written = time.monotonic()

    def _own_row(self, run: int) -> dict[str, Any]:
        return {"_id": run, "token": {"$not": {"$gt": self.state.token}}}

    def _close_run_row(self, checkpoint: Checkpoint) -> None:
        own, status, counts = self._own_row(checkpoint.run), Status.ABANDONED, checkpoint.counts
        if checkpoint.finished:
            own["status"] = str(Status.RUNNING)  # one that ended says so already
            status = Status.DONE
        values = {"status": str(status), "counts": counts.as_dict(), "rates": counts.rates()}
        self.runs.update_one(own, {"$set": {**values, "token": self.state.token}})
