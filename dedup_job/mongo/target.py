"""The target with its ledger, runs and state: opened under the lease, written batch by batch."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pymongo
from pymongo import WriteConcern
from pymongo.errors import OperationFailure, PyMongoError
from pymongo.read_concern import ReadConcern

from dedup_job.documents import Batch, Decision, Document, Kept, KeptPage
from dedup_job.errors import LeaseLost, StateMismatch
from dedup_job.mongo import raw as bson_raw
from dedup_job.mongo import stamp as stamps
from dedup_job.mongo.connection import Client, Documents, Namespace
from dedup_job.mongo.kept import KeptDocuments
from dedup_job.mongo.lease import wait_for
from dedup_job.mongo.patience import NO_PATIENCE, Patience
from dedup_job.mongo.reading import majority
from dedup_job.mongo.rows import MAX_DOCUMENT_BYTES, KeptRows, split
from dedup_job.mongo.state import AlreadyWritten, State
from dedup_job.mongo.writing import insert, insert_missing
from dedup_job.report.counts import Counts
from dedup_job.report.run import Checkpoint, Report, Scope, Status

_NAMESPACE_EXISTS = 48
_OWN_BYTES = 4096  # more than dedup adds to a document
_RUN_ROW_SECONDS = 5.0
_LAST_WORD_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Version:
    """A target's own id, and the number of batches written to it."""

    id: str
    generation: int


