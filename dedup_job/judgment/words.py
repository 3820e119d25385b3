"""The words of the trade: synonyms, function words, and the tables made of them."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import groupby, pairwise
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dedup_job.errors import ConfigurationError
from dedup_job.files import read_text
from dedup_job.fingerprint.trie import PLANE
from dedup_job.judgment.alphabet import EXPANDED, KIND, LATIN, POINT, STARTS, alphabet, constants

LONGEST: Final = 16  # characters of a user's word
_SHOWN = 10
_SYNONYMS, _FUNCTION_WORDS = "synonyms", "function words"
_Lines = dict[str, list[tuple[str, ...]]]


@dataclass(frozen=True, slots=True)
class Words:
    """The word lists, folded: simplified characters, small letters.

    Those of `pairs` are (word, what it stands for).
    """

    synonyms: tuple[tuple[str, ...], ...]
    function_words: tuple[str, ...]
    answer: tuple[str, ...]
    explanation: tuple[str, ...]
    line: tuple[str, ...]
    note: tuple[str, ...]
    bracket: tuple[str, ...]
    spelling: tuple[str, ...]
    sequence: tuple[str, ...]
    imperatives: tuple[str, ...]
    counters: tuple[str, ...]
    looks: tuple[str, ...]
    units: tuple[tuple[str, str], ...]
    numerals: tuple[tuple[str, str], ...]
    symbols: tuple[tuple[str, str], ...]

    @classmethod
    def load(cls, path: Path | None) -> Words:
        """Return the built-in words and those of a user's file, in UTF-8.

        The file holds the sections [synonyms] and [function words]; without a section it is a
        list of lines of synonyms. # begins a comment. ConfigurationError lists the bad lines.
        """
        words = _built_in()
        if path is None:
            return words
        lines = _parsed(read_text(path), str(path))
        return replace(
            words,
            synonyms=(*words.synonyms, *lines[_SYNONYMS]),
            function_words=(*words.function_words, *_flat(lines[_FUNCTION_WORDS])),
        )


def _built_in() -> Words:
    lines: _Lines = defaultdict(list)
    section = ""
    for line in files("dedup_job.judgment").joinpath("words.txt").read_text("utf-8").splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            lines[section].append(tuple(map(_spaced, line.split())))
    return Words(
        synonyms=tuple(lines[_SYNONYMS]),
        function_words=_flat(lines[_FUNCTION_WORDS]),
        answer=_flat(lines["answer"]),
        explanation=_flat(lines["explanation"]),
        line=_flat(lines["line"]),
        note=_flat(lines["note"]),
        bracket=_flat(lines["bracket"]),
        spelling=_flat(lines["spelling"]),
        sequence=_flat(lines["sequence"]),
        imperatives=_flat(lines["imperatives"]),
        counters=_flat(lines["counters"]),
        looks=_flat(lines["looks"]),
        units=_pairs(lines["units"]),
        numerals=_pairs(lines["numerals"]),
        symbols=_pairs(lines["symbols"]),
    )


def _flat(lines: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(word for line in lines for word in line)


def _pairs(lines: Iterable[tuple[str, ...]]) -> tuple[tuple[str, str], ...]:
    return tuple((line[0], line[1]) for line in lines)


def _spaced(word: str) -> str:
    """Return an entry as it stands in texts: a dash in an English one is a space."""
    return word.replace("-", " ") if word.isascii() else word


def _parsed(text: str, name: str) -> _Lines:
    lines: _Lines = defaultdict(list)
    section, problems = _SYNONYMS, []
    for number, line in enumerate(text.splitlines(), 1):
        written = line.partition("#")[0].strip()
        if written.startswith("[") and written.endswith("]"):
            section = written[1:-1].strip().lower()
            problem = f"expected [{_SYNONYMS}] or [{_FUNCTION_WORDS}]"
            bad = section not in (_SYNONYMS, _FUNCTION_WORDS)
        else:
            words = tuple(_spaced(word.lower()) for word in written.split())
            problem, bad = _problem(section, words), True
            if words and not problem:
                lines[section].append(words)
            bad = bool(problem)
        if bad:
            problems.append(f"{name}, line {number}: {line[:60]!r}, {problem}")
    if len(problems) > _SHOWN:
        problems = [*problems[:_SHOWN], f"... and {len(problems) - _SHOWN:,} lines more"]
    if problems:
        raise ConfigurationError(problems)
    return lines


def _problem(section: str, words: tuple[str, ...]) -> str:
    """Return what is wrong with a line, "" where nothing is."""
    if not words or section not in (_SYNONYMS, _FUNCTION_WORDS):
        return ""  # a section that is not known is named once, by its header
    if any(len(word) > LONGEST for word in words):
        return f"expected words of at most {LONGEST} characters"
    if section == _SYNONYMS and len(set(words)) == 1:
        return "expected two words or more that mean the same"
    return ""


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
