"""Batches of documents, fingerprints and decisions in columns."""

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
    concat_rowwise,
    digests_of,
    pack,
    repeated,
    strings_of,
)

KEPT = 0
REASONS = tuple(Reason)
CODES = {reason: code for code, reason in enumerate(REASONS, KEPT + 1)}
"""Outcomes as codes: KEPT, or that of the reason; EXACT and NEAR as in src/decision."""
EXACT, NEAR = CODES[Reason.EXACT], CODES[Reason.NEAR]
CHANNELS: tuple[str, ...] = _core.CHANNELS
"""The names of the channels, by bit."""


@dataclass(frozen=True, slots=True, eq=False)
class Documents:
    """n source documents in `_id` order; as a sequence, each as a value.

    raw, keys: n byte strings, documents and keys, see Document; text_at: int64 (n,), offset of the
    text's value in the document, 0 if unknown; as_read: bool (n,), whether the text is still the
    one of `raw`. rows: int64 (m,), ascending, the documents with a text; texts: of these; cut:
    int64 (m,), characters that cleaning cut off each; refusals: by row, of the documents without a
    text. id_of: returns the id of a key.

    Only for several text fields: marked, the texts with a break between the fields, see
    native/bytes_column; before cleaning `texts` are the same. field_offsets: int64 (n, k), offsets
    of the values of k fields, 0 if missing; `text_at` is the largest of them.

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
    field_offsets: NDArray[np.int64] | None = None
    former: Sequence[bytes] = ()

    @classmethod
    def of(
        cls, documents: Iterable[Document], id_of: Callable[[bytes], Any] | None = None
    ) -> "Documents":
        """Return documents in columns; id_of: None if the documents have their ids."""
        listed = list(documents)
        ids = {} if id_of else {document.key: document.id for document in listed}
        contents = {row: document.content for row, document in enumerate(listed)}
        texts = {row: text for row, text in contents.items() if isinstance(text, str)}
        return cls(
            raw=strings_of([document.raw for document in listed]),
            keys=strings_of([document.key for document in listed]),
            text_at=np.array([document.text_at for document in listed], dtype=np.int64),
            as_read=np.array([document.as_read for document in listed], dtype=np.bool_),
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

    def with_refusals(self, refusals: Mapping[int, Refusal]) -> "Documents":
        """Return a copy in which the texts of some rows are replaced by refusals."""
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
    """Sketches of n texts, for all channels but simhash.

    keys: uint32 (n, c), texts with an equal key in a column are candidates of each other;
    channels: the channel of each of the c columns. bits: uint64 (n, w), the share of equal bits
    of two texts estimates their similarity, w = 0 without an estimate. read: the texts as the core
    parsed them for the sketches (`_core.ReadTexts`), if it did and no row was left out.
    """

    keys: NDArray[np.uint32]
    bits: NDArray[np.uint64]
    channels: tuple[Channel, ...]
    read: Any = None

    def __getitem__(self, rows: slice | list[int] | NDArray[np.int64]) -> "Sketches":
        return Sketches(self.keys[rows], self.bits[rows], self.channels)


FINGERPRINT = np.dtype([*_core.FINGERPRINT], align=True)
"""value: 64-bit simhash, or the hash of a short text, which has too few features. digest: an
independent hash; texts with the same value and digest count as equal. short: bool."""


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """Fingerprints of n texts, FINGERPRINT (n,), and their sketches, None if no channel has any."""

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
        """Return fingerprints from columns of length n, see FINGERPRINT."""
        rows = np.empty(len(values), dtype=FINGERPRINT)
        rows["value"], rows["digest"], rows["short"] = values, digests, short
        return cls(rows, sketches)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def values(self) -> NDArray[np.uint64]:
        """Simhashes, or hashes of short texts, uint64 (n,)."""
        return self.rows["value"]

    @property
    def short(self) -> NDArray[np.bool_]:
        """Whether each text has too few features for a simhash, bool (n,)."""
        return self.rows["short"]

    @property
    def core_arguments(self) -> tuple[NDArray[Any], ...]:
        """The arguments of the core: bytes of the records, keys and bits of the sketches."""
        keys, bits = np.empty((len(self), 0), np.uint32), np.empty((len(self), 0), np.uint64)
        if self.sketches is not None:
            keys, bits = map(np.ascontiguousarray, (self.sketches.keys, self.sketches.bits))
        return np.ascontiguousarray(self.rows).view(np.uint8), keys, bits

    def __getitem__(self, rows: slice | list[int] | NDArray[np.int64]) -> "Fingerprints":
        return Fingerprints(self.rows[rows], self.sketches and self.sketches[rows])


@dataclass(frozen=True, slots=True)
class Batch:
    """Documents, and fingerprints and ranks of their texts; ranks: larger for a better copy."""

    documents: Documents
    fingerprints: Fingerprints
    ranks: Sequence[bytes] | None = None


def founder_group_ids(keys: BytesColumn) -> NDArray[np.int64]:
    """Return the ids of the groups that n documents found, hashes of their keys: int64 (n,).

    Two of 50 million collide with probability 0.0001, which no decision depends on.
    """
    return digests_of(keys).view(np.int64)


@dataclass(frozen=True, slots=True)
class KeptPage:
    """n kept documents of the target, for the index.

    run: int64 (n,), the run that kept each document; groups: by row, of documents that joined the
    group of another one.
    """

    keys: list[bytes]
    fingerprints: Fingerprints
    run: NDArray[np.int64]
    groups: Mapping[int, int] = field(default_factory=dict)

    def __getitem__(self, rows: NDArray[np.int64]) -> "KeptPage":
        keys = [self.keys[row] for row in rows.tolist()]
        numbered = enumerate(rows.tolist()) if self.groups else ()
        groups = {i: self.groups[row] for i, row in numbered if row in self.groups}
        return KeptPage(keys, self.fingerprints[rows], self.run[rows], groups)


class NumberedTexts(NamedTuple):
    """n texts with their numbers, int64 (n,), ascending."""

    numbers: NDArray[np.int64]
    texts: TextColumn

    @classmethod
    def of(cls, texts: Mapping[int, str]) -> "NumberedTexts":
        """Return the texts of a mapping by number."""
        numbers = sorted(texts)
        return cls(np.array(numbers, dtype=np.int64), pack([texts[number] for number in numbers]))

    def by_key(self, keys: Sequence[bytes]) -> dict[bytes, str]:
        """Return the texts by key, where each number is a position in `keys`."""
        chosen = [keys[row] for row in self.numbers.tolist()]
        return dict(zip(chosen, self.texts.texts(), strict=True))

    def merged(self, more: "NumberedTexts") -> "NumberedTexts":
        """Return the texts of both, which have no number in common."""
        numbers = np.concatenate([self.numbers, more.numbers])
        order, own = np.argsort(numbers), len(self.numbers)
        rows = np.argsort(order)  # of each number, in the result
        columns = (self.texts, rows[:own]), (more.texts, rows[own:])
        texts = concat_rowwise(*(texts.scattered(at, len(numbers)) for texts, at in columns))
        return NumberedTexts(numbers[order], texts)


IdMembership = Callable[[BytesColumn], NDArray[np.bool_]]
"""Returns whether each of n ids is held, bool (n,); False may be wrong."""


class Names(NamedTuple):
    """The names of codes and bits in decisions.

    kinds: what keeps texts apart, by code; richer: by bit; collections: of reference collections by
    code, from 1 on as 0 is the target, empty without any.
    """

    kinds: tuple[str, ...] = ()
    richer: tuple[str, ...] = ()
    collections: tuple[str, ...] = ()


_NO_NAMES = Names()
DECISION = np.dtype([*_core.DECISION], align=True)
"""The decision on a document. Values that do not apply are 0.

