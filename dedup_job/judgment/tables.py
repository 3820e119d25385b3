"""Characters and words as the native scanners of this room look them up."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterable
from itertools import groupby, pairwise

import numpy as np
from numpy.typing import NDArray

from dedup_job.compiled import borrowing
from dedup_job.fingerprint.trie import PLANE
from dedup_job.judgment.alphabet import (
    BEYOND,
    BLANK,
    DIGIT,
    EXPANDED,
    HAN,
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
from dedup_job.judgment.constants import NOUGHT, constants
from dedup_job.judgment.words import Words

# lists, one bit each
(
    ANSWER, EXPLANATION, LINE, NOTE, BRACKET, BRACKET_LATIN, SPELLING_WORD, SEQUENCE_WORD,
    IMPERATIVE, COUNTER, UNIT, ENGLISH, SYMBOL_NAME, LOOK_NAME, KIND_WORD, TITLE, TASK, EXAM,
    NUMBERED, PAGED, STEMS, FRACTION, BEGIN, END_OF, ROOT_NAME, CIRCLE, OPENER, PAGE,
) = constants(1 << i for i in range(28))  # fmt: skip

_KINDS = (
    "单选题", "多选题", "选择题", "填空题", "判断题", "简答题", "解答题", "单项选择题",
    "多项选择题",
)  # fmt: skip
_NUMBERED, _PAGED = ("page", "阅读", "文/"), ("第", "共", "密")  # a note begins so
_PAGE = ("页", "密")  # and holds this, or more than the beginning
# lists with words of one character
_ALONE = SEQUENCE_WORD | OPENER | PAGE | PAGED | COUNTER | UNIT | IMPERATIVE | TITLE | TASK | EXAM
_PAIR_BITS = 12
(_LAST_PAIR,) = constants([(1 << _PAIR_BITS) - 1])
_STEMS = ("答案", "answer")
_COMMANDS = (
    (FRACTION, "frac dfrac tfrac cfrac"), (BEGIN, "begin"), (END_OF, "end"), (ROOT_NAME, "sqrt"),
    (CIRCLE, "textcircled"),
)  # fmt: skip
_BACKSLASH = ord("\\")


# Where what lies in the tables, one uint32 array: few arrays make calls of native code cheap.
# There follow words and expansions. A word is (lists, length, length of its value, word, value);
# words that begin alike follow each other, the longest first, then one of no list.
_SIZES = (PLANE, PLANE, PLANE, PLANE, 1024, 128, 1 << _PAIR_BITS)
CELLS, SMALL, MASKS, FIRST, MATHEMATICALS, COMMANDS, PAIRS, REST = constants(
    sum(_SIZES[:k]) for k in range(8)
)
LISTS, LENGTH, VALUE, WORD = constants(range(4))


@functools.lru_cache(maxsize=4)
def tables_of(words: Words) -> NDArray[np.uint32]:
    """Return the tables for words, uint32; they are made once.

    CELLS: the cell of each character of the basic plane; where its kind is EXPANDED, its point
    tells where the number and then the cells lie that it becomes. SMALL: the small letters.
    MASKS: the lists in which words begin with a character. PAIRS: those in which they begin with
    two, by `pair_of`. FIRST: where the first of them lies,
    REST: there is none. MATHEMATICALS: the cells from MATHEMATICAL on. COMMANDS: as FIRST, for
    commands of LaTeX.
    """
    latin = [word for word in words.bracket if word.isascii()]
    plain: list[tuple[int, Iterable[str]]] = [
        (ANSWER, words.answer), (EXPLANATION, words.explanation), (LINE, words.line),
        (NOTE, words.note), (BRACKET, set(words.bracket) - set(latin)), (BRACKET_LATIN, latin),
        (SPELLING_WORD, words.spelling), (SEQUENCE_WORD, words.sequence),
        (IMPERATIVE, words.imperatives), (COUNTER, words.counters), (KIND_WORD, _KINDS),
        (TITLE, ("例题", "例", "习题", "练习")), (TASK, ("question", "problem", "exercise", "q")),
        (EXAM, ("真题", "模拟", "高考", "中考", "卷")), (NUMBERED, _NUMBERED), (PAGED, _PAGED),
        (PAGE, _PAGE), (OPENER, "([【〔"), (STEMS, _STEMS),
    ]  # fmt: skip
    characters, rest = alphabet(), [0, 0, 0]  # no word
    entries = [(bit, word, "") for bit, those in plain for word in those]
    entries += [(UNIT, word, symbol) for word, symbol in words.units]
    entries += [(ENGLISH, word, number) for word, number in (*words.numerals, ("one", ""))]
    masks, first = _add(entries, rest)
    pairs = np.zeros(1 << _PAIR_BITS, dtype=np.uint32)
    for bit, word, _value in entries:
        if len(word) > 1:
            pairs[(ord(word[0]) * 31 + ord(word[1])) & _LAST_PAIR] |= np.uint32(bit)
    _, commands = _add(
        [(bit, name, "") for bit, those in _COMMANDS for name in those.split()]
        + [(LOOK_NAME, name, "") for name in words.looks]
        + [(SYMBOL_NAME, name, symbol) for name, symbol in words.symbols],
        rest,
    )
    places = []
    for start, stop in pairwise(characters.starts.tolist()):
        places.append(int(REST) + len(rest))
        rest += [stop - start, *_marked(characters.expansions[start:stop], masks).tolist()]
    cells = _marked(characters.cells, masks)
    mathematical = _marked(characters.mathematical, masks)
    for those in (cells, mathematical):
        expanded = those >> KIND == EXPANDED
        those[expanded] = np.array(places, dtype=np.uint32)[those[expanded] & POINT]
        those[expanded] |= np.uint32(EXPANDED << KIND)
    tail = np.array(rest, dtype=np.uint32)
    return np.concatenate(
        [cells, characters.small, masks, first, mathematical, commands[:128], pairs, tail]
    )


def _marked(cells: NDArray[np.uint32], masks: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Set STARTS where a word begins with a character."""
    marked, kinds, points = cells.copy(), cells >> KIND, cells & POINT
    points[kinds == LATIN] |= 32
    starts = (points < PLANE) & (kinds != EXPANDED)
    starts[starts] = masks[points[starts]] != 0
    marked[starts] |= np.uint32(STARTS)
    return marked


