"""Documents and decisions as values; in a run they flow in columns, see columns.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

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
    """The kept documents that were found for a text, and how many were compared.

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
    found, the first ones of many; `richer` names what it has that `of` lacks, such as an image;
    `left_out` is the share, in hundredths, of its text or that of `of` that was not compared, the
    larger one.
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
    left_out: float = 0


@dataclass(frozen=True, slots=True)
class Skipped:
    """The document holds no text to compare."""

    reason: Reason


@dataclass(frozen=True, slots=True)
class Quarantined:
    """The document cannot be processed; a person should look at it."""

    reason: Reason
    detail: str


def too_long(characters: int, most: int) -> Quarantined:
    """Return why a cleaned text of so many characters is not compared."""
    return Quarantined(Reason.TOO_LARGE, f"text of {characters:,} characters, limit {most:,}")


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


def names_of(bits: int, names: Sequence[str]) -> tuple[str, ...]:
    """Return the names whose bits are set, in order."""
    return tuple(name for i, name in enumerate(names) if bits >> i & 1)
