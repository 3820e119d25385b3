"""What a server offers to a user who has named nothing yet, as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


class TextField(NamedTuple):
    """A field that holds text; share: of documents, 0-1; characters: the mean of those texts."""

    name: str
    share: float
    characters: float


@dataclass(frozen=True, slots=True)
class Offered:
    """A collection that may be a source; fields: the likeliest one to be the text first."""

    name: str
    documents: int
    fields: Sequence[TextField]


@dataclass(frozen=True, slots=True)
class Overview:
    """What a server holds: the largest collections, and how many more.

    smaller: smaller ones or empty ones; unseen: those that nobody counted, for want of time.
    """

    largest: Sequence[Offered]
    smaller: int
    unseen: int