def _add(
    entries: list[tuple[int, str, str]], rest: list[int]
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Add words with their lists and values to what follows the tables; return MASKS and FIRST."""
    bits: dict[str, int] = defaultdict(int)
    values: dict[str, str] = {}
    for bit, word, value in entries:
        bits[word] |= bit
        values[word] = value or values.get(word, "")
    masks, first = np.zeros(PLANE, dtype=np.uint32), np.full(PLANE, REST, dtype=np.uint32)
    words = sorted(bits, key=lambda word: (word[0], -len(word), word))
    for character, alike in groupby(words, key=lambda word: word[0]):
        first[ord(character)] = REST + len(rest)
        for word in alike:
            masks[ord(character)] |= np.uint32(bits[word])
            rest += [bits[word], len(word), len(values[word]), *map(ord, word + values[word])]
        rest += [0, 0, 0]
    return masks, first


# --- native


@borrowing
def value_at(tables: NDArray[np.uint32], i: int) -> int:
    """Return an entry of the tables as a signed number."""
    value: int = tables[i] + NOUGHT
    return value


@borrowing
def point_at(cells: NDArray[np.uint32], i: int) -> int:
    """Return the code point of a cell."""
    point: int = cells[i] & POINT
    return point


@borrowing
def kind_at(cells: NDArray[np.uint32], i: int) -> int:
    """Return the kind of a cell."""
    kind: int = cells[i] >> KIND
    return kind


@borrowing
def small_at(cells: NDArray[np.uint32], i: int) -> int:
    """Return the code point of a cell, of a letter of ASCII the small one."""
    point: int = cells[i] & POINT
    return point | 32 if cells[i] >> KIND == LATIN else point


@borrowing
def is_blank(cells: NDArray[np.uint32], i: int) -> bool:
    """Tell whether it is white space."""
    return bool(cells[i] >> KIND == BLANK)


@borrowing
def is_digit(cells: NDArray[np.uint32], i: int) -> bool:
    """Tell whether it is a digit."""
    return bool(cells[i] >> KIND == DIGIT)


@borrowing
def is_latin(cells: NDArray[np.uint32], i: int) -> bool:
    """Tell whether it is a letter of ASCII."""
    return bool(cells[i] >> KIND == LATIN)


@borrowing
def is_han(cells: NDArray[np.uint32], i: int) -> bool:
    """Tell whether it is a Chinese character."""
    kind: int = cells[i] >> KIND
    return kind == HAN or kind == NUMERAL or kind == UNTIL  # faster in numba


@borrowing
def skip_blanks(cells: NDArray[np.uint32], i: int, stop: int) -> int:
    """Return where at or after i something else than white space stands."""
    while i < stop and cells[i] >> KIND == BLANK:
        i += 1
    return i


@borrowing
def skip_digits(cells: NDArray[np.uint32], i: int, stop: int) -> int:
    """Return where at or after i something else than a digit stands."""
    while i < stop and cells[i] >> KIND == DIGIT:
        i += 1
    return i


@borrowing
def word_at(
    cells: NDArray[np.uint32], i: int, stop: int, tables: NDArray[np.uint32], which: int
) -> int:
    """Return where the longest word of the lists `which` at i lies in the tables, 0: none is there.

    Words are compared in small letters.
    """
    if i >= stop or not cells[i] & STARTS:
        return 0
    if not lists_at(cells, i, stop, tables) & which:
        return 0
    point = small_at(cells, i)
    return next_word(cells, i, stop, tables, which, value_at(tables, FIRST + point))


@borrowing
def next_word(
    cells: NDArray[np.uint32],
    i: int,
    stop: int,
    tables: NDArray[np.uint32],
    which: int,
    w: int,
) -> int:
    """Return the longest word at i among that at w in the tables and those behind it, 0: none."""
    while tables[w]:
        length = length_of(tables, w)
        if tables[w] & which and i + length <= stop:
            k = 1
            while k < length and small_at(cells, i + k) == tables[w + WORD + k]:
                k += 1
            if k == length:
                return w
        w = behind(tables, w)
    return 0


@borrowing
def length_of(tables: NDArray[np.uint32], w: int) -> int:
    """Return the length of a word."""
    return value_at(tables, w + LENGTH)


@borrowing
def behind(tables: NDArray[np.uint32], w: int) -> int:
    """Return where the next word lies."""
    return w + WORD + value_at(tables, w + LENGTH) + value_at(tables, w + VALUE)


@borrowing
def fill_cells(
    points: NDArray[np.uint32],
    start: int,
    stop: int,
    tables: NDArray[np.uint32],
    to: NDArray[np.uint32],
) -> int:
    """Write the cells of points[start:stop]; return their number, -1 where they do not fit."""
    at, room = 0, to.shape[0]
    for i in range(start, stop):
        point = points[i]
        if point < PLANE:
            cell = tables[point]
        elif MATHEMATICAL <= point < MATHEMATICAL_END:
            cell = tables[MATHEMATICALS + (point - MATHEMATICAL)]
        else:
            cell = np.uint32(point | BEYOND)
        if at == room:
            return -1
        to[at] = cell
        at += 1
        if cell >> KIND == EXPANDED:
            e: int = (cell & POINT) + NOUGHT
            count = value_at(tables, e)
            at -= 1
            if at + count > room:
                return -1
            for k in range(count):
                to[at + k] = tables[e + 1 + k]
            at += count
    return at


@borrowing
def pair_of(point: int, other: int) -> int:
    """Return the place of two characters in PAIRS."""
    return (point * 31 + other) & _LAST_PAIR


@borrowing
def lists_in(cells: NDArray[np.uint32], stop: int, tables: NDArray[np.uint32]) -> int:
    """Return the lists whose words may be in cells[0:stop]."""
    seen = NOUGHT
    for i in range(stop):
        if cells[i] & STARTS:
            seen |= lists_at(cells, i, stop, tables)
    return seen


@borrowing
def lists_at(cells: NDArray[np.uint32], i: int, stop: int, tables: NDArray[np.uint32]) -> int:
    """Return the lists of which a word may stand at i, where STARTS is set."""
    point = small_at(cells, i)
    alike = _ALONE
    if i + 1 < stop:
        alike |= value_at(tables, PAIRS + pair_of(point, small_at(cells, i + 1)))
    return value_at(tables, MASKS + point) & alike


@borrowing
def words_in(cells: NDArray[np.uint32], start: int, stop: int, enough: int) -> int:
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
    """Return where the last character before i stands that is no white space, base - 1: nowhere."""
    k = i - 1
    while k >= base and cells[k] >> KIND == BLANK:
        k -= 1
    return k
