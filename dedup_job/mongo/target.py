"""The target with its ledger, runs and state: opened under the lease, written batch by batch."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

import pymongo
from pymongo import ReadPreference, WriteConcern
from pymongo.client_session import ClientSession
from pymongo.errors import DuplicateKeyError, OperationFailure, PyMongoError
from pymongo.read_concern import ReadConcern

from dedup_job.documents import LONGEST_ID, Batch, Decision, Document, Kept, KeptPage
from dedup_job.errors import LeaseLost, StateMismatch
from dedup_job.index import KeptIndex
from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.bson.extended_json import shown
from dedup_job.mongo.bson.ledger_rows import DOCUMENT, LedgerRows, split
from dedup_job.mongo.bson.rows import MAX_DOCUMENT_BYTES, KeptRows
from dedup_job.mongo.bulk_insert import insert_once
from dedup_job.mongo.connection import Client, Documents, Namespace
from dedup_job.mongo.kept_pages import KeptDocuments
from dedup_job.mongo.patience import NO_PATIENCE, Patience
from dedup_job.mongo.reading import majority
from dedup_job.mongo.state import stamp as stamps
from dedup_job.mongo.state.commits import Commits
from dedup_job.mongo.state.document import LAST_WORD_SECONDS, State, next_run
from dedup_job.mongo.state.fields import LEDGER_ROW, check_run
from dedup_job.mongo.state.lasting import Lasting
from dedup_job.mongo.state.lease import wait_for
from dedup_job.report.counts import Counts
from dedup_job.report.run import Checkpoint, Report, Scope, Status

_NAMESPACE_EXISTS = 48
_MOST_BYTES = 4  # of a character
_OWN_BYTES = 4096  # more than dedup adds to a document
_RUN_ROW_SECONDS = 5.0
_ALL: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Version:
    """A target's own id, and the number of batches written to it."""

    id: str
    generation: int


@dataclass(frozen=True, slots=True)
class Form:
    """How a target's documents and its ledger's rows are written, and the settings that decide."""

    kept: KeptRows
    ledger: LedgerRows
    stamp: Mapping[str, Any]


