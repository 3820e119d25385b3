"""Whether collections are the same ones at the end of a run, and hold what it wrote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

from pymongo.errors import OperationFailure, PyMongoError

from dedup_job.decision.comparison import Comparison, Difference
from dedup_job.errors import StateMismatch
from dedup_job.index import KeptIndex
from dedup_job.messages import Message, joined
from dedup_job.mongo.bson.extended_json import shown
from dedup_job.mongo.connection import LABELS, SUFFIXES
from dedup_job.mongo.errors import UNAUTHORIZED
from dedup_job.mongo.target_reader import TargetReader
from dedup_job.runs.decided import Counts
from dedup_job.runs.run import Checkpoint

_WAY_OUT = Message(
    "All that was decided is written. What is missing is decided again by the same command, while "
    "the source holds it; `dedup check` shows what is left."
)


class CollectionGuard:
    """Checks at the end of a run that its collections are the same and hold what it wrote."""

    def __init__(self, target: TargetReader) -> None:
        self._target = target
        self._client = target.documents.database.client
        parts = (suffix for suffix in SUFFIXES if suffix != LABELS)  # a run writes none
        self._names = [
            target.source.full_name,
            target.name,
            *(f"{target.name}{part}" for part in parts),
        ]
        self._retry = target.retry
        self._uuids: Mapping[str, bytes] = {}
        self._begun = Counts()  # of the run, before its present part
        self._rows_before = 0  # of the ledger, then

    def begin(self, checkpoint: Checkpoint) -> None:
        """Record UUIDs and counts before the first batch of a run, or of its next part."""
        self._uuids = {}
        self._uuids = self._retry(self._look)
        self._begun = checkpoint.counts
        self._rows_before = self._retry(self._target.ledger.estimated_document_count)

    def rows_left(self, number: int) -> None:
        """Subtract rows that left the ledger since."""
        self._rows_before -= number

    def problem(self, kept: KeptIndex, checkpoint: Checkpoint) -> str:
        """Return a description of what others changed, by UUIDs and counts; "" if nothing."""
        lines = [*self._changes(), *self._missing(kept), *self._missing_rows(checkpoint)]
        return joined([*lines, _WAY_OUT], "\n") if lines else ""

    def explain(self, refused: OperationFailure) -> None:
        """Raise StateMismatch if a write was refused because a collection was replaced."""
        with suppress(PyMongoError):
            if lines := [*self._changes()]:
                raise StateMismatch(joined([*lines, _WAY_OUT], "\n")) from refused

    def _look(self) -> dict[str, bytes]:
        """Return the UUIDs of those collections that exist.

        A collection that the user may not see any more counts as unchanged.
        """
        found: dict[str, bytes] = {}
        for database in dict.fromkeys(map(_database_of, self._names)):
            own = [name.removeprefix(f"{database}.") for name in self._names]
            wanted = {"name": {"$in": own}, "type": "collection"}
            try:
                for row in self._client[database].list_collections(filter=wanted):
                    found[f"{database}.{row['name']}"] = bytes(row["info"]["uuid"])
            except OperationFailure as e:
                if e.code != UNAUTHORIZED:
                    raise
                known = self._uuids.items()
                found |= {name: uuid for name, uuid in known if _database_of(name) == database}
        return found

    def _changes(self) -> Iterator[str]:
        now = self._retry(self._look)
        for name, uuid in self._uuids.items():
            if name not in now:
                yield Message("{name} was dropped or renamed while the run was at work.", name=name)
            elif now[name] != uuid:
                yield Message(
                    "{name} was replaced by another collection while the run was at work.",
                    name=name,
                )

    def _missing(self, kept: KeptIndex) -> Iterator[str]:
        if self._target.count(kept.live) == kept.live:
            return
        compared = Comparison(kept)
        for page in self._target.kept():
            compared.add(page)
        gone, others = compared.surplus(), compared.missing
        if gone.count:
            yield Message(
                "{number:,} documents that were kept are missing from {name}: _id {ids}. Something "
                "removed them while the run was at work.",
                number=gone.count,
                name=self._target.name,
                ids=_named(gone),
            )
        if others.count:
            yield Message(
                "{number:,} documents of {name} were kept by no run: _id {ids}. Something else "
                "wrote them while the run was at work.",
                number=others.count,
                name=self._target.name,
                ids=_named(others),
            )

    def _missing_rows(self, checkpoint: Checkpoint) -> Iterator[str]:
        rows = checkpoint.counts.scanned - checkpoint.counts.kept
        there = self._retry(self._target.ledger.estimated_document_count)
        if there == self._rows_before + rows - (self._begun.scanned - self._begun.kept):
            return
        only = {"run": checkpoint.run}  # no index leads there, so it is asked only now
        there = self._retry(lambda: self._target.ledger.count_documents(only))
        if there != rows:
            yield Message(
                "{name} holds {there:,} of the {rows:,} rows that run {run} wrote. Something "
                "removed or added some.",
                name=self._target.ledger.full_name,
                there=there,
                rows=rows,
                run=checkpoint.run,
            )


def _database_of(name: str) -> str:
    return name.partition(".")[0]


def _named(those: Difference) -> str:
    more = ", …" if those.count > len(those.keys) else ""
    return ", ".join(map(shown, those.keys)) + more
