"""Documents and decisions as values; batches of them are in columns, see columns.py."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from dedup_job.messages import Message

LONGEST_ID = 64 * 1024
"""The most bytes of a key; rows of other documents repeat it."""


class Channel(StrEnum):
    """A method of finding candidates among the kept documents."""

    SIMHASH = "simhash"
    MINHASH = "minhash"
    SENTENCES = "sentences"
    FORM = "form"  # the same canonical form; always used with the judge, not a choice
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
"""The reasons of documents without a text that is compared, by decision."""

_TURNED = {"inserted": "deleted", "deleted": "inserted"}


class Difference(NamedTuple):
    """A difference of two texts: its kind, the part of the text, the words of both."""

    kind: str
    place: str
    of: str
    text: str

    def turned(self) -> "Difference":
        """Return the difference as seen from the original."""
        kind = _TURNED.get(self.kind, self.kind)
        return Difference(kind, self.place, self.text, self.of)

    def as_row(self) -> dict[str, str]:
        """Return the fields of a difference in the ledger and in listings."""
        return {"class": self.kind, "in": self.place, "of": self.of, "text": self.text}


class Pair(NamedTuple):
    """A document and the kept one that it was compared with.

    of: key of the kept document; distance: in bits, 0-64; similarity: 0-1, None if texts are not
    compared; found_by: the channels that proposed the kept document; kind: what keeps the two
    apart, a guard, "unlikely" or "similarity", "" of duplicates; differences: the first few;
    richer: kinds of content of the document that the kept one lacks, such as an image; left_out:
    share of the text that was not compared, the larger one of both texts; probability: that an
    editor would keep only one, None if the model did not decide.
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
        """The value for the threshold: the probability, or the similarity if there is none."""
        return self.similarity if self.probability is None else self.probability


class Kept(NamedTuple):  # a frozen dataclass takes three times as long to make
    """A decision to keep a document; nearest: its pair with the nearest candidate, if any."""

    fingerprint: int
    short: bool
    nearest: Pair | None = None


class Duplicate(NamedTuple):
    """The document has the same content as a kept one; short: its text is."""

    reason: Reason
    short: bool
    pair: Pair


@dataclass(frozen=True, slots=True)
class Skipped:
    """The document has no text to compare; detail: the field, if there are several."""

    reason: Reason
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Quarantined:
    """The document cannot be processed; a person should look at it."""

    reason: Reason
    detail: str


def length_refusal(characters: int, most: int) -> Quarantined:
    """Return the refusal of a cleaned text of n characters."""
    detail = Message(
        "text of {characters:,} characters, limit {most:,}", characters=characters, most=most
    )
    return Quarantined(Reason.TOO_LARGE, detail)


Refusal = Skipped | Quarantined
MARKUP = 10
"""The most characters of a page to one of its text; a longer page is not even cleaned."""


def raw_or_refusal(content: str | Refusal, most: int) -> str | Refusal:
    """Return the content, or a refusal if too long to clean; most: limit of a clean text."""
    limit = MARKUP * most
    if not isinstance(content, str) or len(content) <= limit:
        return content
    detail = Message(
        "text of {characters:,} characters before cleaning, limit {most:,}",
        characters=len(content),
        most=limit,
    )
    return Quarantined(Reason.TOO_LARGE, detail)


def text_or_refusal(text: str, most: int) -> str | Refusal:
    """Return a cleaned text, or a refusal if it is empty or has more than `most` characters."""
    if not text:
        return Skipped(Reason.EMPTY)
    return text if len(text) <= most else length_refusal(len(text), most)


Decision = Kept | Duplicate | Skipped | Quarantined


class Document(NamedTuple):  # there is one for each document: a dataclass costs three times that
    """A source document.

    raw: the BSON document, opaque outside mongo/; key: the `_id` field, equal for equal ids;
    content: the text, or why there is none; text_at: offset of the text's value in `raw`, 0 if
    unknown; as_read: whether the content is still that of `raw`.
    """

    id: Any
    key: bytes
    raw: bytes
    content: str | Refusal
    text_at: int = 0
    as_read: bool = True

    def with_content(self, content: str | Refusal) -> "Document":
        """Return a copy with other content."""
        return self._replace(content=content, as_read=False)


def names_of(bits: int, names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the set bits, in order."""
    return tuple(name for i, name in enumerate(names) if bits >> i & 1)
