"""The judge: the differences of pairs of texts, each with its class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dedup_job.fingerprint.lexicon import Lexicon
from dedup_job.judgment.canonical import forms_of, main_of
from dedup_job.judgment.classes import CLASSES, HARMLESS, Difference, bits_of
from dedup_job.judgment.edits import Room, room_of
from dedup_job.judgment.forms import ANSWER, EXPLAINED, MOST_CHOICES, Forms
from dedup_job.judgment.forms import IMAGE as IMAGE_MARK
from dedup_job.judgment.gist import gist_of
from dedup_job.judgment.lookups import Tables, tables_of
from dedup_job.judgment.pairs import is_turned, judge_pair
from dedup_job.judgment.parts import MOST_DIFFERENCES
from dedup_job.judgment.rewriting import WAYS
from dedup_job.judgment.words import Words
from dedup_job.native.code_points import Packed, pack
from dedup_job.native.jit import inner, native

RICHER: Final = ("image", "answer", "explanation", "choice", "sentence", "rest")
"""What a text can have more: bit i stands for name i. `rest`: of a text that was cut off."""

_IMAGE, _ANSWER, _EXPLANATION, _CHOICE, _SENTENCE, _REST = (1 << i for i in range(len(RICHER)))
_ADDED, _TRUNCATED = (CLASSES.index(kind) for kind in (Difference.ADDED, Difference.TRUNCATED))
_PICTURE, _EQUALS = ord(IMAGE_MARK), ord("=")


@inner
def richer(one: Forms, i: int, other: Forms, j: int, room: Room, count: int) -> int:
    """Return what form i of one has that form j of other lacks, as bits.

    room: holds all `count` differences of the two, whose spans are of one, then of other.
    """
    bits = 0
    if _has_answer(one, i) and not _has_answer(other, j):
        bits |= _ANSWER
    if one.flags[i] & EXPLAINED and not other.flags[j] & EXPLAINED:
        bits |= _EXPLANATION
    stem_end = one.offsets[i] + one.cuts[i, 0]
    for at in range(count):
        kind, spans = room.kinds[at], room.spans
        p, q, r, s = spans[at, 0], spans[at, 1], spans[at, 2], spans[at, 3]
        if kind not in (_ADDED, _TRUNCATED) or q - p <= s - r:
            continue
        if _pictures(one, p, q) > _pictures(other, r, s):
            bits |= _IMAGE
        elif kind == _ADDED:
            bits |= _ANSWER if p > one.offsets[i] and one.points[p - 1] == _EQUALS else _SENTENCE
        else:
            bits |= _CHOICE if r == s and p >= stem_end else _REST
    return bits


@inner
def _has_answer(forms: Forms, i: int) -> bool:
    return bool(forms.cuts[i, ANSWER] > forms.cuts[i, MOST_CHOICES])


@inner
def _pictures(forms: Forms, start: int, stop: int) -> int:
    count = 0
    for k in range(start, stop):
        count += forms.points[k] == _PICTURE
    return count


def names_of_richer(bits: int) -> tuple[str, ...]:
    """Return the names of what a text has more, in order."""
    return tuple(name for i, name in enumerate(RICHER) if bits >> i & 1)


RULES: Final = 1
"""Version of the rules: of the canonical form, the differences and their classes."""

_LAYOUT: Final = CLASSES.index(Difference.LAYOUT)


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What is said of c pairs of texts.

    joined: bool (c,), whether all differences are harmless; classes: uint64 (c,), the classes of
    the differences as bits 1 << code; differences: int32 (c,), how many there are, up to the first
    one that is not harmless; refused: uint8 (c,), the code of the class that keeps the pair apart,
    of no meaning where it is joined; richer: uint8 (c,), of a joined pair what the first text has
    that the second lacks, as bits, see `names_of_richer`.
    """

    joined: NDArray[np.bool_]
    classes: NDArray[np.uint64]
    differences: NDArray[np.int32]
    refused: NDArray[np.uint8]
    richer: NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Found:
    """One difference: its class, the words of either text, whether it is harmless."""

    kind: Difference
    text: str
    other: str
    harmless: bool


