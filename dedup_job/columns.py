"""What flows through a run in columns: documents, fingerprints and decisions, a batch at a time."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from dedup_job import _core
from dedup_job.documents import (
    Channel,
    Decision,
    Difference,
    Document,
    Duplicate,
    Kept,
    Pair,
    Reason,
    Refusal,
    names_of,
)
from dedup_job.native.bytes_column import (
    BytesColumn,
    TextColumn,
    concatenated,
    digests_of,
    pack,
    repeated,
    strings_of,
)

KEPT = 0
REASONS = tuple(Reason)
CODES = {reason: code for code, reason in enumerate(REASONS, KEPT + 1)}
"""The outcome of a document as a number: KEPT, or the code of the reason why it is not kept."""
EXACT, NEAR = CODES[Reason.EXACT], CODES[Reason.NEAR]
CHANNELS: tuple[str, ...] = _core.CHANNELS
"""Names of the channels; bit i stands for name i."""


@dataclass(frozen=True, slots=True, eq=False)
class Documents:
    """n source documents in `_id` order; as a sequence, each as a value.

    raw, keys: n byte strings, the documents and what stands for their ids, see Document; text_at:
    int64 (n,), where the text's value begins in the document, 0 where that is not known; as_read:
    bool (n,), whether the text is still the one of `raw`. rows: int64 (m,), ascending, the
    documents that have a text; texts: these texts; cut: int64 (m,), characters that cleaning cut
    off each; refusals: by row, why the others have none. id_of: gives the id of a key.

    Where documents have several texts: marked, the texts with a break between the parts, see
    native/bytes_column; before cleaning `texts` are the same. places: int64 (n, k), where the value
    of each of k fields begins, 0 where there is none; `text_at` is the largest of them.

    former: keys of decided documents that are decided again here, or leave with that decision.
    """

    raw: BytesColumn
    keys: BytesColumn
    text_at: NDArray[np.int64]
    as_read: NDArray[np.bool_]
    rows: NDArray[np.int64]
    texts: TextColumn
    cut: NDArray[np.int64]
    refusals: Mapping[int, Refusal]
    id_of: Callable[[bytes], Any]
    marked: TextColumn | None = None
    places: NDArray[np.int64] | None = None
    former: Sequence[bytes] = ()

    @classmethod
    def of(
        cls, documents: Iterable[Document], id_of: Callable[[bytes], Any] | None = None
    ) -> "Documents":
        """Return documents in columns; id_of: None where those given know their ids."""
        given = list(documents)
        ids = {} if id_of else {document.key: document.id for document in given}
        contents = {row: document.content for row, document in enumerate(given)}
        texts = {row: text for row, text in contents.items() if isinstance(text, str)}
        return cls(
            raw=strings_of([document.raw for document in given]),
            keys=strings_of([document.key for document in given]),
            text_at=np.array([document.text_at for document in given], dtype=np.int64),
            as_read=np.array([document.as_read for document in given], dtype=np.bool_),
            rows=np.array([*texts], dtype=np.int64),
            texts=pack([*texts.values()]),
            cut=np.zeros(len(texts), dtype=np.int64),
            refusals={row: c for row, c in contents.items() if not isinstance(c, str)},
            id_of=id_of or ids.__getitem__,
        )

    def __len__(self) -> int:
        return len(self.text_at)

    def __iter__(self) -> Iterator[Document]:
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, row: int) -> Document:
        content: str | Refusal | None = self.refusals.get(row)
        if content is None:
            content = self.texts.text(int(np.searchsorted(self.rows, row)))
        key, at, as_read = self.keys.at(row), int(self.text_at[row]), bool(self.as_read[row])
        return Document(self.id_of(key), key, self.raw.at(row), content, at, as_read)

    def without(self, refusals: Mapping[int, Refusal]) -> "Documents":
        """Return the documents without the texts that are refused now, by row."""
        stay = ~np.isin(self.rows, [*refusals])
        return replace(
            self,
            rows=self.rows[stay],
            texts=self.texts.take(stay),
            cut=self.cut[stay],
            marked=None if self.marked is None else self.marked.take(stay),
            refusals={**self.refusals, **refusals},
        )


@dataclass(frozen=True, slots=True)
class Sketches:
    """What the channels besides simhash know of n texts.

    keys: uint32 (n, c), texts with an equal key in a column are candidates of each other;
    channels: the channel of each of the c columns. bits: uint64 (n, w), the share of equal bits
    of two texts estimates their similarity, w = 0 where it is not estimated. read: what was read
    of the texts on the way, for who needs it again; None where nothing was, or it was left out.
    """

    keys: NDArray[np.uint32]
    bits: NDArray[np.uint64]
    channels: tuple[Channel, ...]
    read: Any = None

    def __getitem__(self, rows: slice | list[int] | NDArray[np.int64]) -> "Sketches":
        return Sketches(self.keys[rows], self.bits[rows], self.channels)


FINGERPRINT = np.dtype([*_core.FINGERPRINT], align=True)
"""value: 64-bit simhash; of a short text, which has too few features for one, its hash. digest: a
second, independent hash; with the value it tells equal texts. short: whether the text is."""


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """Fingerprints of n texts.

    rows: FINGERPRINT (n,); sketches: of the same texts, None where no channel needs them.
    """

    rows: NDArray[Any]
    sketches: Sketches | None = None

    @classmethod
    def of(
        cls,
        values: NDArray[np.uint64],
        digests: NDArray[np.uint64],
        short: NDArray[np.bool_],
        sketches: Sketches | None = None,
    ) -> "Fingerprints":
        """Return fingerprints given by columns, see FINGERPRINT."""
        rows = np.empty(len(values), dtype=FINGERPRINT)
        rows["value"], rows["digest"], rows["short"] = values, digests, short
        return cls(rows, sketches)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def values(self) -> NDArray[np.uint64]:
        """The 64-bit simhashes, or hashes of short texts."""
        return self.rows["value"]

    @property
    def short(self) -> NDArray[np.bool_]:
        """Which texts have too few features for a simhash."""
        return self.rows["short"]

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """The records, and keys and bits of the sketches, as the core takes them."""
        keys, bits = np.empty((len(self), 0), np.uint32), np.empty((len(self), 0), np.uint64)
        if self.sketches is not None:
            keys, bits = map(np.ascontiguousarray, (self.sketches.keys, self.sketches.bits))
        return np.ascontiguousarray(self.rows).view(np.uint8), keys, bits

    def __getitem__(self, rows: slice | list[int] | NDArray[np.int64]) -> "Fingerprints":
        return Fingerprints(self.rows[rows], self.sketches and self.sketches[rows])


@dataclass(frozen=True, slots=True)
class Batch:
    """Documents with the fingerprints of those that have a text, in that order.

    ranks: of these, the better copy has the larger one; None where the first copy stays.
    """

    documents: Documents
    fingerprints: Fingerprints
    ranks: Sequence[bytes] | None = None


def own_groups(keys: BytesColumn) -> NDArray[np.int64]:
    """Return the groups that n documents would found, by their keys: int64 (n,), see docs/design.

    Two of 50 million share a number with probability 0.0001, which nothing depends on.
    """
    return digests_of(keys).view(np.int64)


@dataclass(frozen=True, slots=True)
class KeptPage:
    """Documents that the target already holds, as the index needs them: n keys, n fingerprints.

    run: int64 (n,), the run that kept each document; groups: by row, of those that did not found
    the group that they are in.
    """

    keys: list[bytes]
    fingerprints: Fingerprints
    run: NDArray[np.int64]
    groups: Mapping[int, int] = field(default_factory=dict)

    def __getitem__(self, rows: NDArray[np.int64]) -> "KeptPage":
        keys = [self.keys[row] for row in rows.tolist()]
        places = enumerate(rows.tolist()) if self.groups else ()
        groups = {i: self.groups[row] for i, row in places if row in self.groups}
        return KeptPage(keys, self.fingerprints[rows], self.run[rows], groups)


class NumberedTexts(NamedTuple):
    """Texts of some of many: numbers, int64 (n,), ascending, and n texts."""

    numbers: NDArray[np.int64]
    texts: TextColumn

    @classmethod
    def of(cls, texts: Mapping[int, str]) -> "NumberedTexts":
        """Return texts given by number."""
        numbers = sorted(texts)
        return cls(np.array(numbers, dtype=np.int64), pack([texts[number] for number in numbers]))

    def by_key(self, keys: Sequence[bytes]) -> dict[bytes, str]:
        """Return the texts by key; a number is the row of its key."""
        named = [keys[row] for row in self.numbers.tolist()]
        return dict(zip(named, self.texts.texts(), strict=True))

    def joined(self, other: "NumberedTexts") -> "NumberedTexts":
        """Return the texts of both, which have no number in common."""
        numbers = np.concatenate([self.numbers, other.numbers])
        order, own = np.argsort(numbers), len(self.numbers)
        rows = np.argsort(order)  # in the result, of each
        parts = (self.texts, rows[:own]), (other.texts, rows[own:])
        texts = concatenated(*(part.scattered(at, len(numbers)) for part, at in parts))
        return NumberedTexts(numbers[order], texts)


Holding = Callable[[BytesColumn], NDArray[np.bool_]]
"""Tells which of n ids are held, bool (n,); it may overlook some."""


class Names(NamedTuple):
    """What numbers in decisions stand for: what keeps texts apart by code; richer by bit.

    places: names of other collections by code; code 0 stands for the target. Empty without others.
    """

    kinds: tuple[str, ...] = ()
    richer: tuple[str, ...] = ()
    places: tuple[str, ...] = ()


_NO_NAMES = Names()
DECISION = np.dtype([*_core.DECISION], align=True)
"""What is decided of a document. Values that a decision lacks are 0.

