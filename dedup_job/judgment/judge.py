"""The judge: the differences of pairs of texts, each with its class."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.fingerprint.lexicon import Lexicon
from dedup_job.judgment.canonical import forms_of, gist_of, grown, main_of
from dedup_job.judgment.classes import CLASSES, HARMLESS, DifferenceClass, bits_of
from dedup_job.judgment.forms import (
    EXPLAINED,
    MAX_CHOICES,
    Forms,
    FormView,
    Points,
    form_at,
    part_of,
    size_of,
    stem_of,
)
from dedup_job.judgment.forms import IMAGE as IMAGE_MARK
from dedup_job.judgment.hunks import ADDED, PairWorkspace, make_pair_workspace
from dedup_job.judgment.lookups import Tables, judge_tables
from dedup_job.judgment.pairs import TRUNCATED, is_turned, judge_pair
from dedup_job.judgment.words import Words
from dedup_job.native.bytes_column import BytesColumn
from dedup_job.native.code_points import POINT_BYTES, TextColumn, Texts, pack, packed_of
from dedup_job.native.jit import inner, native

RICHER: Final = ("image", "answer", "explanation", "choice", "sentence", "rest")
"""What a text can have more: bit i stands for name i. `rest`: of a text that was cut off."""

_IMAGE, _ANSWER, _EXPLANATION, _CHOICE, _SENTENCE, _REST = (1 << i for i in range(len(RICHER)))
_PICTURE, _EQUALS = ord(IMAGE_MARK), ord("=")


@inner
def richer(one: FormView, other: FormView, workspace: PairWorkspace, count: int) -> int:
    """Return what one form has that the other lacks, as bits.

    workspace: holds all `count` differences of the two, whose spans are of one, then of other.
    """
    bits = 0
    if size_of(part_of(one, MAX_CHOICES)) and not size_of(part_of(other, MAX_CHOICES)):
        bits |= _ANSWER
    if one.flags & EXPLAINED and not other.flags & EXPLAINED:
        bits |= _EXPLANATION
    for at in range(count):
        kind, spans = workspace.kinds[at], workspace.spans
        p, q, r, s = spans[at, 0], spans[at, 1], spans[at, 2], spans[at, 3]
        if kind not in (ADDED, TRUNCATED) or q - p <= s - r:
            continue
        if _pictures(one.points, p, q) > _pictures(other.points, r, s):
            bits |= _IMAGE
        elif kind == ADDED:
            bits |= _ANSWER if p > one.start and one.points[p - 1] == _EQUALS else _SENTENCE
        else:
            bits |= _CHOICE if r == s and p >= stem_of(one).stop else _REST
    return bits


@inner
def _pictures(points: Points, start: int, stop: int) -> int:
    count = 0
    for k in range(start, stop):
        count += points[k] == _PICTURE
    return count


RULES: Final = 2
"""Version of the rules: of the canonical form, the differences and their classes."""

MOST_LEFT_OUT: Final = 0.2
"""Share of a text that may be left out of a comparison: a note is small beside its text, and what
takes more than a fifth of it is a part of the text to most readers."""

_LAYOUT: Final = CLASSES.index(DifferenceClass.LAYOUT)
_FIRST: Final = np.zeros(1, dtype=np.int64)


class Verdicts(NamedTuple):
    """What is said of c pairs of texts.

    joined: bool (c,), whether all differences are harmless; classes: uint64 (c,), the classes of
    the differences as bits 1 << code; differences: int32 (c,), how many there are, up to the first
    one that is not harmless; refused: uint8 (c,), the code of the class that keeps the pair apart,
    of no meaning where it is joined; richer: uint8 (c,), of a joined pair what the first text has
    that the second lacks, as bits for RICHER; left_out: uint8 (c,), the percentage of
    the text that was left out of the comparison as notes, of the text with more of them.
    """

    joined: NDArray[np.bool_]
    classes: NDArray[np.uint64]
    differences: NDArray[np.int32]
    refused: NDArray[np.uint8]
    richer: NDArray[np.uint8]
    left_out: NDArray[np.uint8]


class FormPairs(NamedTuple):
    """c pairs of forms: form rows[i] of one and form other_rows[i] of other; int64 (c,)."""

    one: Forms
    rows: NDArray[np.int64]
    other: Forms
    other_rows: NDArray[np.int64]


class ReadTexts(NamedTuple):
    """n texts, their canonical forms, and of these what says how alike they are, see `main_of`."""

    texts: TextColumn
    forms: Forms
    main: TextColumn

    def part(self, rows: slice) -> ReadTexts:
        """Return some of them in a row."""
        return ReadTexts(self.texts.part(rows), self.forms.part(rows), self.main.part(rows))


Judged = Texts | ReadTexts
"""Texts that are judged; of those that were read before, the forms are not made again."""


@dataclass(frozen=True, slots=True)
class Found:
    """One difference: its class, the words of either text, whether it is harmless."""

    kind: DifferenceClass
    text: str
    other: str
    harmless: bool


class _Kept(threading.local):
    """A workspace for each thread: clean memory for a new one takes longer than to judge a pair."""

    def __init__(self) -> None:
        self.workspace = make_pair_workspace()


class Judge:
    """Classes the differences of pairs of texts; pure, safe to share between threads."""

    def __init__(
        self,
        lexicon: Lexicon,
        harmless: tuple[DifferenceClass, ...] = HARMLESS,
        words: Path | None = None,
    ) -> None:
        """Take a dictionary, the harmless classes, and a file with more words of the trade.

        Raises ConfigurationError with all bad lines of the file.
        """
        self._words = Words.load(words)
        self._tables = judge_tables(lexicon, self._words.synonyms, self._words.function_words)
        self._harmless = np.uint64(bits_of(harmless))
        self._kept = _Kept()

    def read(self, texts: Judged) -> ReadTexts:
        """Return n texts with their canonical forms."""
        if isinstance(texts, ReadTexts):
            return texts
        packed = pack(texts)
        forms = forms_of(packed, self._words, MOST_LEFT_OUT)
        return ReadTexts(packed, forms, main_of(forms))

    def gist(self, texts: ReadTexts) -> TextColumn:
        """Return the gist of n texts, by which candidates are found where differences decide."""
        return gist_of(texts.main, self._tables)

    def judge(
        self,
        left: Judged,
        left_rows: NDArray[np.int64],
        right: Judged,
        right_rows: NDArray[np.int64],
    ) -> Verdicts:
        """Judge text left_rows[i] of left and text right_rows[i] of right, int64 (c,).

        The texts are cleaned ones. All but `richer` is symmetric.
        """
        one, other = self.read(left), self.read(right)
        pairs = FormPairs(one.forms, left_rows, other.forms, right_rows)
        return judge_forms(pairs, self._tables, self._harmless, self._kept.workspace)

    def differences(self, text: str, other: str) -> Sequence[Found]:
        """Name the differences of one pair of cleaned texts, in their order."""
        return next(self.each_differences([text], _FIRST, [other], _FIRST))

    def each_differences(
        self,
        left: Judged,
        left_rows: NDArray[np.int64],
        right: Judged,
        right_rows: NDArray[np.int64],
    ) -> Iterator[Sequence[Found]]:
        """Yield the differences of text left_rows[i] of left and right_rows[i] of right."""
        one, two = self.read(left), self.read(right)
        pairs = FormPairs(one.forms, left_rows, two.forms, right_rows)
        kinds, flat, ends = _all_differences(pairs, self._tables, self._kept.workspace)
        spans, harmless = flat.reshape(-1, 4), int(self._harmless)
        words = _words(one.forms, spans[:, :2]), _words(two.forms, spans[:, 2:])
        listed = (
            Found(CLASSES[kind], text, other, bool(harmless >> kind & 1))
            for kind, text, other in zip(kinds.tolist(), *words, strict=True)
        )
        texts = one.texts.take(left_rows).texts(), two.texts.take(right_rows).texts()
        for text, other, count in zip(*texts, np.diff(ends, prepend=0).tolist(), strict=True):
            found = [*islice(listed, count)]
            if not found and text != other:
                found.append(Found(DifferenceClass.LAYOUT, text, other, harmless=True))
            yield found


def _words(forms: Forms, spans: NDArray[np.int64]) -> list[str]:
    """Return what stands in some spans of the points, int64 (k, 2)."""
    starts, lengths = POINT_BYTES * spans[:, 0], POINT_BYTES * (spans[:, 1] - spans[:, 0])
    return packed_of(BytesColumn(forms.points.view(np.uint8), starts, lengths)).texts()


@native
def judge_forms(
    pairs: FormPairs, tables: Tables, harmless: np.uint64, workspace: PairWorkspace
) -> Verdicts:
    """Judge c pairs of forms; harmless: bits of the classes that join a pair.

    A pair is judged no further than to the first difference that is not harmless.
    """
    c = pairs.rows.shape[0]
    verdicts = Verdicts(
        np.empty(c, dtype=np.bool_),
        np.empty(c, dtype=np.uint64),
        np.empty(c, dtype=np.int32),
        np.empty(c, dtype=np.uint8),
        np.empty(c, dtype=np.uint8),
        np.empty(c, dtype=np.uint8),
    )
    for at in range(c):
        _judge_one(pairs, at, tables, harmless, workspace, verdicts)
    return verdicts


@inner
def _judge_one(
    pairs: FormPairs,
    at: int,
    tables: Tables,
    harmless: np.uint64,
    workspace: PairWorkspace,
    verdicts: Verdicts,
) -> None:
    count = _differences(pairs, at, tables, workspace, False)
    bits, first = np.uint64(0), -1
    for p in range(count):
        bit = np.uint64(1) << np.uint64(workspace.kinds[p])
        bits |= bit
        if first < 0 and bit & harmless == 0:
            first = workspace.kinds[p]
    verdicts.joined[at] = first < 0
    verdicts.classes[at] = bits if count else np.uint64(1) << np.uint64(_LAYOUT)
    verdicts.differences[at] = count
    verdicts.refused[at] = _LAYOUT if first < 0 else first
    verdicts.richer[at] = 0
    gone = max(pairs.one.left_out[pairs.rows[at]], pairs.other.left_out[pairs.other_rows[at]])
    verdicts.left_out[at] = np.rint(100 * gone)
    if first < 0:
        one, other = form_at(pairs.one, pairs.rows[at]), form_at(pairs.other, pairs.other_rows[at])
        verdicts.richer[at] = richer(one, other, workspace, count)


@inner
def _differences(
    pairs: FormPairs, at: int, tables: Tables, workspace: PairWorkspace, whole: bool
) -> int:
    """Enter the differences of a pair, their spans of one, then of other; return how many."""
    one, other = form_at(pairs.one, pairs.rows[at]), form_at(pairs.other, pairs.other_rows[at])
    if not is_turned(one, other):
        return judge_pair(one, other, tables, workspace, whole)
    count = judge_pair(other, one, tables, workspace, whole)
    _turn_back(workspace.spans, count)
    return count


@native
def _all_differences(
    pairs: FormPairs, tables: Tables, workspace: PairWorkspace
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    """Return classes and spans of the differences of c pairs, and where those of each end.

    uint8 (k,), int64 (4 * k,), start and stop in either form, int64 (c,).
    """
    c, count = pairs.rows.shape[0], 0
    kinds, spans = np.empty(4 * c, dtype=np.uint8), np.empty(16 * c, dtype=np.int64)
    ends = np.empty(c, dtype=np.int64)
    for at in range(c):
        found = _differences(pairs, at, tables, workspace, True)
        kinds = grown(kinds, count, count + found)
        spans = grown(spans, 4 * count, 4 * (count + found))
        for p in range(found):
            kinds[count + p] = workspace.kinds[p]
            for column in range(4):
                spans[4 * (count + p) + column] = workspace.spans[p, column]
        count += found
        ends[at] = count
    return kinds[:count].copy(), spans[: 4 * count].copy(), ends


@inner
def _turn_back(spans: NDArray[np.int64], count: int) -> None:
    """Swap the spans of the two texts, which were judged the other way round."""
    for at in range(count):
        p, q = spans[at, 0], spans[at, 1]
        spans[at, 0], spans[at, 1] = spans[at, 2], spans[at, 3]
        spans[at, 2], spans[at, 3] = p, q
