"""What is read of a target: its documents, its runs, its state, and the source it is made from."""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from bson import Int64
from numpy.typing import NDArray
from pymongo import ReadPreference, WriteConcern
from pymongo.read_concern import ReadConcern

from dedup_job.columns import Documents, KeptPage, NumberedTexts
from dedup_job.documents import Document
from dedup_job.messages import StateMismatch, UsageError
from dedup_job.mongo import checks, id_keys, raw_bson
from dedup_job.mongo.change_stream import ChangeStore
from dedup_job.mongo.commits import fits_in_piece
from dedup_job.mongo.connection import CHANGED, LABELS, AnyCollection, Client, Namespace
from dedup_job.mongo.database_settings import SourceSettings
from dedup_job.mongo.errors import NO_RETRY, RetryPolicy
from dedup_job.mongo.id_keys import shown
from dedup_job.mongo.ledger_rows import LedgerRows, dropped_digest
from dedup_job.mongo.ranking import Ranking
from dedup_job.mongo.raw_bson import LENIENT, RawDocument
from dedup_job.mongo.reading import (
    COMMAND_BYTES,
    are_empty,
    found_texts,
    held,
    look_up,
    majority,
    pages,
    some,
    some_in_columns,
)
from dedup_job.mongo.rows import KeptRows, groups_in
from dedup_job.mongo.source import Source
from dedup_job.mongo.state import PIECE, OwnRow, State, is_by_hand
from dedup_job.native.bytes_column import BREAK, BytesColumn, strings_of
from dedup_job.runs.run_record import Run

_NAMED = 5  # documents in a message
_PAGE = 5000
_ALL: Mapping[str, Any] = MappingProxyType({})
_BEST = b"\xff"  # as a rank


@dataclass(frozen=True, slots=True)
class Version:
    """A target's own id, and the number of batches written to it."""

    id: str
    generation: int


@dataclass(frozen=True, slots=True)
class TargetForm:
    """How source, target and ledger are read and written, and the settings that decide.

    as_made: nothing is decided, so any version of the rules will do; ranking: None if the first
    copy stays.
    """

    source: SourceSettings
    kept: KeptRows
    ledger: LedgerRows
    stamp: Mapping[str, Any]
    as_made: bool = False
    ranking: Ranking | None = None


