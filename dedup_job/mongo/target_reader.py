"""Reads of a target: its documents, its runs, its state, and the source it is made from."""

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
from dedup_job.mongo.connection import (
    CHANGED,
    LABELS,
    NO_RETRY,
    AnyCollection,
    Client,
    Namespace,
    RetryPolicy,
)
from dedup_job.mongo.database_settings import Ranking, SourceSettings
from dedup_job.mongo.id_keys import shown
from dedup_job.mongo.ledger_rows import LedgerRows, dropped_digest
from dedup_job.mongo.raw_bson import LENIENT, RawDocument
from dedup_job.mongo.reading import (
    COMMAND_BYTES,
    ROW_PAGE,
    DocumentReader,
    Reader,
    are_empty,
    estimated,
)
from dedup_job.mongo.rows import KeptRows, fits_in_chunk, groups_in
from dedup_job.mongo.source import Source
from dedup_job.mongo.state import CHUNK, OwnRow, State
from dedup_job.native.bytes_column import BytesColumn, strings_of
from dedup_job.runs.run_record import Run, is_by_hand

_NAMED = 5  # documents in a message
_ALL: Mapping[str, Any] = MappingProxyType({})
_BEST = b"\xff"  # above each rank, see `Ranking`: of documents that must not be replaced
_NO_LIMIT = 1 << 50  # characters of a stored text


@dataclass(frozen=True, slots=True)
class Version:
    """A target's own id, and the number of commits settled in it."""

    id: str
    generation: int


@dataclass(frozen=True, slots=True)
class TargetForm:
    """The forms in which source, target and ledger are read and written."""

    source: SourceSettings
    kept: KeptRows
    ledger: LedgerRows
    stamp: Mapping[str, Any]  # the settings that all its runs share
    as_made: bool = False  # accept stamps of other versions of the rules: nothing is decided
    ranking: Ranking | None = None  # None if the first copy stays


