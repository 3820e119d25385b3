"""Whether collections keep what is written to them, and are the same ones at the end of a run."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pymongo.database import Database
from pymongo.errors import OperationFailure, PyMongoError

from dedup_job.decision.comparison import Comparison, Difference
from dedup_job.errors import StateMismatch
from dedup_job.index import KeptIndex
from dedup_job.mongo.bson.extended_json import shown
from dedup_job.mongo.connection import LABELS, SUFFIXES
from dedup_job.mongo.errors import UNAUTHORIZED
from dedup_job.mongo.target_reader import TargetReader
from dedup_job.runs.counts import Counts
from dedup_job.runs.run import Checkpoint

_BLIND = (
    "the user may not see how the collections of %s are made (listCollections, listIndexes): a "
    "capped one, a TTL index, or one that is replaced while the run is at work is found by its "
    "documents only."
)
_WAY_OUT = (
    "All that was decided is written. What is missing is decided again by the same command, while "
    "the source holds it; `dedup check` shows what is left."
)
log = logging.getLogger("dedup")


@dataclass(frozen=True, slots=True)
class Facts:
    """What the server says of a collection; expiring: the names of its TTL indexes."""

    uuid: bytes
    is_capped: bool = False
    expiring: tuple[str, ...] = ()


class CollectionGuard:
    """Looks whether what a run wrote is there, before the run says that it is done."""

    def __init__(self, target: TargetReader) -> None:
        self._target = target
        self._client = target.documents.database.client
        self._source = target.source.full_name
        self._names = [self._source, *(f"{target.name}{suffix}" for suffix in ("", *SUFFIXES))]
        self._retry = target.retry
        self._facts: dict[str, Facts] = {}
        self._unseen: set[str] = set()  # databases that the user may not look at now
        self._told: set[str] = set()  # those of which that was said
        self._begun = Counts()  # of the run, before its present part
        self._rows_before = 0  # of the ledger, then

    def check(self) -> None:
        """Raise StateMismatch where a collection of the target loses documents by itself."""
        found = self._retry(self._look)
        lines = [line for name, one in found.items() for line in self._losses(name, one)]
        if lines:
            raise StateMismatch("\n".join([*lines, "Or name another --target."]))

    def begin(self, checkpoint: Checkpoint) -> None:
        """Remember how all is before the first batch of a run, or of its next part."""
        self._facts = self._retry(self._look)
        self._begun = checkpoint.counts
        self._rows_before = self._retry(self._target.ledger.estimated_document_count)

    def problem(self, kept: KeptIndex, checkpoint: Checkpoint) -> str:
        """Describe what others changed, by UUIDs and counts; "" where nothing changed."""
        lines = [*self._changes(), *self._missing(kept), *self._missing_rows(checkpoint)]
        return "\n".join([*lines, _WAY_OUT]) if lines else ""

    def explain(self, refused: OperationFailure) -> None:
        """Raise StateMismatch where a write was refused since a collection is not what it was."""
        with suppress(PyMongoError):
            if lines := [*self._changes()]:
                raise StateMismatch("\n".join([*lines, _WAY_OUT])) from refused

    def _look(self) -> dict[str, Facts]:
        """Return the facts of those collections that exist, and that the user may look at."""
        found: dict[str, Facts] = {}
        self._unseen.clear()
        for database in dict.fromkeys(map(_database_of, self._names)):
            own = [name.removeprefix(f"{database}.") for name in self._names]
            wanted = {"name": {"$in": own}, "type": "collection"}
            try:
                for row in self._client[database].list_collections(filter=wanted):
                    if (name := f"{database}.{row['name']}") in self._names:
                        found[name] = _facts(self._client[database], row)
            except OperationFailure as e:
                if e.code != UNAUTHORIZED:
                    raise
                self._unseen.add(database)
                if database not in self._told:
                    log.warning(_BLIND, database)
                    self._told.add(database)
        return found

    def _changes(self) -> Iterator[str]:
        """Yield a line for each collection that is not the one that it was."""
        now = self._retry(self._look)
        for name, one in self._facts.items():
            if name == f"{self._target.name}{LABELS}":  # a run writes none
                continue
            what = "source" if name == self._source else "collection"
            other = now.get(name)
            if _database_of(name) in self._unseen:  # a right was taken away, which proves nothing
                continue
            if other is not None and other.uuid == one.uuid:
                yield from self._losses(name, other)
                continue
            how = "dropped or renamed" if other is None else "replaced by another one"
            yield f"the {what} {name} was {how} while the run was at work."

    def _losses(self, name: str, facts: Facts) -> Iterator[str]:
        """Yield why a collection loses documents by itself; of the source that is no concern."""
        if name == self._source:
            return
        if facts.is_capped:
            yield (
                f"the collection {name} is capped: it removes its oldest documents when it is "
                "full. Copy it to one that is not."
            )
        for index in facts.expiring:
            yield (
                f"the collection {name} removes documents after a time (TTL index {index}). Drop "
                "that index."
            )

    def _missing(self, kept: KeptIndex) -> Iterator[str]:
        """Yield what the target should hold and does not, or the other way round."""
        if self._target.count(kept.live) == kept.live:
            return
        compared = Comparison(kept)
        for page in self._target.kept():
            compared.add(page)
        gone, others = compared.surplus(), compared.missing
        if gone.count:
            yield (
                f"{gone.count:,} documents that were kept are missing from {self._target.name}: "
                f"_id {_named(gone)}. Something removed them while the run was at work."
            )
        if others.count:
            yield (
                f"{others.count:,} documents of {self._target.name} were kept by no run: _id "
                f"{_named(others)}. Something else wrote them while the run was at work."
            )

    def _missing_rows(self, checkpoint: Checkpoint) -> Iterator[str]:
        rows = checkpoint.counts.scanned - checkpoint.counts.kept
        there = self._retry(self._target.ledger.estimated_document_count)
        if there == self._rows_before + rows - (self._begun.scanned - self._begun.kept):
            return
        only = {"run": checkpoint.run}  # no index leads there, so it is asked only now
        there = self._retry(lambda: self._target.ledger.count_documents(only))
        if there != rows:
            yield (
                f"{self._target.ledger.full_name} holds {there:,} of the {rows:,} rows that run "
                f"{checkpoint.run} wrote. Something removed or added some."
            )


def _database_of(name: str) -> str:
    return name.partition(".")[0]


def _facts(database: Database[dict[str, Any]], row: Mapping[str, Any]) -> Facts:
    indexes = list(database[row["name"]].list_indexes())  # none of what was dropped just now
    expiring = [index["name"] for index in indexes if "expireAfterSeconds" in index]
    if "expireAfterSeconds" in row["options"]:
        expiring.append("of the collection itself")
    return Facts(bytes(row["info"]["uuid"]), bool(row["options"].get("capped")), tuple(expiring))


def _named(those: Difference) -> str:
    more = ", …" if those.count > len(those.keys) else ""
    return ", ".join(map(shown, those.keys)) + more
