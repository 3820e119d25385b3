"""Documents and decisions as values; in a run they flow in columns, see columns.py."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from dedup_job.messages import Message

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


NO_TEXT = {
    "skipped": (Reason.EMPTY, Reason.MISSING, Reason.NOT_TEXT),
    "quarantined": (Reason.TOO_LARGE, Reason.UNDECODABLE),
}
"""For which reasons documents that are not compared get a decision."""


_TURNED = {"inserted": "deleted", "deleted": "inserted"}


class Difference(NamedTuple):
    """A difference between a document and a kept one: its kind, the part, the words of each."""

    kind: str
    place: str
    of: str
    text: str

    def turned(self) -> "Difference":
        """Return it as told of the other document."""
        kind = _TURNED.get(self.kind, self.kind)
        return Difference(kind, self.place, self.text, self.of)

    def as_row(self) -> dict[str, str]:
        """Return it as a row of the ledger and a line of a listing hold it."""
        return {"class": self.kind, "in": self.place, "of": self.of, "text": self.text}


class Pair(NamedTuple):
    """A document and the kept one that it was compared with.

    of: key of the kept document; distance: in bits, 0-64; similarity: 0-1, None where texts are not
    compared; found_by: the channels that proposed the kept document; kind: what keeps the two
    apart, a guard, "unlikely" or "similarity", "" of duplicates; differences: the first ones that
    the judge found; richer: what the document has that the kept one lacks, such as an image;
    left_out: share of the text that was not compared, of the two texts the larger one; probability:
    that an editor would keep only one, None where the model did not say.
    """

    of: bytes
    distance: int
    similarity: float | None
    found_by: tuple[str, ...]
    kind: str = ""
    differences: tuple[Difference, ...] = ()
    richer: tuple[str, ...] = ()
    left_out: float = 0
    probability: float | None = None

    @property
    def measure(self) -> float | None:
        """What a threshold decides by: the probability where the model says it, or similarity."""
        return self.similarity if self.probability is None else self.probability


class Kept(NamedTuple):  # a frozen dataclass takes three times as long to make
    """The document is new and goes to the target; nearest: it and the nearest candidate, if any."""

    fingerprint: int
    short: bool
    nearest: Pair | None = None


class Duplicate(NamedTuple):
    """An earlier kept document says the same."""

    reason: Reason
    short: bool
    pair: Pair


@dataclass(frozen=True, slots=True)
class Skipped:
    """The document holds no text to compare; detail: in which of several fields."""

    reason: Reason
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Quarantined:
    """The document cannot be processed; a person should look at it."""

    reason: Reason
    detail: str


def too_long(characters: int, most: int) -> Quarantined:
    """Return why a cleaned text of so many characters is not compared."""
    return Quarantined(
        Reason.TOO_LARGE,
        Message(
            "text of {characters:,} characters, limit {most:,}", characters=characters, most=most
        ),
    )


Refusal = Skipped | Quarantined
_MARKUP = 10  # times as long as its text a page may be; a longer one is not even cleaned


def longest_before(most: int) -> int:
    """Return how long a text may be before it is cleaned, with that limit for a cleaned one."""
    return _MARKUP * most


def too_long_before(characters: int, most: int) -> Quarantined:
    """Return why a text of so many characters is not cleaned, with that limit for a cleaned one."""
    detail = Message(
        "text of {characters:,} characters before cleaning, limit {most:,}",
        characters=characters,
        most=longest_before(most),
    )
    return Quarantined(Reason.TOO_LARGE, detail)


def uncleaned(content: str | Refusal, most: int) -> str | Refusal:
    """Return the content, or the refusal of a text that is too long to be cleaned."""
    is_long = isinstance(content, str) and len(content) > longest_before(most)
    return too_long_before(len(str(content)), most) if is_long else content


def content_of(text: str, most: int) -> str | Refusal:
    """Return a cleaned text, or why one without or with more than so many characters is not."""
    if not text:
        return Skipped(Reason.EMPTY)
    return text if len(text) <= most else too_long(len(text), most)


Decision = Kept | Duplicate | Skipped | Quarantined


class Document(NamedTuple):  # there is one for each document: a dataclass costs three times that
    """One source document on its way.

    `raw` is the whole document as the database gave it, opaque outside mongo/; `key` stands for
    `id` where ids are compared (equal keys, equal ids); `content` is the text, or why there is
    none; `text_at` is where the text's value begins in `raw`, 0 if unknown; as_read
    tells whether the content is still the one that `raw` holds.
    """

    id: Any
    key: bytes
    raw: bytes
    content: str | Refusal
    text_at: int = 0
    as_read: bool = True

    def with_content(self, content: str | Refusal) -> "Document":
        """Return the same document with another content."""
        id_, key, raw, _, text_at, _ = self
        return type(self)(id_, key, raw, content, text_at, as_read=False)


def names_of(bits: int, names: Sequence[str]) -> tuple[str, ...]:
    """Return the names with a set bit, in order."""
    return tuple(name for i, name in enumerate(names) if bits >> i & 1)
