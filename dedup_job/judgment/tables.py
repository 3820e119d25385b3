"""Characters and words as the native scanners of this room look them up."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterable
from itertools import groupby, pairwise

import numpy as np
from numpy.typing import NDArray

from dedup_job.fingerprint.trie import PLANE
from dedup_job.judgment.alphabet import (
    EXPANDED,
    KIND,
    LATIN,
    POINT,
    STARTS,
    alphabet,
)
from dedup_job.judgment.constants import constants
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
ALONE = SEQUENCE_WORD | OPENER | PAGE | PAGED | COUNTER | UNIT | IMPERATIVE | TITLE | TASK | EXAM
_PAIR_BITS = 12
(LAST_PAIR,) = constants([(1 << _PAIR_BITS) - 1])
_STEMS = ("答案", "answer")
_COMMANDS = (
    (FRACTION, "frac dfrac tfrac cfrac"), (BEGIN, "begin"), (END_OF, "end"), (ROOT_NAME, "sqrt"),
    (CIRCLE, "textcircled"),
)  # fmt: skip


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
    two, by `scanning.pair_of`. FIRST: where the first of them lies, REST: there is none.
    MATHEMATICALS: the cells from MATHEMATICAL on. COMMANDS: as FIRST, for commands of LaTeX.
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
            pairs[(ord(word[0]) * 31 + ord(word[1])) & LAST_PAIR] |= np.uint32(bit)
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