class Judge:
    """Classes the differences of pairs of texts; pure, safe to share between threads."""

    def __init__(
        self,
        lexicon: Lexicon,
        harmless: tuple[Difference, ...] = HARMLESS,
        words: Path | None = None,
    ) -> None:
        """Take a dictionary, the harmless classes, and a file with more words of the trade.

        Raises ConfigurationError with all bad lines of the file.
        """
        self._words = Words.load(words)
        self._tables = tables_of(lexicon, self._words.synonyms, self._words.function_words)
        self._harmless = np.uint64(bits_of(harmless))

    def canonical(self, texts: Packed) -> Packed:
        """Return the gist of the canonical form of n texts, by which candidates are found."""
        return gist_of(main_of(forms_of(texts, self._words)), self._tables)

    def judge(
        self,
        left: Packed,
        left_rows: NDArray[np.int64],
        right: Packed,
        right_rows: NDArray[np.int64],
    ) -> Verdicts:
        """Judge text left_rows[i] of left and text right_rows[i] of right, int64 (c,).

        The texts are cleaned ones. All but `richer` is symmetric.
        """
        one, other = forms_of(left, self._words), forms_of(right, self._words)
        return judge_forms(one, left_rows, other, right_rows, self._tables, self._harmless)

    def differences(self, text: str, other: str) -> Sequence[Found]:
        """Name the differences of one pair of cleaned texts, in their order."""
        return next(self.each_differences([text], [other]))

    def each_differences(
        self, texts: Sequence[str], others: Sequence[str]
    ) -> Iterator[Sequence[Found]]:
        """Yield the differences of texts[i] and others[i], in their order."""
        one, two = (forms_of(pack(side), self._words) for side in (texts, others))
        room = room_of(WAYS, MOST_DIFFERENCES)
        for i, (text, other) in enumerate(zip(texts, others, strict=True)):
            row = np.full(1, i, dtype=np.int64)
            said = judge_forms(one, row, two, row, self._tables, self._harmless, room)
            count = int(said.differences[0])
            found = [self._named(one, two, room, at) for at in range(count)]
            if not found and text != other:
                found.append(Found(Difference.LAYOUT, text, other, harmless=True))
            yield found

    def _named(self, one: Forms, two: Forms, room: Room, at: int) -> Found:
        kind, (p, q, r, s) = int(room.kinds[at]), room.spans[at].tolist()
        harmless = bool(int(self._harmless) >> kind & 1)
        return Found(CLASSES[kind], _text(one, p, q), _text(two, r, s), harmless)


def judge_forms(
    one: Forms,
    rows: NDArray[np.int64],
    other: Forms,
    other_rows: NDArray[np.int64],
    tables: Tables,
    harmless: np.uint64,
    room: Room | None = None,
) -> Verdicts:
    """Judge the pairs of form rows[i] of one and form other_rows[i] of other; int64 (c,).

    room: given, it holds all differences of the last pair afterwards; else a pair is judged no
    further than to the first difference that is not harmless.
    """
    count = len(rows)
    verdicts = Verdicts(
        np.empty(count, dtype=np.bool_),
        np.empty(count, dtype=np.uint64),
        np.empty(count, dtype=np.int32),
        np.empty(count, dtype=np.uint8),
        np.empty(count, dtype=np.uint8),
    )
    _judge_all(
        one,
        rows,
        other,
        other_rows,
        tables,
        harmless,
        room or room_of(WAYS, MOST_DIFFERENCES),
        room is not None,
        verdicts.joined,
        verdicts.classes,
        verdicts.differences,
        verdicts.refused,
        verdicts.richer,
    )
    return verdicts


@native
def _judge_all(
    one: Forms,
    rows: NDArray[np.int64],
    other: Forms,
    other_rows: NDArray[np.int64],
    tables: Tables,
    harmless: np.uint64,
    room: Room,
    whole: bool,
    joined: NDArray[np.bool_],
    classes: NDArray[np.uint64],
    differences: NDArray[np.int32],
    refused: NDArray[np.uint8],
    richness: NDArray[np.uint8],
) -> None:
    for pair in range(rows.shape[0]):
        i, j = rows[pair], other_rows[pair]
        if is_turned(one, i, other, j):
            count = judge_pair(other, j, one, i, tables, room, whole)
            _turn_back(room.spans, count)
        else:
            count = judge_pair(one, i, other, j, tables, room, whole)
        bits, first = np.uint64(0), -1
        for p in range(count):
            bit = np.uint64(1) << np.uint64(room.kinds[p])
            bits |= bit
            if first < 0 and bit & harmless == 0:
                first = room.kinds[p]
        joined[pair] = first < 0
        classes[pair] = bits if count else np.uint64(1) << np.uint64(_LAYOUT)
        differences[pair] = count
        refused[pair] = _LAYOUT if first < 0 else first
        richness[pair] = richer(one, i, other, j, room, count) if first < 0 else 0


@inner
def _turn_back(spans: NDArray[np.int64], count: int) -> None:
    """Swap the spans of the two texts, which were judged the other way round."""
    for at in range(count):
        p, q = spans[at, 0], spans[at, 1]
        spans[at, 0], spans[at, 1] = spans[at, 2], spans[at, 3]
        spans[at, 2], spans[at, 3] = p, q


def _text(forms: Forms, start: int, stop: int) -> str:
    return forms.points[start:stop].tobytes().decode("utf-32-le", "surrogatepass")