class Target:
    """Implements the job's target on MongoDB."""

    def __init__(
        self,
        client: Client,
        namespace: Namespace,
        form: Form,
        source: Namespace,
        recover: Callable[[Target], None],
        patience: Patience = NO_PATIENCE,
        lock_wait: float = 0.0,
        *,
        as_made: bool = False,
    ) -> None:
        """Take where everything lies.

        recover: the first step of a lease holder; patience: repeats what the database does
        not answer; lock_wait: seconds to wait for the lease of another run; as_made: nothing will
        be decided, so any version of the rules may have made the target.
        """
        # other servers may answer for the source alone: of the target they may know too little
        database = client.get_database(namespace.database, read_preference=ReadPreference.PRIMARY)
        durable = WriteConcern("majority", j=True)
        self._client = client
        self._name = str(namespace)
        self.rows = form.kept
        self._ledger_rows = form.ledger
        self.stamp = dict(form.stamp)
        self._recover = recover
        self._as_made = as_made
        self._source = source
        self.documents: Documents = database.get_collection(
            namespace.collection, write_concern=durable
        )
        self.patience = patience
        self._lock_wait = lock_wait
        self.held = KeptDocuments(self.documents, form.kept, patience)
        self.ledger: Documents = database.get_collection(
            f"{namespace.collection}.ledger", write_concern=durable
        )
        self.runs: Documents = database.get_collection(
            f"{namespace.collection}.runs", codec_options=bson_edit.LENIENT, write_concern=durable
        )
        session = client.start_session()
        self.state = State(database[f"{namespace.collection}.state"], session.session_id)
        self.commits = Commits(client, session, self.state, patience)
        self._row_written = 0.0
        self.lasting = Lasting(client, source, namespace, self.held, self.ledger, patience)

    @property
    def decided(self) -> list[Documents]:
        """Collections whose ids are decided."""
        return [self.documents, self.ledger]

    @property
    def is_new(self) -> bool:
        """Tell whether no run has written to this target yet."""
        return self.state.read() is None

    @property
    def name(self) -> str:
        """The namespace."""
        return self._name

    @property
    def source(self) -> Documents:
        """The collection that the target is made from."""
        return self._client[self._source.database][self._source.collection]

    def run(self, number: int) -> dict[str, Any] | None:
        """Return what is recorded of a run; None where nothing is."""
        return self.last_run({"_id": number})

    def last_run(self, of: Mapping[str, Any] = _ALL) -> dict[str, Any] | None:
        """Return what is recorded of the last run, or the last of some; None where nothing is.

        Raises StateMismatch for what dedup does not write.
        """
        row = self.runs.find_one(of, sort=[("_id", -1)])
        if row is not None:
            check_run(row, self.runs.full_name)
        return row

    def all_runs(self) -> list[dict[str, Any]]:
        """Return what is recorded of all runs, as it stands there, in order.

        Without documents that were stored in the ledger: a row that was taken out holds one.
        """
        runs = self.runs.with_options(read_concern=ReadConcern("majority"))
        found = runs.find({}, {f"{LEDGER_ROW}.{DOCUMENT}": 0})
        return self.patience(lambda: list(found.clone().sort("_id", 1)))

    def usual_without_text(self) -> float:
        """Return the share of documents without a text in the runs so far, 0 before the first."""
        scanned = without = 0
        for row in self.all_runs():
            counts = check_run(row, self.runs.full_name)["counts"]
            scanned += counts["scanned"]
            without += counts["skipped"]
        return without / scanned if scanned else 0.0

    def version(self) -> Version | None:
        """Return which target this is and how often it changed; None before its first run."""
        state = self.patience(self.state.read) or {}
        return Version(state["id"], state["generation"]) if "id" in state else None

    def check(self) -> None:
        """Raise StateMismatch where the target does not belong to this source and settings."""
        state = self.state.read()
        if state is None:
            try:
                self._check_empty()
            except StateMismatch:
                state = self.state.read()
                if state is None:  # else another run began meanwhile
                    raise
            else:
                return
        stamps.check_source(state["source"], str(self._source), self._name)
        agree = stamps.agree(state["settings"], self.stamp, as_made=self._as_made)
        if not agree and not self._is_empty():
            raise StateMismatch(stamps.difference(state["settings"], self.stamp, self._name))

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Hold the lease; before the block any half-written batch of a former run is undone."""
        self.patience(self.check)
        self.lasting.check()
        self.patience(self._create)
        try:
            wait_for(self.state.acquire, self._lock_wait, self.patience)
            self.patience.before_again = self.commits.renew  # what waited may have lost the lease
            self.patience(self._take_over)
            self._recover(self)
            yield
        finally:
            self.patience.before_again = lambda: None
            if self.commits.at_rest():  # else who finds the holder dead ends its transaction first
                self.state.release()

    def _create(self) -> None:
        for collection in (self.documents, self.ledger, self.runs):
            try:  # within a transaction two runs that create it would conflict
                collection.database.create_collection(collection.name, check_exists=False)
            except OperationFailure as e:
                if e.code != _NAMESPACE_EXISTS:
                    raise
        self.state.seed(str(self._source), self.stamp)

    def _take_over(self) -> None:
        self.check()  # another run may have come first between check and lease
        self._check_runs()
        if not self._as_made:
            self.state.update({"settings": self.stamp})
        self._undo_intent()
        self.commits.generation = (self.state.read() or {})["generation"]

    def _check_runs(self) -> None:
        """Refuse a state that `T.runs` contradicts.

        Behind it, a number would be given twice. With another source, an undo would ask the wrong
        one whether it still holds what leaves the target.
        """
        state, last, source = self.state.read() or {}, self.last_run(), str(self._source)
        if last is not None and last["_id"] >= next_run(state):
            raise StateMismatch(
                f"{self.runs.full_name} holds run {last['_id']}, and {self._name}.state knows "
                f"{next_run(state) - 1} runs: someone changed one of them, or put an older copy "
                "back. Put both back as they were, from one backup; to start over, drop the "
                "target, its ledger, runs and state, all four. Nothing was written."
            )
        other = self.last_run({"source": {"$ne": source}})
        if other is not None:
            raise StateMismatch(
                f"run {other['_id']} in {self.runs.full_name} read {other['source']}, and "
                f"{self._name}.state names {source}: someone changed one of them. Where the source "
                "was renamed, both need its new name; else put back what was there. Nothing was "
                "written."
            )

    def begin(self, scope: Scope, record: Callable[[Checkpoint], Report]) -> Checkpoint:
        """Resume the unfinished run of this scope, or begin the next one."""
        checkpoint = self.patience(lambda: self._begin(scope, record))
        self.lasting.begin(checkpoint)
        return checkpoint

    def _begin(self, scope: Scope, record: Callable[[Checkpoint], Report]) -> Checkpoint:
        state = self.state.read() or {}
        if state.get("checkpoint"):
            former = Checkpoint.from_dict(state["checkpoint"])
            if not former.finished and former.scope == scope:
                self._write_run_row(record(former))
                self.runs.update_one(self._own_row(former.run), {"$set": {"resumed": True}})
                return former
            self._close_run_row(former)
        checkpoint = Checkpoint(next_run(state), scope, datetime.now(UTC), Counts())
        # first where the token is proved: whoever lost the lease adds no row
        self.state.update({"checkpoint": checkpoint.as_dict()}, generation=self.commits.generation)
        self._write_run_row(record(checkpoint))
        return checkpoint

    def kept(self) -> Iterator[KeptPage]:
        """Yield what the target holds, for the index; StateMismatch names what is not its own."""
        return self.held.pages()

    def texts(self, keys: Sequence[bytes]) -> dict[bytes, str]:
        """Return the stored texts of some documents by key; those that are gone are left out."""
        return self.held.texts(keys)

    def id(self, key: bytes) -> Any:
        """Return the id that a key stands for."""
        return bson_edit.id_value(key)

    def shown(self, key: bytes) -> str:
        """Return that id as a person writes it."""
        return shown(key)

    def fits(self, document: Document) -> bool:
        """Tell whether the document, with its cleaned text, stays within what MongoDB stores."""
        size = len(document.raw) + _OWN_BYTES  # as if the old text stayed: nearly always fits
        if isinstance(document.content, str):
            size += _MOST_BYTES * len(document.content)
        if size <= MAX_DOCUMENT_BYTES:
            return True
        return len(self.rows.encode(document, Kept(0, short=False), 2**31)) <= MAX_DOCUMENT_BYTES

    def write(self, batch: Batch, decisions: Sequence[Decision], report: Report) -> None:
        """Commit a batch: documents, ledger rows and checkpoint together, or none of them.

        Repeated until its outcome is known. Raises LeaseLost if another run took over; then
        nothing of the batch is written.
        """
        checkpoint = report.checkpoint
        kept, ledger = split(
            batch.documents, decisions, self.rows, self._ledger_rows, checkpoint.run
        )

        def writes(session: ClientSession | None) -> None:
            for collection, rows in ((self.documents, kept), (self.ledger, ledger)):
                self.state.check()
                insert_once(collection, rows, session)

        # rows of huge ids stay after a kill: the next run would write the same row
        keys = [d.key for d in batch.documents if len(d.key) <= LONGEST_ID]
        ids = [] if self.commits.whole else [*map(bson_edit.storable, keys)]
        try:
            self.commits.commit(writes, {"checkpoint": checkpoint.as_dict()}, {"intent": ids})
        except OperationFailure as e:
            self.lasting.explain(e)
            raise
        if time.monotonic() - self._row_written > _RUN_ROW_SECONDS:
            self.patience(lambda: self._write_run_row(report))

    def problem(self, kept: KeptIndex, checkpoint: Checkpoint) -> str:
        """Return a description of any difference from what the run wrote, or "" if there is none.

        kept: the documents that the target should hold. The batches are committed by then.
        """
        return self.lasting.problem(kept, checkpoint)

    def finish(self, report: Report) -> None:
        """Record the end of the run and its last checkpoint."""
        values, at = {"checkpoint": report.checkpoint.as_dict()}, self.commits.generation
        self.patience(lambda: self.state.update(values, generation=at))
        self.patience(lambda: self._write_run_row(report))

    def abort(self, report: Report) -> None:
        """Record that the run broke off, as far as lease and database let us.

        The checkpoint stays: whether the last commit took effect is not known here.
        """
        with suppress(PyMongoError, LeaseLost), pymongo.timeout(LAST_WORD_SECONDS):
            self._write_run_row(report)

    def _undo_intent(self) -> None:
        """Take back the batch that a killed run began to write on a standalone server.

        Only what this run wrote and the source still holds is taken back; it will be decided again,
        as before.
        """
        state = self.state.read() or {}
        intent = state.get("intent")
        if not intent:
            return
        run = (state["checkpoint"] or {"run": 0})["run"]  # it is there before the first batch
        keys = bson_edit.among([bson_edit.stored(value) for value in intent])
        found = majority(self.source).find(keys, {"_id": 1})
        there = [bson_edit.id_element(bytes(document.raw)) for document in found]
        for collection in self.decided:
            own = self.of_run(collection, run)
            collection.delete_many({"$and": [bson_edit.among(there), own]})
        self.state.update({"intent": None})

    def of_run(self, collection: Documents, run: int) -> dict[str, int]:
        """Return the filter for what a run wrote; all, where that is not said."""
        if collection.name == self.ledger.name:
            return {"run": run}
        return {"dedup.run": run} if self.rows.has_runs else {}

    def _write_run_row(self, report: Report) -> None:
        self.state.check()  # the row may be another run's by now
        own, row = self._own_row(report.checkpoint.run), report.as_row()
        try:
            self.runs.update_one(own, {"$set": {**row, "token": self.state.token}}, upsert=True)
        except DuplicateKeyError:  # it is another's
            self.state.confirm()
            raise
        self._row_written = time.monotonic()

    def _own_row(self, run: int) -> dict[str, Any]:
        """Return a filter for the row of a run that no later holder of the lease has written."""
        return {"_id": run, "token": {"$not": {"$gt": self.state.token}}}

    def _close_run_row(self, checkpoint: Checkpoint) -> None:
        """Let the row of a run that was cut off say what its checkpoint says."""
        status = Status.DONE if checkpoint.finished else Status.ABANDONED
        counts = checkpoint.counts
        values = {
            "status": str(status),
            "counts": counts.as_dict(),
            "rates": counts.rates(),
            "token": self.state.token,
        }
        # one that ended with its checkpoint says so already
        of: dict[str, Any] = {"status": str(Status.RUNNING)} if checkpoint.finished else {}
        self.runs.update_one({**self._own_row(checkpoint.run), **of}, {"$set": values})

    def _is_empty(self) -> bool:
        return all(next(c.find({}, {"_id": 1}).limit(1), None) is None for c in self.decided)

    def _check_empty(self) -> None:
        for collection in (self.documents, self.ledger):
            count = collection.estimated_document_count()
            if count:
                raise StateMismatch(
                    f"the target's collection {collection.full_name} holds {count:,} documents "
                    "that dedup did not write. Name another --target, or remove them first."
                )
