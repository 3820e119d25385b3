"""The pieces that two texts are made of: the same in both, or what each has in its place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from typing import NamedTuple

_TOKEN = re.compile(r"[A-Za-z]+|\d+(?:\.\d+)?|\s|.", re.DOTALL)  # a word, a number, a character
_CLAUSE = re.compile(r"[^，,。.；;！!？?\n]*(?:[，,。.；;！!？?\n]+|$)")
_WORD_AT_END = re.compile(r"[A-Za-z0-9.]+\Z")
_MAX_CHARACTERS = (
    10_000  # characters of both that are compared one by one; of longer texts clauses are
)
_MANY = 2000
_MAX_CLAUSES = 20_000
_MAX_WORD = 40
_NOISE = 4  # changed characters around one that both have by chance


class Piece(NamedTuple):
    """A stretch of two texts: the same in both, or what each has in its place."""

    left: str
    right: str
    same: bool


def pieces_of(left: str, right: str) -> list[Piece]:
    """Return the pieces that the texts are made of; same and changed ones take turns.

    Words, numbers and other characters are compared, in long texts clauses and then the characters
    of those that changed. What is longer still counts as changed in one piece.
    """
    start = _word_begins(left, _common(left, right))
    stop = _common(left[start:][::-1], right[start:][::-1])
    stop = _word_begins(left[::-1], stop)
    a, b = len(left) - stop, len(right) - stop
    pieces = [
        Piece(left[:start], left[:start], same=True),
        *_compared(left[start:a], right[start:b]),
        Piece(left[a:], left[a:], same=True),
    ]
    return list(_joined(_without_noise(list(_joined(pieces)))))


def _compared(left: str, right: str) -> Iterator[Piece]:
    """Compare what lies between the beginning and the end that both have."""
    if len(left) + len(right) <= _MAX_CHARACTERS:
        yield from _aligned(_TOKEN.findall(left), _TOKEN.findall(right))
        return
    clauses, others = _CLAUSE.findall(left), _CLAUSE.findall(right)
    if len(clauses) + len(others) > _MAX_CLAUSES:
        yield Piece(left, right, same=False)
        return
    for piece in _joined(_aligned(clauses, others)):
        if piece.same or len(piece.left) + len(piece.right) > _MAX_CHARACTERS:
            yield piece
        else:
            yield from _aligned(_TOKEN.findall(piece.left), _TOKEN.findall(piece.right))


def _aligned(left: Sequence[str], right: Sequence[str]) -> Iterator[Piece]:
    matcher = SequenceMatcher(None, left, right, autojunk=len(left) + len(right) > _MANY)
    for kind, a, b, c, d in matcher.get_opcodes():
        yield Piece("".join(left[a:b]), "".join(right[c:d]), same=kind == "equal")


def _without_noise(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """Take a character that both have by chance, between longer changes, for changed."""
    for i, piece in enumerate(pieces):
        inside = piece.same and 0 < i < len(pieces) - 1 and len(piece.left) == 1
        around = (*pieces[i - 1 : i], *pieces[i + 1 : i + 2]) if inside else ()
        changed = sum(max(len(p.left), len(p.right)) for p in around)
        yield Piece(piece.left, piece.right, same=piece.same and changed < _NOISE)


def _joined(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Bring neighbours of one kind together, and leave empty ones out."""
    there = (piece for piece in pieces if piece.left or piece.right)
    for same, group in groupby(there, key=lambda piece: piece.same):
        parts = list(group)
        left, right = "".join(p.left for p in parts), "".join(p.right for p in parts)
        yield Piece(left, right, same)


def _common(left: str, right: str) -> int:
    """Return how many characters both begin with."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if left[low:middle] == right[low:middle] else (low, middle - 1)
    return low


def _word_begins(text: str, place: int) -> int:
    """Return where the word or number begins that reaches up to a place."""
    word = _WORD_AT_END.search(text, max(0, place - _MAX_WORD), place)
    return place if word is None else word.start()
