"""The pieces that two texts are made of: the same in both, or what each has in its place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import chain, groupby, takewhile, zip_longest
from typing import NamedTuple, TypeVar

_TOKEN = re.compile(r"[A-Za-z]+|\d+(?:\.\d+)?|\s|.", re.DOTALL)  # a word, a number, a character
_LABEL = re.compile(  # as src/judgment/choices.hpp finds them
    r"(?:\A|(?<=[\s\u3400-\u9fff;；。.．?？!！,，)）\]】_、:：$]))"
    r"(?:[(（\[]\s?)?([A-Ha-hＡ-Ｈａ-ｈ])\s?[.．、:：)）\]](?![A-Za-z]\s?[.．、])"
)
_ENDS = frozenset("，,。.；;！!？?\n")  # of a clause
_MAX_TOKENS = 10_000  # of both that are compared one by one; of longer texts clauses are
_MANY = 2000
_MAX_CLAUSES = 20_000
_NOISE = 4  # changed characters around one that both have by chance
_GAP = 20  # characters that are not worth leaving out
_T = TypeVar("_T")


class Piece(NamedTuple):
    """A stretch of two texts: the same in both but for labels of choices, or what each has."""

    left: str
    right: str
    same: bool


class _Label(str):
    """The label of a choice with the space around it: no other label differs from it."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Label)

    def __hash__(self) -> int:
        return hash(_Label)


def pieces_of(left: str, right: str) -> list[Piece]:
    """Return the pieces that the texts are made of; same and changed ones take turns.

    Words, numbers and other characters are compared, in long texts clauses and then the characters
    of those that changed. What is longer still counts as changed in one piece. Labels of choices
    count for nothing, as where the texts are judged.
    """
    one, other = _tokens(left), _tokens(right)
    start = _common(one, other)
    stop = _common(one[start:][::-1], other[start:][::-1])
    a, b = len(one) - stop, len(other) - stop
    between = _compared(one[start:a], other[start:b])
    pairs = [(one[:start], other[:start]), *between, (one[a:], other[b:])]
    pieces = _joined(piece for pair in pairs for piece in _pieces(*pair))
    return list(_joined(_without_noise(list(pieces))))


def shortened(piece: Piece, context: int, change: int) -> Piece:
    """Return a piece of which long texts have their ends alone.

    context, change: characters of each end, if both texts have it, and if they differ.
    """

    def ends(text: str, most: int) -> str:
        return text if len(text) <= 2 * most + _GAP else f"{text[:most]} … {text[-most:]}"

    most = context if piece.same else change
    return Piece(ends(piece.left, most), ends(piece.right, most), piece.same)


def _tokens(text: str) -> list[str]:
    tokens, at = list[str](), 0
    for begin, end in _labels(text):
        tokens += _TOKEN.findall(text, at, begin)
        tokens.append(_Label(text[begin:end]))
        at = end
    return tokens + _TOKEN.findall(text, at)


def _labels(text: str) -> list[tuple[int, int]]:
    """Return where the longest run of labels A, B, C and so on lies, with the space around each."""
    runs: dict[int, list[re.Match[str]]] = {}  # by the label that they begin with
    best: list[re.Match[str]] = []
    for found in reversed(list(_LABEL.finditer(text))):
        number = ord(found[1]) % 32  # 1 of A and a, also where they are wide
        runs[number] = [found, *runs.get(number + 1, [])]
        best = max(best, runs.get(1, []), key=len)
    ends = ((text[: one.start()].rstrip(), text[one.end() :].lstrip()) for one in best)
    spans = [(len(before), len(text) - len(after)) for before, after in ends]
    return spans if len(spans) > 1 else []


def _pieces(left: Sequence[str], right: Sequence[str]) -> Iterator[Piece]:
    """Yield the stretches of two rows of tokens, labels by themselves: they are the same."""
    parts = zip_longest(_at_labels(left), _at_labels(right), fillvalue=list[str]())
    for i, (one, other) in enumerate(parts):
        yield Piece("".join(one), "".join(other), same=i % 2 == 1 or one == other)


def _at_labels(tokens: Iterable[str]) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for token in tokens:
        if isinstance(token, _Label):
            parts += [token], []
        else:
            parts[-1].append(token)
    return parts


def _compared(
    left: Sequence[str], right: Sequence[str]
) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    if len(left) + len(right) <= _MAX_TOKENS:
        yield from _aligned(left, right)
        return
    clauses, others = list(_clauses(left)), list(_clauses(right))
    if len(clauses) + len(others) > _MAX_CLAUSES:
        yield left, right
        return
    for pair in _aligned(clauses, others):
        one, other = (list(chain.from_iterable(side)) for side in pair)
        if one == other or len(one) + len(other) > _MAX_TOKENS:
            yield one, other
        else:
            yield from _aligned(one, other)


def _aligned(
    left: Sequence[_T], right: Sequence[_T]
) -> Iterator[tuple[Sequence[_T], Sequence[_T]]]:
    matcher = SequenceMatcher(None, left, right, autojunk=len(left) + len(right) > _MANY)
    for _, a, b, c, d in matcher.get_opcodes():
        yield left[a:b], right[c:d]


def _clauses(tokens: Iterable[str]) -> Iterator[tuple[str, ...]]:
    clause: list[str] = []
    for token in tokens:
        if clause and clause[-1] in _ENDS and token not in _ENDS:
            yield tuple(clause)
            clause = []
        clause.append(token)
    if clause:
        yield tuple(clause)


def _without_noise(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """Take a character that both have by chance, between longer changes, for changed."""
    for i, piece in enumerate(pieces):
        inside = piece.same and 0 < i < len(pieces) - 1 and len(piece.left) == 1
        around = (*pieces[i - 1 : i], *pieces[i + 1 : i + 2]) if inside else ()
        changed = sum(max(len(p.left), len(p.right)) for p in around)
        yield Piece(piece.left, piece.right, same=piece.same and changed < _NOISE)


def _joined(pieces: Iterable[Piece]) -> Iterator[Piece]:
    there = (piece for piece in pieces if piece.left or piece.right)
    for same, group in groupby(there, key=lambda piece: piece.same):
        parts = list(group)
        left, right = "".join(p.left for p in parts), "".join(p.right for p in parts)
        yield Piece(left, right, same)


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False))
    return sum(1 for _ in alike)
