"""The values that flow through a run: documents, batches and decisions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:  # reports need no arrays, and numpy takes 0.1 s to load
    import numpy as np
    from numpy.typing import NDArray

LONGEST_ID = 64 * 1024
"""Bytes of a key that is decided; a larger one would stand in rows of other documents, too."""


class Channel(StrEnum):
    """A way in which kept documents are found that may be duplicates of a text."""

    SIMHASH = "simhash"
    MINHASH = "minhash"
    SENTENCES = "sentences"
    FORM = "form"  # the same canonical form; there whenever the judge is, not a choice
    TEXT = "text"


class Reason(StrEnum):
    """Why a document was not kept."""

    EXACT = "exact"
    NEAR = "near"
    EMPTY = "empty"
    MISSING = "missing"
    NOT_TEXT = "not_text"
    TOO_LARGE = "too_large"
    UNDECODABLE = "undecodable"


class Refused(NamedTuple):
    """A kept document that a text is not a duplicate of.

    of: its key; similarity: of the texts, 0-1; kind: the class of the difference that keeps them
    apart, or "similarity".
    """

    of: bytes
    similarity: float
    kind: str


class Differing(NamedTuple):
    """A difference between a duplicate and the kept document: its class, the words of each."""

    kind: str
    of: str
    text: str


class Tried(NamedTuple):
    """What came of the kept documents that were found for a text.

    candidates: how many were found; cut: of these left aside, because there were too many;
    missing_originals: keys of those that someone removed from the target; refused: of a kept
    document, the nearest of those that were compared.
    """

    candidates: int = 0
    cut: int = 0
    missing_originals: tuple[bytes, ...] = ()
    refused: Refused | None = None


NOTHING_TRIED = Tried()


class Kept(NamedTuple):  # a frozen dataclass takes three times as long to make
    """The document is new and goes to the target."""

    fingerprint: int
    short: bool
    tried: Tried = NOTHING_TRIED


class Duplicate(NamedTuple):
    """An earlier kept document says the same; `of` is its key.

    `distance` is in bits (0-64), `similarity` in 0-1 or None where the texts were not compared,
    `found_by` names the channels that proposed `of`; `cluster` is the number of duplicates of
    `of` that this process has found, this one included; `differences` are those that the judge
    found, the first ones of many; `richer` names what it has that `of` lacks, such as an image.
    """

    of: bytes
    distance: int
    similarity: float | None
    found_by: tuple[str, ...]
    reason: Reason
    short: bool
    cluster: int = 1
    tried: Tried = NOTHING_TRIED
    differences: tuple[Differing, ...] = ()
    richer: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Skipped:
    """The document holds no text to compare."""

    reason: Reason


@dataclass(frozen=True, slots=True)
class Quarantined:
    """The document cannot be processed; a person should look at it."""

    reason: Reason
    detail: str


def too_long(text: str, most: int) -> Quarantined | None:
    """Return why a cleaned text is not compared, None where it has at most so many characters."""
    if len(text) <= most:
        return None
    return Quarantined(Reason.TOO_LARGE, f"text of {len(text):,} characters, limit {most:,}")


Refusal = Skipped | Quarantined
Decision = Kept | Duplicate | Skipped | Quarantined


class Document(NamedTuple):  # there is one for each document: a dataclass costs three times that
    """One source document on its way.

    `raw` is the whole document as the database gave it, opaque outside mongo/; `key` stands for
    `id` where ids are compared (equal keys, equal ids); `content` is the text, or why there is
    none; `text_at` is where the text's value begins in `raw`, 0 where that is not known; as_read
    tells whether the content is still the one that `raw` holds.
    """

    id: Any
    key: bytes
    raw: bytes
    content: str | Refusal
    text_at: int = 0
    as_read: bool = True

    def with_content(self, content: str | Refusal) -> Document:
        """Return the same document with another content."""
        id_, key, raw, _, text_at, _ = self
        return type(self)(id_, key, raw, content, text_at, as_read=False)


@dataclass(frozen=True, slots=True)
class Sketches:
    """What the channels besides simhash know of n texts.

    keys: uint32 (n, c), texts with an equal key in a column are candidates of each other;
    channels: the channel of each of the c columns. bits: uint64 (n, w), the share of equal bits
    of two texts estimates their similarity, w = 0 where it is not estimated.
    """

    keys: NDArray[np.uint32]
    bits: NDArray[np.uint64]
    channels: tuple[Channel, ...]

    def __getitem__(self, rows: slice | list[int] | NDArray[np.int64]) -> Sketches:
        """Return some of them."""
        return Sketches(self.keys[rows], self.bits[rows], self.channels)


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """Fingerprints of n texts.

    values: uint64 (n,), 64-bit simhash; of a short text the hash of the text itself.
    digests: uint64 (n,), a second, independent hash of the text; with `values` it tells equal
        texts.
    short: bool (n,), True where the text has too few features for a simhash.
    sketches: of the same texts, None where no channel needs them.
    """

    values: NDArray[np.uint64]
    digests: NDArray[np.uint64]
    short: NDArray[np.bool_]
    sketches: Sketches | None = None

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self.values)

    def __getitem__(self, rows: slice | list[int] | NDArray[np.int64]) -> Fingerprints:
        """Return some of them."""
        sketches = None if self.sketches is None else self.sketches[rows]
        return Fingerprints(self.values[rows], self.digests[rows], self.short[rows], sketches)


@dataclass(frozen=True, slots=True)
class Batch:
    """Documents in `_id` order with the fingerprints of those that have a text, in that order."""

    documents: tuple[Document, ...]
    fingerprints: Fingerprints


@dataclass(frozen=True, slots=True)
class KeptPage:
    """Documents that the target already holds, as the index needs them: n keys, n fingerprints.

    run: int64 (n,), the run that kept each document.
    """

    keys: list[bytes]
    fingerprints: Fingerprints
    run: NDArray[np.int64]

    def __getitem__(self, rows: NDArray[np.int64]) -> KeptPage:
        """Return some of them."""
        keys = [self.keys[row] for row in rows.tolist()]
        return KeptPage(keys, self.fingerprints[rows], self.run[rows])
