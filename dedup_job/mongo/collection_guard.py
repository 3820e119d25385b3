"""Whether collections keep what is written to them, and are the same ones at the end of a run."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pymongo.database import Database
from pymongo.errors import OperationFailure, PyMongoError

from dedup_job.decision.comparison import Comparison, Difference
from dedup_job.errors import StateMismatch
from dedup_job.index import KeptIndex
from dedup_job.messages import Message, joined
from dedup_job.mongo.bson.extended_json import shown
from dedup_job.mongo.connection import LABELS, SUFFIXES
from dedup_job.mongo.errors import UNAUTHORIZED
from dedup_job.mongo.target_reader import TargetReader
from dedup_job.runs.counts import Counts
from dedup_job.runs.run import Checkpoint

_WAY_OUT = Message(
    "All that was decided is written. What is missing is decided again by the same command, while "
    "the source holds it; `dedup check` shows what is left."
)
log = logging.getLogger("dedup")


@dataclass(frozen=True, slots=True)
class Facts:
    """What the server says of a collection; expiring: the names of its TTL indexes.

    collation: the locale of the one that it has, "" without one.
    """

    uuid: bytes
    is_capped: bool = False
    collation: str = ""
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
        self._told: set[str] = set()  # those that a message has named
        self._begun = Counts()  # of the run, before its present part
        self._rows_before = 0  # of the ledger, then

    def check(self) -> Set[str]:
        """Return which collections there are, as far as the user may look.

        Raises StateMismatch where one of the target loses documents by itself.
        """
        found = self._retry(self._look)
        lines = [line for name, one in found.items() for line in self._losses(name, one)]
        if lines:
            raise StateMismatch(joined([*lines, Message("Or name another --target.")], "\n"))
        return found.keys()

    def begin(self, checkpoint: Checkpoint) -> None:
        """Remember how all is before the first batch of a run, or of its next part."""
        self._facts = self._retry(self._look)
        self._begun = checkpoint.counts
        self._rows_before = self._retry(self._target.ledger.estimated_document_count)

    def rows_left(self, number: int) -> None:
        """Count rows of the ledger that left it since."""
        self._rows_before -= number

    def problem(self, kept: KeptIndex, checkpoint: Checkpoint) -> str:
        """Describe what others changed, by UUIDs and counts; "" where nothing changed."""
        lines = [*self._changes(), *self._missing(kept), *self._missing_rows(checkpoint)]
        return joined([*lines, _WAY_OUT], "\n") if lines else ""

    def explain(self, refused: OperationFailure) -> None:
        """Raise StateMismatch where a write was refused since a collection is not what it was."""
        with suppress(PyMongoError):
            if lines := [*self._changes()]:
                raise StateMismatch(joined([*lines, _WAY_OUT], "\n")) from refused

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
                    log.warning("%s", _blind(database))
                    self._told.add(database)
        return found

    def _changes(self) -> Iterator[str]:
        """Yield a line for each collection that is not the one that it was."""
        now = self._retry(self._look)
        for name, one in self._facts.items():
            if name == f"{self._target.name}{LABELS}":  # a run writes none
                continue
            other = now.get(name)
            if _database_of(name) in self._unseen:  # a right was taken away, which proves nothing
                continue
            if other is not None and other.uuid == one.uuid:
                yield from self._losses(name, other)
                continue
            what = _source(name) if name == self._source else _collection(name)
            yield _is_gone(what) if other is None else _is_another(what)

    def _losses(self, name: str, facts: Facts) -> Iterator[str]:
        """Yield why a collection does not keep what is written; the source may be any."""
        if name == self._source:
            return
        if facts.collation:
            yield Message(
                "the collection {name} has a collation ({locale}), which compares ids and texts by "
                "rules of its own. Drop the collection, and the run makes it without one.",
                name=name,
                locale=facts.collation,
            )
        if facts.is_capped:
            yield Message(
                "the collection {name} is capped: it removes its oldest documents when it is full. "
                "Copy it to one that is not.",
                name=name,
            )
        for index in facts.expiring:
            yield Message(
                "the collection {name} removes documents after a time (TTL index {index}). Drop "
                "that index.",
                name=name,
                index=index,
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


def _blind(database: str) -> Message:
    return Message(
        "the user may not see how the collections of {database} are made (listCollections, "
        "listIndexes): a capped one, a TTL index, or one that is replaced while the run is at work "
        "is found by its documents only.",
        database=database,
    )


def _source(name: str) -> Message:
    return Message("the source {name}", name=name)


def _collection(name: str) -> Message:
    return Message("the collection {name}", name=name)


def _is_gone(what: Message) -> Message:
    return Message("{what} was dropped or renamed while the run was at work.", what=what)


def _is_another(what: Message) -> Message:
    return Message("{what} was replaced by another one while the run was at work.", what=what)


def _database_of(name: str) -> str:
    return name.partition(".")[0]


def _facts(database: Database[dict[str, Any]], row: Mapping[str, Any]) -> Facts:
    indexes = list(database[row["name"]].list_indexes())  # none of what was dropped just now
    expiring = [index["name"] for index in indexes if "expireAfterSeconds" in index]
    if "expireAfterSeconds" in row["options"]:
        expiring.append(Message("of the collection itself"))
    options = row["options"]
    locale = options.get("collation", {}).get("locale", "")
    return Facts(bytes(row["info"]["uuid"]), bool(options.get("capped")), locale, tuple(expiring))


def _named(those: Difference) -> str:
    more = ", …" if those.count > len(those.keys) else ""
    return ", ".join(map(shown, those.keys)) + more