class TargetReader:
    """Reads a target with its ledger, runs, state and source."""

    def __init__(
        self,
        client: Client,
        namespace: Namespace,
        form: TargetForm,
        source: Namespace,
        retry: RetryPolicy = NO_RETRY,
    ) -> None:
        # a read preference is for the source: other servers may lag behind in the target
        database = client.get_database(namespace.database, read_preference=ReadPreference.PRIMARY)

        def open_(suffix: str, **options: Any) -> AnyCollection:
            name, durable = f"{namespace.collection}{suffix}", WriteConcern("majority", j=True)
            return database.get_collection(name, write_concern=durable, **options)

        self.documents, self.ledger = open_(""), open_(".ledger")
        self.name = self.documents.full_name
        self.decided = [self.documents, self.ledger]  # the collections that hold decided ids
        self.runs = open_(".runs", codec_options=LENIENT)
        self.state = State(open_(".state"))
        self.changes = ChangeStore(open_(CHANGED), retry)
        self.labels = open_(LABELS)
        self.source: AnyCollection = client[source.database][source.collection]
        self.origin = Source(self.source, form.source, retry)  # its documents, decided or not
        self.form = form
        self.rows = form.kept  # the form of kept documents
        self._stored = DocumentReader(self.documents, retry, form.kept.texts, _NO_LIMIT)
        self.stamp = dict(form.stamp)
        self.retry = retry

    def reader(self, collection: AnyCollection) -> Reader:
        """Return a reader of one of the target's collections."""
        return Reader(collection, self.retry)

    def of_run(self, run: int) -> list[tuple[AnyCollection, Mapping[str, Any]]]:
        """Return target and ledger, each with the filter for the documents of a run."""
        kept: Mapping[str, Any] = {"dedup.run": run} if self.rows.has_runs else {}
        return [(self.documents, kept), (self.ledger, {"run": run})]

    def version(self) -> Version | None:
        """Return the version of the target, None before its first run."""
        state = self.retry(self.state.read)
        if state is None:
            return None
        own = uuid.UUID(state["id"]).hex  # it names a file, so nothing else will do
        return Version(own, state["generation"])

    def present_keys(self, collection: AnyCollection, keys: Sequence[bytes]) -> set[bytes]:
        """Return the keys that a collection holds now, as given; keys: in any order."""
        return self.reader(collection).present_keys(keys)

    def present_sorted_keys(self, collection: AnyCollection, keys: Sequence[bytes]) -> set[bytes]:
        """Return the keys that a collection holds now; keys: in `_id` order, to be read faster."""
        mask = self.reader(collection).presence_mask(strings_of(keys))
        return {key for key, is_held in zip(keys, mask.tolist(), strict=True) if is_held}

    def last_run(self, query: Mapping[str, Any] = _ALL) -> dict[str, Any] | None:
        """Return the last row of `T.runs` that matches a query, None if there is none."""
        row = self.runs.find_one({**query, CHUNK: None}, sort=[("_id", -1)])
        return row and OwnRow(row, self.runs.full_name)

    def run_rows(self, after: int = 0) -> list[dict[str, Any]]:
        """Return the rows of runs and entries after a number, without `profile`, in order."""
        runs = self.runs.with_options(read_concern=ReadConcern("majority"))
        only = {CHUNK: None, **({"_id": {"$gt": after}} if after else {})}
        found = self.retry(lambda: list(runs.find(only, {"profile": 0}).sort("_id", 1)))
        return [OwnRow(row, self.runs.full_name) for row in found]

    def run_lines(self) -> list[Run]:
        """Return all runs in order, without restores and requeues."""
        return [Run.from_row(row) for row in self.run_rows() if not is_by_hand(row)]

    def usual_without_text(self) -> float:
        """Return the share of skipped documents in the runs so far, 0 to 1; 0 before the first."""
        counts = [row["counts"] for row in self.run_rows()]
        scanned = sum(each["scanned"] for each in counts)
        return sum(each["skipped"] for each in counts) / scanned if scanned else 0.0

    def check(self) -> Mapping[str, Any] | None:
        """Return the state, None before a first run; StateMismatch for other settings or source."""
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
        rules = {"rules": self.stamp["rules"]} if self.form.as_made else {}
        if {**state["settings"], **rules} != self.stamp and not are_empty(self.decided):
            raise StateMismatch(checks.settings_mismatch(state["settings"], self.stamp, self.name))
        return state

    def count(self, expected: int) -> int:
        """Return the number of kept documents, estimated if that is `expected`, else counted."""
        if (count := estimated([self.documents], self.retry)) == expected:
            return count
        return self._stored.count()

    def kept(self, after: int | None = None) -> Iterator[KeptPage]:
        """Yield documents kept after a run or all, by page; then StateMismatch for foreign ones."""
        strange: list[bytes] = []
        count = 0
        query = None if after is None else {"dedup.run": {"$gt": after}}
        for rows in self._stored.scan(ROW_PAGE, query, self.rows.projection):
            page, foreign = self.rows.decode(rows)
            count += len(foreign)
            strange += foreign[: _NAMED - len(strange)]
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
        """Return the stored fingerprints, uint64, of kept documents by key; missing omitted."""
        rows = self._stored.find_by_key(keys, self.rows.projection)
        read = ((row.key, *self.rows.read_stored(row)) for row in rows)
        return {key: mark.fingerprint for key, text, mark in read if text is not None and mark}

    def texts(self, keys: Sequence[bytes]) -> dict[bytes, str]:
        """Return the compared texts of kept documents by key; missing documents are omitted."""
        return self.texts_of(strings_of(keys)).by_key(keys)

    def texts_of(self, keys: BytesColumn) -> NumberedTexts:
        """Return the compared texts of kept documents, of other collections too, by row of keys."""
        if keys.lengths.sum() > COMMAND_BYTES and (count := len(keys.lengths) // 2):
            halves = keys.take(slice(count)), keys.take(slice(count, None))
            first, second = map(self.texts_of, halves)
            return first.merged(second._replace(numbers=second.numbers + count))
        if not (own := id_keys.are_own(keys)).all():
            return self._texts_in_all(keys, own)
        found, parts = self._stored.numbered_texts(keys)
        return found._replace(texts=self.rows.stored_to_compared(found.texts, parts=parts))

    def cleaned_texts(self, documents: Mapping[bytes, Document]) -> dict[bytes, str]:
        """Return the cleaned texts of documents by key; documents without a text are omitted."""
        texts = {key: d.content for key, d in documents.items() if isinstance(d.content, str)}
        return dict(zip(texts, self.rows.cleaner.clean_all([*texts.values()]), strict=True))

    def kept_documents(self, keys: Sequence[bytes]) -> Documents:
        """Return kept documents as stored, with compared texts, by `keys`; others are omitted."""
        found = {row.key: row for row in self._stored.find_by_key(keys, {})}
        rows = [found[key] for key in keys if key in found]
        return Documents.of(
            Document(id_keys.id_value(row.key), row.key, row.raw, text)
            for row in rows
            if (text := self.rows.read(row)[0]) is not None
        )

    def groups_of(self, keys: Sequence[bytes]) -> dict[bytes, int]:
        """Return the group numbers of kept documents by key; missing documents are omitted."""
        rows = self._stored.find_by_key(keys, self.rows.marks_only)
        return groups_in([row.key for row in rows], [row.raw for row in rows])

    def ranks_of(self, keys: BytesColumn) -> list[bytes]:
        """Return ranks of kept documents, empty if missing, highest if they cannot be replaced."""
        ranking = self.form.ranking
        if ranking is None:
            return [b""] * len(keys.lengths)
        own = id_keys.are_own(keys)
        copies = self.kept_documents(keys.take(own).list())
        ranks = dict(zip(copies.keys.list(), ranking.ranks(copies), strict=True))
        stored = zip(copies.keys.list(), copies.raw.list(), strict=True)
        ranks |= {key: _BEST for key, raw in stored if not fits_in_chunk(raw)}
        missing = [b"" if is_own else _BEST for is_own in own.tolist()]
        return [ranks.get(key, rank) for key, rank in zip(keys.list(), missing, strict=True)]

    def near_texts(self, groups: Mapping[int, list[bytes]], most: int) -> dict[int, list[str]]:
        """Return the source's texts of near duplicates by group, of a large one about `most` + 1.

        groups: keys of near duplicates not yet in the ledger, by group. Changed texts are omitted.
        """
        group_of = {key: group for group, keys in groups.items() for key in keys[: most + 1]}
        digests, fields = dict[bytes, int](), {"group": 1, "digest": 1}

        def rows(numbers: Sequence[int]) -> list[RawDocument]:
            only = {"group": {"$in": [*map(Int64, numbers)]}, "reason": "near"}
            limit = (most + 1) * len(numbers)
            found = self.reader(self.ledger).look_up(only, fields, limit=limit)
            is_cut = len(found) == limit and len(numbers) > 1  # some groups may lack rows
            return [row for one in numbers for row in rows([one])] if is_cut else found

        for row in rows([*groups]):
            values = raw_bson.fields_of(row.raw)
            group_of[row.key], digests[row.key] = values["group"], values["digest"]
        texts: dict[int, list[str]] = {group: [] for group in groups}
        for key, text in self.cleaned_texts(self.origin.documents([*group_of])).items():
            if digests.get(key) in (None, dropped_digest(text)):
                texts[group_of[key]].append(text)
        return texts

    def _texts_in_all(self, keys: BytesColumn, own: NDArray[np.bool_]) -> NumberedTexts:
        found = self.texts_of(keys.take(own)) if own.any() else NumberedTexts.of({})
        found = found._replace(numbers=np.flatnonzero(own)[found.numbers])
        elsewhere: dict[str, dict[int, bytes]] = {}
        for row in np.flatnonzero(~own).tolist():
            key = keys.at(row)
            elsewhere.setdefault(id_keys.reference_name(key), {})[row] = id_keys.own_key(key)
        for collection, ids in elsewhere.items():
            with suppress(UsageError):  # a forged name
                texts = self.other(collection).texts_of(strings_of([*ids.values()]))
                numbers = np.array([*ids], dtype=np.int64)[texts.numbers]
                found = found.merged(
                    NumberedTexts(numbers, self.rows.source_to_compared(texts.texts))
                )
        return found

    def other(self, collection: str, page: int = ROW_PAGE) -> Source:
        """Return another collection as a source, without query; UsageError for an invalid name."""
        name = Namespace.parse(collection, None, "the collection")
        every = self.form.source.model_copy(update={"query": None})
        client = self.documents.database.client
        return Source(client[name.database][name.collection], every, self.retry, (), page)

    def _check_empty(self) -> None:
        for collection in self.decided:
            if count := collection.estimated_document_count():
                raise StateMismatch(
                    "the target's collection {name} holds {count:,} documents that dedup did "
                    "not write. Name another --target, or remove them first.",
                    name=collection.full_name,
                    count=count,
                )