class TargetReader:
    """A target that is read."""

    def __init__(
        self,
        client: Client,
        namespace: Namespace,
        form: TargetForm,
        source: Namespace,
        retry: RetryPolicy = NO_RETRY,
    ) -> None:
        # other servers may answer for the source alone: of the target they may know too little
        database = client.get_database(namespace.database, read_preference=ReadPreference.PRIMARY)

        def part(suffix: str, **options: Any) -> AnyCollection:
            name, durable = f"{namespace.collection}{suffix}", WriteConcern("majority", j=True)
            return database.get_collection(name, write_concern=durable, **options)

        self.documents, self.ledger = part(""), part(".ledger")
        self.name = self.documents.full_name
        self.decided = [self.documents, self.ledger]  # collections that hold the decided ids
        self.runs = part(".runs", codec_options=LENIENT)
        self.state = State(part(".state"))
        self.changes = ChangeStore(part(CHANGED), retry)
        self.labels = part(LABELS)
        self.source: AnyCollection = client[source.database][source.collection]
        self.origin = Source(self.source, form.source, retry)
        self.form = form
        self.rows = form.kept
        self.stamp = dict(form.stamp)
        self.retry = retry

    def of_run(self, run: int) -> list[tuple[AnyCollection, Mapping[str, Any]]]:
        """Return target and ledger, each with the filter of what a run wrote there."""
        kept: Mapping[str, Any] = {"dedup.run": run} if self.rows.has_runs else {}
        return [(self.documents, kept), (self.ledger, {"run": run})]

    def version(self) -> Version | None:
        """Return the id of the target and its number of changes; None before its first run."""
        state = self.retry(self.state.read)
        if state is None:
            return None
        own = uuid.UUID(state["id"]).hex  # it names a file, so nothing else will do
        return Version(own, state["generation"])

    def held_by(self, collection: AnyCollection, keys: Sequence[bytes]) -> set[bytes]:
        """Return the ids, of some in any order, that a collection holds now."""
        return {row.key for row in some(majority(collection), keys, {"_id": 1}, self.retry)}

    def held_in_order(self, collection: AnyCollection, keys: Sequence[bytes]) -> set[bytes]:
        """Return the same of ids that are given in `_id` order, which costs the server less."""
        there = held(majority(collection), strings_of(keys), self.retry)
        return {key for key, is_there in zip(keys, there.tolist(), strict=True) if is_there}

    def last_run(self, of: Mapping[str, Any] = _ALL) -> dict[str, Any] | None:
        """Return the row of the last run, or of the last of some; None if there is none."""
        row = self.runs.find_one({**of, PIECE: None}, sort=[("_id", -1)])
        return row and OwnRow(row, self.runs.full_name)

    def run_rows(self, after: int = 0) -> list[dict[str, Any]]:
        """Return the rows of the runs after a number, without the long fields, in order."""
        runs = self.runs.with_options(read_concern=ReadConcern("majority"))
        only = {PIECE: None, **({"_id": {"$gt": after}} if after else {})}
        found = self.retry(lambda: list(runs.find(only, {"profile": 0}).sort("_id", 1)))
        return [OwnRow(row, self.runs.full_name) for row in found]

    def run_lines(self) -> list[Run]:
        """Return all runs, in order."""
        return [Run.from_row(row) for row in self.run_rows() if not is_by_hand(row)]

    def usual_without_text(self) -> float:
        """Return the share of documents without a text in the runs so far, 0 before the first."""
        counts = [row["counts"] for row in self.run_rows()]
        scanned = sum(each["scanned"] for each in counts)
        return sum(each["skipped"] for each in counts) / scanned if scanned else 0.0

    def check(self) -> Mapping[str, Any] | None:
        """Return the state, None before a first run; StateMismatch for other source or settings."""
        state = self.state.read()
        if state is None:
            try:
                self._check_empty()
            except StateMismatch:
                state = self.state.read()
                if state is None:  # else another run began meanwhile
                    raise
            else:
                return None
        checks.check_same_source(state["source"], self.source.full_name, self.name)
        agree = checks.agree(state["settings"], self.stamp, as_made=self.form.as_made)
        if not agree and not are_empty(self.decided):
            raise StateMismatch(checks.difference(state["settings"], self.stamp, self.name))
        return state

    def count(self, expected: int) -> int:
        """Return the number of documents; counts them one by one only if they seem to differ."""
        documents = majority(self.documents)
        count = self.retry(documents.estimated_document_count)
        if count == expected:
            return count
        return self.retry(lambda: documents.count_documents({}, hint="_id_"))

    def kept(self, after: int | None = None) -> Iterator[KeptPage]:
        """Yield the kept documents in `_id` order; StateMismatch names foreign ones.

        after: only documents of runs with a higher number.
        """
        strange: list[bytes] = []
        count = 0
        projection = self.rows.projection
        query = None if after is None else {"dedup.run": {"$gt": after}}
        for rows in pages(majority(self.documents), _PAGE, query, projection, self.retry):
            page, others = self.rows.decode(rows)
            count += len(others)
            strange += others[: _NAMED - len(strange)]
            yield page
        if count:
            more = ", ..." if count > len(strange) else ""
            raise StateMismatch(
                "the target {target} holds {count:,} documents that dedup did not write or "
                "that someone changed: they lack their text or fingerprint, or it is of "
                "another type. _id {ids}. Remove them from the target or put them back as they "
                "were, or name another --target.",
                target=self.name,
                count=count,
                ids=", ".join(map(shown, strange)) + more,
            )

    def fingerprints(self, keys: Sequence[bytes]) -> dict[bytes, int]:
        """Return the stored fingerprints of some documents, by key."""
        rows = some(majority(self.documents), keys, self.rows.projection, self.retry)
        read = ((row.key, *self.rows.stored(row)) for row in rows)
        return {key: mark.fingerprint for key, text, mark in read if text is not None and mark}

    def texts(self, keys: Sequence[bytes]) -> dict[bytes, str]:
        """Return the stored texts of some documents by key; those that are gone are left out."""
        return self.texts_of(strings_of(keys)).by_key(keys)

    def texts_of(self, keys: BytesColumn) -> NumberedTexts:
        """Return the same in columns, by the rows of the keys, which may name other collections."""
        if keys.lengths.sum() > COMMAND_BYTES and (count := len(keys.lengths) // 2):
            one, other = (
                self.texts_of(keys.take(half)) for half in (slice(count), slice(count, None))
            )
            return one.joined(other._replace(numbers=other.numbers + count))
        if not (own := id_keys.are_own(keys)).all():
            return self._texts_in_all(keys, own)
        fields, documents = self.rows.texts, majority(self.documents)
        projection = dict.fromkeys(fields.dotted, 1)
        page, rows = some_in_columns(documents, keys, projection, self.retry, fields.paths)
        texts, plain = found_texts(page)
        odd = np.flatnonzero(~plain).tolist()
        others = {row: self.rows.stored(page[row])[0] for row in odd}
        stored = {row: text for row, text in others.items() if text is not None}
        texts = texts.replaced([*stored], [*stored.values()])
        there = np.ones(len(page), dtype=np.bool_)
        there[[row for row, text in others.items() if text is None]] = False
        chosen = np.flatnonzero(there)
        chosen = chosen[np.argsort(rows[chosen])]
        parts = fields.several or any(BREAK in text for text in others.values() if text)
        return NumberedTexts(rows[chosen], self.rows.compared(texts.take(chosen), parts=parts))

    def cleaned(self, documents: Mapping[bytes, Document]) -> dict[bytes, str]:
        """Return the cleaned texts of those documents that have one, by key."""
        texts = {key: d.content for key, d in documents.items() if isinstance(d.content, str)}
        return dict(zip(texts, self.rows.cleaner.clean_all([*texts.values()]), strict=True))

    def copies(self, keys: Sequence[bytes]) -> Documents:
        """Return kept documents as stored, in this order, with cleaned texts; absent ones not."""
        found = {row.key: row for row in some(majority(self.documents), keys, {}, self.retry)}
        there = [found[key] for key in keys if key in found]
        texts = [self.rows.read(row)[0] for row in there]
        given = [
            Document(id_keys.id_value(row.key), row.key, row.raw, text)
            for row, text in zip(there, texts, strict=True)
            if text is not None
        ]
        return Documents.of(given)

    def groups_of(self, keys: Sequence[bytes]) -> dict[bytes, int]:
        """Return the groups of kept documents by key; those that are gone are left out."""
        rows = some(majority(self.documents), keys, self.rows.marks_only, self.retry)
        return groups_in([row.key for row in rows], [row.raw for row in rows])

    def ranks_of(self, keys: BytesColumn) -> list[bytes]:
        """Return the ranks of kept documents, empty for those that are gone.

        What is too large for a piece of `T.runs`, or lies in another collection, is the best copy.
        """
        asked, ranking = keys.list(), self.form.ranking
        if ranking is None:
            return [b""] * len(asked)
        own = id_keys.are_own(keys)
        copies = self.copies(keys.take(own).list())
        ranks = dict(zip(copies.keys.list(), ranking.ranks(copies), strict=True))
        for key, raw in zip(copies.keys.list(), copies.raw.list(), strict=True):
            if not fits_in_piece(raw):
                ranks[key] = _BEST
        missing = [b"" if is_own else _BEST for is_own in own.tolist()]
        return [ranks.get(key, rank) for key, rank in zip(asked, missing, strict=True)]

    def near_of(self, groups: Mapping[int, list[bytes]], most: int) -> dict[int, list[str]]:
        """Return texts of near duplicates by group, as the source has them; see Copies."""
        group_of = {key: group for group, keys in groups.items() for key in keys[: most + 1]}
        digests, fields = dict[bytes, int](), {"group": 1, "digest": 1}

        def rows(numbers: Sequence[int]) -> list[RawDocument]:
            only = {"group": {"$in": [*map(Int64, numbers)]}, "reason": "near"}
            limit = (most + 1) * len(numbers)
            found = look_up(self.ledger, only, fields, self.retry, limit=limit)
            cut = len(found) == limit and len(numbers) > 1  # some may have been left out for others
            return [row for one in numbers for row in rows([one])] if cut else found

        for row in rows([*groups]):
            said = raw_bson.fields_of(row.raw)
            group_of[row.key], digests[row.key] = said["group"], said["digest"]
        texts: dict[int, list[str]] = {group: [] for group in groups}
        for key, text in self.cleaned(self.origin.documents([*group_of])).items():
            if digests.get(key) in (None, dropped_digest(text)):
                texts[group_of[key]].append(text)
        return texts

    def _texts_in_all(self, keys: BytesColumn, own: NDArray[np.bool_]) -> NumberedTexts:
        found = self.texts_of(keys.take(own)) if own.any() else NumberedTexts.of({})
        found = found._replace(numbers=np.flatnonzero(own)[found.numbers])
        elsewhere: dict[str, dict[int, bytes]] = {}
        for row in np.flatnonzero(~own).tolist():
            key = keys.at(row)
            elsewhere.setdefault(id_keys.place_of(key), {})[row] = id_keys.own_key(key)
        for place, named in elsewhere.items():
            with suppress(UsageError):  # a name that somebody forged
                one = self.other(place).texts_of(strings_of([*named.values()]))
                numbers = np.array([*named], dtype=np.int64)[one.numbers]
                found = found.joined(NumberedTexts(numbers, self.rows.cleaned(one.texts)))
        return found

    def other(self, place: str, page: int = _PAGE) -> Source:
        """Return another collection, read as the source is; UsageError where this is no name."""
        name = Namespace.parse(place, None, "the collection")
        every = self.form.source.model_copy(update={"query": None})
        client = self.documents.database.client
        return Source(client[name.database][name.collection], every, self.retry, (), page)

    def _check_empty(self) -> None:
        for collection in self.decided:
            count = collection.estimated_document_count()
            if count:
                raise StateMismatch(
                    "the target's collection {name} holds {count:,} documents that dedup did "
                    "not write. Name another --target, or remove them first.",
                    name=collection.full_name,
                    count=count,
                )