class Target:
    """Implements the job's target on MongoDB."""

    def __init__(
        self,
        client: Client,
        namespace: Namespace,
        rows: KeptRows,
        stamp: Mapping[str, Any],
        source: Namespace,
        patience: Patience = NO_PATIENCE,
        lock_wait: float = 0.0,
    ) -> None:
        """Take where everything lies.

        patience: repeats what the database does not answer; lock_wait: seconds to wait for the
        lease of another run.
        """
        database = client[namespace.database]
        durable = WriteConcern("majority", j=True)
        self._client = client
        self._name = str(namespace)
        self._rows = rows
        self._stamp = dict(stamp)
        self._source = source
        self.documents: Documents = database.get_collection(
            namespace.collection, write_concern=durable
        )
        self._patience = patience
        self._lock_wait = lock_wait
        self.held = KeptDocuments(self.documents, rows, patience)
        self.ledger: Documents = database.get_collection(
            f"{namespace.collection}.ledger", write_concern=durable
        )
        self._runs: Documents = database.get_collection(
            f"{namespace.collection}.runs", write_concern=durable
        )
        self._session = client.start_session()
        self._state = State(database[f"{namespace.collection}.state"], self._session.session_id)
        self._transactions = _has_transactions(client)
        self._row_written = 0.0
        self._generation = 0  # of the state before the next batch

    @property
    def decided(self) -> list[Documents]:
        """Collections whose ids are decided."""
        return [self.documents, self.ledger]

    @property
    def is_new(self) -> bool:
        """Tell whether no run has written to this target yet."""
        return self._state.read() is None

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
        return self._runs.find_one({"_id": number})

    def last_run(self) -> dict[str, Any] | None:
        """Return what is recorded of the last run; None where nothing is."""
        return self._runs.find_one({}, sort=[("_id", -1)])

    @property
    def stamp(self) -> dict[str, Any]:
        """The settings that decide."""
        return self._stamp

    def version(self) -> Version | None:
        """Return which target this is and how often it changed; None before its first run."""
        state = self._patience(self._state.read) or {}
        return Version(state["id"], state["generation"]) if "id" in state else None

    def check(self) -> None:
        """Raise StateMismatch where the target does not belong to this source and settings."""
        state = self._state.read()
        if state is None:
            self._check_empty()
            return
        stamps.check_source(state["source"], str(self._source), self._name)
        if state["settings"] != self._stamp and not self._is_empty():
            raise StateMismatch(stamps.difference(state["settings"], self._stamp, self._name))

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Hold the lease; before the block any half-written batch of a former run is undone."""
        self.check()
        self._patience(self._create)
        try:
            wait_for(self._state.acquire, self._lock_wait, self._patience)
            self._patience.before_again = self._state.renew  # what waited may have lost the lease
            self._patience(self._take_over)
            yield
        finally:
            self._patience.before_again = lambda: None
            self._state.release()

    def _create(self) -> None:
        for collection in (self.documents, self.ledger, self._runs):
            try:  # within a transaction two runs that create it would conflict
                collection.database.create_collection(collection.name, check_exists=False)
            except OperationFailure as e:
                if e.code != _NAMESPACE_EXISTS:
                    raise
        self._state.seed(str(self._source), self._stamp)

    def _take_over(self) -> None:
        self.check()  # another run may have come first between check and lease
        self._state.update({"settings": self._stamp})
        self._undo_intent()

    def begin(self, scope: Scope, record: Callable[[Checkpoint], Report]) -> Checkpoint:
        """Resume the unfinished run of this scope, or begin the next one."""
        return self._patience(lambda: self._begin(scope, record))

    def _begin(self, scope: Scope, record: Callable[[Checkpoint], Report]) -> Checkpoint:
        state = self._state.read() or {}
        self._generation = state["generation"]
        former = state.get("checkpoint")
        run = 1
        if former:
            checkpoint = Checkpoint.from_dict(former)
            if not checkpoint.finished:
                if checkpoint.scope == scope:
                    self._write_run_row(record(checkpoint))
                    return checkpoint
                self._runs.update_one(
                    {"_id": checkpoint.run}, {"$set": {"status": str(Status.ABANDONED)}}
                )
            run = checkpoint.run + 1
        checkpoint = Checkpoint(run, scope, datetime.now(UTC), Counts())
        self._write_run_row(record(checkpoint))
        self._state.update({"checkpoint": checkpoint.as_dict()}, generation=self._generation)
        return checkpoint

    def kept(self) -> Iterator[KeptPage]:
        """Yield what the target holds, for the index; StateMismatch names what is not its own."""
        return self.held.pages()

    def texts(self, keys: Sequence[bytes]) -> dict[bytes, str]:
        """Return the stored texts of some documents by key; those that are gone are left out."""
        return self.held.texts(keys)

    def id(self, key: bytes) -> Any:
        """Return the id that a key stands for."""
        return bson_raw.id_value(key)

    def fits(self, document: Document) -> bool:
        """Tell whether the document, with its cleaned text, stays within what MongoDB stores."""
        size = len(document.raw) + _OWN_BYTES
        if isinstance(document.content, str):
            size += len(document.content.encode())  # as if the old text stayed: nearly always fits
        if size <= MAX_DOCUMENT_BYTES:
            return True
        return len(self._rows.encode(document, Kept(0, short=False), 2**31)) <= MAX_DOCUMENT_BYTES

    def write(self, batch: Batch, decisions: Sequence[Decision], report: Report) -> None:
        """Commit a batch: documents, ledger rows and checkpoint together, or none of them.

        Repeated until its outcome is known. Raises LeaseLost if another run took over; then
        nothing of the batch is written.
        """
        checkpoint = report.checkpoint
        kept, ledger = split(batch.documents, decisions, self._rows, checkpoint.run)
        ids = [document.id for document in batch.documents]
        commit = self._commit if self._transactions else self._write_in_order
        try:
            with suppress(AlreadyWritten):
                self._patience(lambda: commit(ids, kept, ledger, checkpoint))
        except (PyMongoError, StateMismatch):
            self._state.confirm()  # after a long sleep the lease may be the reason
            raise
        self._generation += 1
        if time.monotonic() - self._row_written > _RUN_ROW_SECONDS:
            self._patience(lambda: self._write_run_row(report))

    def finish(self, report: Report) -> None:
        """Record the end of the run and its last checkpoint."""
        values, at = {"checkpoint": report.checkpoint.as_dict()}, self._generation
        self._patience(lambda: self._state.update(values, generation=at))
        self._patience(lambda: self._write_run_row(report))

    def abort(self, report: Report) -> None:
        """Record that the run broke off, as far as lease and database let us.

        The checkpoint stays: whether the last commit took effect is not known here.
        """
        with suppress(PyMongoError, LeaseLost), pymongo.timeout(_LAST_WORD_SECONDS):
            self._write_run_row(report)

    def _commit(
        self, _: list[Any], kept: list[bytes], ledger: list[bytes], checkpoint: Checkpoint
    ) -> None:
        """Write a batch in one transaction, unless an earlier attempt did.

        The state is changed last, since that bars it for the lease's renewal until the commit.
        """
        session = self._session
        session.start_transaction(ReadConcern("majority"), WriteConcern("majority", j=True))
        try:
            self._state.verify(session, self._generation)
            insert(self.documents, kept, session)
            insert(self.ledger, ledger, session)
            self._state.update(
                {"checkpoint": checkpoint.as_dict()},
                session,
                changed=True,
                generation=self._generation,
            )
            session.commit_transaction()
        except Exception:  # a second Ctrl-C does not wait for a slow server: it aborts by itself
            if session.in_transaction:
                session.abort_transaction()
            raise

    def _write_in_order(
        self, ids: list[Any], kept: list[bytes], ledger: list[bytes], checkpoint: Checkpoint
    ) -> None:
        """Without transactions (a standalone server): ids first, checkpoint last.

        A run killed in between leaves the ids as its intent, and the next one undoes the batch.
        A repeated attempt finds its own documents, and goes on.
        """
        before = self._generation
        self._state.update({"intent": ids}, generation=before)
        for collection, rows in ((self.documents, kept), (self.ledger, ledger)):
            self._state.check()
            insert_missing(collection, rows)
        values = {"checkpoint": checkpoint.as_dict(), "intent": None}
        self._state.update(values, changed=True, generation=before)

    def _undo_intent(self) -> None:
        """Take back the batch that a killed run began to write on a standalone server.

        Only what the source still holds is taken back; it will be decided again, as before.
        """
        intent = (self._state.read() or {}).get("intent")
        if not intent:
            return
        database = self._client[self._source.database]
        source = majority(database[self._source.collection])
        there = [d["_id"] for d in source.find({"_id": {"$in": intent}}, {"_id": 1})]
        for collection in self.decided:
            collection.delete_many({"_id": {"$in": there}})
        self._state.update({"intent": None})

    def _write_run_row(self, report: Report) -> None:
        self._state.check()  # the row may be another run's by now
        run = {"_id": report.checkpoint.run}
        self._runs.update_one(run, {"$set": report.as_row()}, upsert=True)
        self._row_written = time.monotonic()

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


def _has_transactions(client: Client) -> bool:
    hello = client.admin.command("hello")
    return "setName" in hello or hello.get("msg") == "isdbgrid"
