"""The values that flow through a run: documents, batches and decisions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Reason(StrEnum):
    """Why a document was not kept."""

    EXACT = "exact"
    NEAR = "near"
    EMPTY = "empty"
    MISSING = "missing"
    NOT_TEXT = "not_text"
    TOO_LARGE = "too_large"
    UNDECODABLE = "undecodable"


@dataclass(frozen=True, slots=True)
class Kept:
    """The document is new and goes to the target."""

    fingerprint: int
    short: bool


@dataclass(frozen=True, slots=True)
class Duplicate:
    """An earlier kept document says the same; `of` is its key.

    `distance` is in bits (0-64), `similarity` in 0-1 or None where the texts were not compared,
    `found_by` names the channels that proposed `of`.
    """

    of: bytes
    distance: int
    similarity: float | None
    found_by: tuple[str, ...]
    reason: Reason
    short: bool


@dataclass(frozen=True, slots=True)
class Skipped:
    """The document holds no text to compare."""

    reason: Reason


@dataclass(frozen=True, slots=True)
class Quarantined:
    """The document cannot be processed; a person should look at it."""

    reason: Reason
    detail: str


Refusal = Skipped | Quarantined
Decision = Kept | Duplicate | Skipped | Quarantined


@dataclass(frozen=True, slots=True)
class Document:
    """One source document on its way.

    `raw` is the whole document as the database gave it, opaque outside mongo/; `key` stands for
    `id` where ids are compared (equal keys, equal ids); `content` is the text, or why there is
    none.
    """

    id: Any
    key: bytes
    raw: bytes
    content: str | Refusal

    def with_content(self, content: str | Refusal) -> Document:
        """Return the same document with another content."""
        return replace(self, content=content)


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """Fingerprints of n texts.

    values: uint64 (n,), 64-bit simhash; of a short text the hash of the text itself.
    digests: uint64 (n,), a second, independent hash of the text; with `values` it tells equal
        texts.
    short: bool (n,), True where the text has too few features for a simhash.
    """

    values: NDArray[np.uint64]
    digests: NDArray[np.uint64]
    short: NDArray[np.bool_]

    def __getitem__(self, rows: slice | list[int]) -> Fingerprints:
        """Return some of them."""
        return Fingerprints(self.values[rows], self.digests[rows], self.short[rows])


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
