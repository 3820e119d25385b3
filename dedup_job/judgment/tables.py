"""Characters and words as the native scanners of this room look them up."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.compiled import borrowing, inlined
from dedup_job.fingerprint.trie import PLANE
from dedup_job.judgment.alphabet import (
    BEYOND,
    BLANK,
    DIGIT,
    EXPANDED,
    KIND,
    LATIN,
    MATHEMATICAL,
    MATHEMATICAL_END,
    NUMERAL,
    POINT,
    STARTS,
    UNTIL,
    WORD_CHARACTER,
    alphabet,
)
from dedup_job.judgment.words import Words

# lists, one bit each
(
    ANSWER, EXPLANATION, LINE, NOTE, BRACKET, BRACKET_LATIN, SPELLING_WORD, SEQUENCE_WORD,
    IMPERATIVE, COUNTER, UNIT, ENGLISH, SYMBOL_NAME, LOOK_NAME, KIND_WORD, TITLE, TASK, EXAM,
    NUMBERED, STEMS, FRACTION, BEGIN, END_OF, ROOT_NAME, CIRCLE,
) = (1 << i for i in range(25))  # fmt: skip

_KINDS = (
    "单选题", "多选题", "选择题", "填空题", "判断题", "简答题", "解答题", "单项选择题", "多项选择题",
)  # fmt: skip
_NUMBERED = ("第", "共", "page", "阅读", "密", "文/")  # a note begins so
_STEMS = ("答案", "answer")
_COMMANDS = (
    (FRACTION, "frac dfrac tfrac cfrac"), (BEGIN, "begin"), (END_OF, "end"), (ROOT_NAME, "sqrt"),
    (CIRCLE, "textcircled"),
)  # fmt: skip
_BACKSLASH = ord("\\")


class Lists(NamedTuple):
    """e words, sorted by their first character, then the longest first.

    masks: uint32 (65536,), the lists in which words begin with a character; first: int32
    (65536,), the first of them. Word w is points[offsets[w]:offsets[w + 1]], in the lists of[w],
    and stands for values[value_offsets[w]:value_offsets[w + 1]].
    """

    masks: NDArray[np.uint32]
    first: NDArray[np.int32]
    points: NDArray[np.uint32]
    offsets: NDArray[np.int32]
    of: NDArray[np.uint32]
    values: NDArray[np.uint32]
    value_offsets: NDArray[np.int32]


class Tables(NamedTuple):
    """Characters as in Alphabet; lists of words; commands of LaTeX."""

    cells: NDArray[np.uint32]
    expansions: NDArray[np.uint32]
    starts: NDArray[np.int32]
    mathematical: NDArray[np.uint32]
    small: NDArray[np.uint32]
    lists: Lists
    commands: Lists


@functools.lru_cache(maxsize=4)
def tables_of(words: Words) -> Tables:
    """Return the tables for words; they are made once."""
    characters = alphabet()
    latin = [word for word in words.bracket if word.isascii()]
    plain: list[tuple[int, Iterable[str]]] = [
        (ANSWER, words.answer), (EXPLANATION, words.explanation), (LINE, words.line),
        (NOTE, words.note), (BRACKET, set(words.bracket) - set(latin)), (BRACKET_LATIN, latin),
        (SPELLING_WORD, words.spelling), (SEQUENCE_WORD, words.sequence),
        (IMPERATIVE, words.imperatives), (COUNTER, words.counters), (KIND_WORD, _KINDS),
        (TITLE, ("例题", "例", "习题", "练习")), (TASK, ("question", "problem", "exercise", "q")),
        (EXAM, ("真题", "模拟", "高考", "中考", "卷")), (NUMBERED, _NUMBERED), (STEMS, _STEMS),
    ]  # fmt: skip
    lists = _lists(
        [(bit, word, "") for bit, those in plain for word in those]
        + [(UNIT, word, symbol) for word, symbol in words.units]
        + [(ENGLISH, word, number) for word, number in (*words.numerals, ("one", ""))]
    )
    commands = _lists(
        [(bit, name, "") for bit, those in _COMMANDS for name in those.split()]
        + [(LOOK_NAME, name, "") for name in words.looks]
        + [(SYMBOL_NAME, name, symbol) for name, symbol in words.symbols]
    )
    cells = characters.cells.copy()
    begins = lists.masks[cells & POINT & (PLANE - 1)] != 0
    begins |= lists.masks[characters.small[cells & POINT & (PLANE - 1)]] != 0
    begins &= cells >> KIND != EXPANDED
    cells[begins] |= np.uint32(STARTS)
    expansions = characters.expansions.copy()
    inner = expansions & POINT & (PLANE - 1)
    starts = (lists.masks[inner] != 0) | (lists.masks[characters.small[inner]] != 0)
    expansions[starts] |= np.uint32(STARTS)
    return Tables(
        cells,
        expansions,
        characters.starts,
        _marked(characters.mathematical, lists),
        characters.small,
        lists,
        commands,
    )


def _marked(cells: NDArray[np.uint32], lists: Lists) -> NDArray[np.uint32]:
    marked = cells.copy()
    for i, cell in enumerate(cells.tolist()):
        point = cell & POINT
        if point < PLANE and lists.masks[point | 32 if cell >> KIND == LATIN else point]:
            marked[i] |= np.uint32(STARTS)
    return marked


def _lists(entries: list[tuple[int, str, str]]) -> Lists:
    bits: dict[str, int] = defaultdict(int)
    values: dict[str, str] = {}
    for bit, word, value in entries:
        bits[word] |= bit
        values[word] = value or values.get(word, "")
    words = sorted(bits, key=lambda word: (word[0], -len(word), word))
    masks, first = np.zeros(PLANE, dtype=np.uint32), np.full(PLANE, -1, dtype=np.int32)
    for w, word in enumerate(words):
        masks[ord(word[0])] |= np.uint32(bits[word])
        if first[ord(word[0])] < 0:
            first[ord(word[0])] = w
    meant = [values[word] for word in words]
    return Lists(
        masks,
        first,
        _points("".join(words)),
        np.cumsum([0, *map(len, words)], dtype=np.int32),
        np.array([bits[word] for word in words], dtype=np.uint32),
        _points("".join(meant)),
        np.cumsum([0, *map(len, meant)], dtype=np.int32),
    )


def _points(text: str) -> NDArray[np.uint32]:
    return np.array([ord(character) for character in text], dtype=np.uint32)


# --- native


@inlined
def point_at(cells: NDArray[np.uint32], i: int) -> int:
    """Return the code point of a cell."""
    point: int = cells[i] & POINT
    return point


@inlined
def kind_at(cells: NDArray[np.uint32], i: int) -> int:
    """Return the kind of a cell."""
    kind: int = cells[i] >> KIND
    return kind


@inlined
def small_at(cells: NDArray[np.uint32], i: int) -> int:
    """Return the code point of a cell, of a letter of ASCII the small one."""
    point: int = cells[i] & POINT
    return point | 32 if cells[i] >> KIND == LATIN else point


@inlined
def is_blank(cells: NDArray[np.uint32], i: int) -> bool:
    """Tell whether it is white space."""
    return cells[i] >> KIND == BLANK


@inlined
def is_digit(cells: NDArray[np.uint32], i: int) -> bool:
    """Tell whether it is a digit."""
    return cells[i] >> KIND == DIGIT


@inlined
def is_latin(cells: NDArray[np.uint32], i: int) -> bool:
    """Tell whether it is a letter of ASCII."""
    return cells[i] >> KIND == LATIN


@inlined
def is_han(cells: NDArray[np.uint32], i: int) -> bool:
    """Tell whether it is a Chinese character."""
    kind = cells[i] >> KIND
    return kind == 0 or kind == NUMERAL or kind == UNTIL  # noqa: PLR1714  # numba: no tuple


@inlined
def skip_blanks(cells: NDArray[np.uint32], i: int, stop: int) -> int:
    """Return where at or after i something else than white space stands."""
    while i < stop and cells[i] >> KIND == BLANK:
        i += 1
    return i


@inlined
def skip_digits(cells: NDArray[np.uint32], i: int, stop: int) -> int:
    """Return where at or after i something else than a digit stands."""
    while i < stop and cells[i] >> KIND == DIGIT:
        i += 1
    return i


@borrowing
def word_at(
    cells: NDArray[np.uint32], i: int, stop: int, lists: Lists, which: np.int64, after: np.int64
) -> int:
    """Return the longest word of the lists `which` at i, behind word `after`; -1: there is none.

    Words are compared in small letters.
    """
    if i >= stop or not cells[i] & STARTS:
        return -1
    point = small_at(cells, i)
    if not lists.masks[point] & which:
        return -1
    w: int = after + 1 if after >= 0 else lists.first[point]
    count = lists.of.shape[0]
    while w < count and lists.points[lists.offsets[w]] == point:
        if lists.of[w] & which:
            start, length = lists.offsets[w], lists.offsets[w + 1] - lists.offsets[w]
            k = 1
            while k < length and i + k < stop and small_at(cells, i + k) == lists.points[start + k]:
                k += 1
            if k == length:
                return w
        w += 1
    return -1


@inlined
def length_of(lists: Lists, w: int) -> int:
    """Return the length of a word."""
    length: int = lists.offsets[w + 1] - lists.offsets[w]
    return length


@borrowing
def fill_cells(
    points: NDArray[np.uint32],
    start: int,
    stop: int,
    tables: Tables,
    to: NDArray[np.uint32],
) -> tuple[int, int]:
    """Write the cells of points[start:stop]; return their number, -1 where they do not fit.

    The second is the lists whose words may be in them.
    """
    at, seen, room = 0, 0, to.shape[0]
    for i in range(start, stop):
        point = points[i]
        if point < PLANE:
            cell = tables.cells[point]
        elif MATHEMATICAL <= point < MATHEMATICAL_END:
            cell = tables.mathematical[point - MATHEMATICAL]
        else:
            cell = np.uint32(point | BEYOND)
        if cell >> KIND == EXPANDED:
            e = cell & POINT
            if at + tables.starts[e + 1] - tables.starts[e] > room:
                return -1, 0
            for k in range(tables.starts[e], tables.starts[e + 1]):
                to[at] = tables.expansions[k]
                if to[at] & STARTS:
                    seen |= tables.lists.masks[small_at(to, at)]
                at += 1
            continue
        if at == room:
            return -1, 0
        to[at] = cell
        if cell & STARTS:
            seen |= tables.lists.masks[small_at(to, at)]
        at += 1
    return at, seen


@borrowing
def words_in(cells: NDArray[np.uint32], start: int, stop: int, enough: np.int64) -> int:
    """Return the number of letters, digits and _, counted up to enough."""
    count = 0
    i = start
    while i < stop and count < enough:
        if cells[i] & WORD_CHARACTER:
            count += 1
        i += 1
    return count


@borrowing
def has_command(cells: NDArray[np.uint32], stop: int) -> bool:
    """Tell whether a backslash and a letter stand somewhere."""
    for i in range(stop - 1):  # noqa: SIM110  # numba compiles no generator here
        if point_at(cells, i) == _BACKSLASH and is_latin(cells, i + 1):
            return True
    return False


@borrowing
def before(cells: NDArray[np.uint32], i: int, base: int) -> int:
    """Return where the last character before i stands that is not white space, base - 1: nowhere."""
    k = i - 1
    while k >= base and cells[k] >> KIND == BLANK:
        k -= 1
    return k