outcome: KEPT or the code of a reason. Of a text: fingerprint; short; candidates: how many kept
documents were found; cut: how many of them were left aside, because there were too many. Of a
duplicate the pair with the kept document, of a kept one with its nearest
candidate, see Pair: distance; similarity: NaN if texts are not compared; channels: bits for
CHANNELS; apart: a code for the names; richer: bits for the names; left_out: a percentage;
probability: NaN if the model does not say; place: code of the other collection that the document
`of` lies in, which its key names as well. group: of a text the group that it is in, 0 if that is
of another collection; superseded: by a later, better copy.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Decisions:
    """Decisions on n documents; as a sequence, each as a value, by a field's name its column.

    rows: DECISION (n,); of: n byte strings, keys of the other documents of pairs, empty where
    there is no pair. By row, where there are some: differences; missing: keys of candidates that
    someone removed from the target; refusals: of all without a text. superseded: kept documents
    that the batch has better copies of, if any.
    """

    rows: NDArray[Any]
    of: BytesColumn
    names: Names = _NO_NAMES
    differences: Mapping[int, tuple[Difference, ...]] = field(default_factory=dict)
    missing: Mapping[int, tuple[bytes, ...]] = field(default_factory=dict)
    refusals: Mapping[int, Refusal] = field(default_factory=dict)
    superseded: "Superseded | None" = None

    @classmethod
    def all_kept(
        cls, fingerprints: NDArray[np.uint64], short: NDArray[np.bool_], names: Names = _NO_NAMES
    ) -> "Decisions":
        """Return as many decisions to keep a document, in arrays that can be filled."""
        rows = np.zeros(len(fingerprints), dtype=DECISION)
        rows["fingerprint"], rows["short"], rows["probability"] = fingerprints, short, np.nan
        return cls(rows, repeated(b"", len(rows)), names)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Decision]:
        return map(self.__getitem__, range(len(self)))

    @overload
    def __getitem__(self, row: int) -> Decision: ...
    @overload
    def __getitem__(self, row: str) -> NDArray[Any]: ...
    def __getitem__(self, row: int | str) -> Decision | NDArray[Any]:
        if isinstance(row, str):
            return self.rows[row]
        own = self.rows[row]
        outcome, short = int(own["outcome"]), bool(own["short"])
        pair = self._pair(row)
        if outcome == KEPT:
            return Kept(int(own["fingerprint"]), short, pair)
        return self.refusals[row] if pair is None else Duplicate(REASONS[outcome - 1], short, pair)

    def _pair(self, row: int) -> Pair | None:
        if not (of := self.of.at(row)):
            return None
        own = self.rows[row]
        similarity, probability = float(own["similarity"]), float(own["probability"])
        return Pair(
            of,
            int(own["distance"]),
            None if np.isnan(similarity) else similarity,
            names_of(int(own["channels"]), CHANNELS),
            self.names.kinds[own["apart"]] if own["outcome"] == KEPT else "",
            self.differences.get(row, ()),
            names_of(int(own["richer"]), self.names.richer),
            int(own["left_out"]) / 100,
            None if np.isnan(probability) else probability,
        )

    def take(self, rows: NDArray[np.int64]) -> "Decisions":
        """Return the decisions of some rows, in this order, with their differences."""
        places = enumerate(rows.tolist())
        own = {i: self.differences[row] for i, row in places if row in self.differences}
        return Decisions(self.rows[rows], self.of.take(rows), self.names, own)

    @property
    def kept(self) -> NDArray[np.bool_]:
        """Which documents are kept, bool (n,)."""
        return np.asarray(self["outcome"] == KEPT)

    @property
    def refused(self) -> NDArray[np.bool_]:
        """Which kept documents had a candidate, bool (n,)."""
        return self.kept & (self.of.lengths > 0)

    def are(self, reason: Reason) -> NDArray[np.bool_]:
        """Tell which documents are not kept for a reason, bool (n,)."""
        return np.asarray(self["outcome"] == CODES[reason])

    def among(self, documents: Documents) -> "Decisions":
        """Return the decisions on all documents, given those on their texts."""
        places, n = documents.rows, len(documents)
        if len(places) == n:
            return self
        rows = np.zeros(n, dtype=DECISION)
        rows[places] = self.rows
        for row, refusal in documents.refusals.items():
            rows["outcome"][row] = CODES[refusal.reason]
        return Decisions(
            rows,
            self.of.scattered(places, n),
            self.names,
            {int(places[row]): found for row, found in self.differences.items()},
            {int(places[row]): found for row, found in self.missing.items()},
            documents.refusals,
            self.superseded and self.superseded._replace(rows=places[self.superseded.rows]),
        )


class Superseded(NamedTuple):
    """Kept documents that gave way to better copies: n keys, and the decisions that drop them.

    rows: int64 (n,), the documents of the batch that stand for them now: each is a duplicate of
    that one, or of another one that gave way to it.
    """

    rows: NDArray[np.int64]
    keys: BytesColumn
    decisions: Decisions