outcome: KEPT or the code of a reason. Of a text: fingerprint; short; candidates: how many kept
documents were found; cut: how many of them were not compared, as there were too many; group, 0 if
it is in a reference collection; superseded: by a later, better copy.

Of the pair of a duplicate with the kept document, or of a kept document with its nearest candidate,
see Pair: distance; similarity, NaN if texts are not compared; channels: bits of CHANNELS; apart: a
code of `Names.kinds`; richer: bits of `Names.richer`; left_out: a percentage; probability, NaN if
the model does not decide; collection: code of the collection of the document `of`.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Decisions:
    """Decisions on n documents; `[row]` is one as a value, `["field"]` a column.

    rows: DECISION (n,); of: n byte strings, keys of the other documents of pairs, empty without a
    pair. By row, if there are any: differences; missing: keys of candidates that were removed from
    the target; refusals: of documents without a text. superseded: kept documents of which the batch
    has better copies.
    """

    rows: NDArray[Any]
    of: BytesColumn
    names: Names = _NO_NAMES
    differences: Mapping[int, tuple[Difference, ...]] = field(default_factory=dict)
    missing: Mapping[int, tuple[bytes, ...]] = field(default_factory=dict)
    refusals: Mapping[int, Refusal] = field(default_factory=dict)
    superseded: "Superseded | None" = None

    @classmethod
    def all_kept(cls, fingerprints: NDArray[np.uint64], names: Names = _NO_NAMES) -> "Decisions":
        """Return decisions to keep n documents, in arrays that a caller may fill."""
        rows = np.zeros(len(fingerprints), dtype=DECISION)
        rows["fingerprint"], rows["probability"] = fingerprints, np.nan
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
        numbered = enumerate(rows.tolist())
        own = {i: self.differences[row] for i, row in numbered if row in self.differences}
        return Decisions(self.rows[rows], self.of.take(rows), self.names, own)

    @property
    def kept(self) -> NDArray[np.bool_]:
        """Whether each document is kept, bool (n,)."""
        return np.asarray(self["outcome"] == KEPT)

    @property
    def refused(self) -> NDArray[np.bool_]:
        """Whether each document is kept although it had a candidate, bool (n,)."""
        return self.kept & (self.of.lengths > 0)

    def have_reason(self, reason: Reason) -> NDArray[np.bool_]:
        """Return whether each document has this reason, bool (n,)."""
        return np.asarray(self["outcome"] == CODES[reason])

    def with_refusals(self, documents: Documents) -> "Decisions":
        """Return the decisions on all documents: these, and the refusals."""
        own, n = documents.rows, len(documents)
        if len(own) == n:
            return self
        rows = np.zeros(n, dtype=DECISION)
        rows[own] = self.rows
        for row, refusal in documents.refusals.items():
            rows["outcome"][row] = CODES[refusal.reason]
        return Decisions(
            rows,
            self.of.scattered(own, n),
            self.names,
            {int(own[row]): found for row, found in self.differences.items()},
            {int(own[row]): found for row, found in self.missing.items()},
            documents.refusals,
            self.superseded and self.superseded._replace(rows=own[self.superseded.rows]),
        )


class Superseded(NamedTuple):
    """n kept documents that better copies replace: their keys, and the decisions that drop them.

    rows: int64 (n,), the documents of the batch that replace them. The decision names that one as
    original, or one that it superseded in turn.
    """

    rows: NDArray[np.int64]
    keys: BytesColumn
    decisions: Decisions
