"""The characters and words of canonical forms: their kinds, the lists, the tables made of them."""

from __future__ import annotations

import functools
import string
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

import numpy as np
import opencc
from numpy.typing import NDArray

from dedup_job.errors import ConfigurationError
from dedup_job.files import read_text
from dedup_job.fingerprint.trie import PLANE


def constants(values: Iterable[int]) -> tuple[int, ...]:
    """Return numbers as numba takes them for variables."""
    return cast("tuple[int, ...]", tuple(np.int64(value) for value in values))


def codes(text: str) -> tuple[int, ...]:
    """Return the code points of characters, for comparison with cells."""
    return constants(map(ord, text))


Cells = NDArray[np.uint32]
"""Characters with their kinds: a code point, flags and the kind above; also tables of them."""

(NOUGHT,) = constants([0])
YES, NO = (cast("bool", np.bool_(value)) for value in (True, False))


POINT = (1 << 21) - 1
WORD_CHARACTER = 1 << 21  # a letter, digit, character of any script, or _
STARTS = 1 << 22  # a word of the lists begins with it
RARE = 1 << 23  # a word of the RARE_LISTS may begin here; `mark_rare` sets it
KIND = 24

# HAN and SYMBOL are written as they are; Chinese numerals and 至 are of kinds of their own
(
    HAN, SYMBOL, NUMERAL, UNTIL, LETTER, LATIN, DIGIT, BLANK, DROPPED, CLAUSE, MARK, RAISED,
    LOWERED, EXPANDED,
) = range(14)  # fmt: skip
BEYOND = WORD_CHARACTER | SYMBOL << KIND  # of characters beyond the basic plane
MATHEMATICAL, MATHEMATICAL_END = 0x1D400, 0x1D800  # letters and digits beyond the basic plane

_ALIKE = {
    **dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX", strict=True)),
    **dict(zip("АВЕКМНОРСТХасеорху", "ABEKMHOPCTXaceopxy", strict=True)),
    **dict.fromkeys("−‐‑–⁃", "-"), **dict.fromkeys("∙•⋅・●", "·"), **dict.fromkeys("△∆Δ", "δ"),
    **dict.fromkeys("∣￨", "|"), **dict.fromkeys("′‘’", "'"), **dict.fromkeys("⁄∕", "/"),
    **dict.fromkeys("º˚∘", "°"), "∶": ":", "∼": "~", "⋯": "…", "⩽": "≤", "⩾": "≥", "≦": "≤",
    "≧": "≥", "▁": "_",
    **{chr(ord("❶") + i): f"({i + 1})" for i in range(10)},
}  # fmt: skip
_SMALL_A = "ᴀ"  # written as an index, as in Nᴀ
_SPACE = "<compat> 0020 "  # an accent by itself
_DROPPED = ':"#…、“”《》〈〉「」『』【】〔〕〖〗$`'
_CLAUSES = ",;?。"
_MARKS = "\\([)]-~—<>*!{}&|/·'._^"
_NUMERALS = "零〇一二两三四五六七八九十百千万亿"


class Alphabet(NamedTuple):
    """cells: uint32 (65536,), cell of each character of the basic plane.

    Where its kind is EXPANDED, the point is e, and the character becomes the cells
    expansions[starts[e]:starts[e + 1]], uint32 and int32. mathematical: uint32 (1024,), cells of
    the characters from MATHEMATICAL on. small: uint32 (65536,), the small letter of each; of
    superscripts and subscripts what they stand for.
    """

    cells: Cells
    expansions: Cells
    starts: NDArray[np.int32]
    mathematical: Cells
    small: Cells


@functools.cache
def alphabet() -> Alphabet:
    """Return the tables; they are made once."""
    cells, small = _kinds(), _small()
    expansions: list[int] = []
    starts = [0]
    mathematical = np.arange(MATHEMATICAL, MATHEMATICAL_END, dtype=np.uint32)
    mathematical |= np.uint32(BEYOND)
    own = cells.copy()  # what a character is that becomes no other
    for character, plain in _changed().items():
        many = [
            _script(c) or (int(own[ord(c)]) if ord(c) < PLANE else ord(c) | BEYOND) for c in plain
        ]
        if len(many) > 1:
            expansions += many
            many = [len(starts) - 1 | EXPANDED << KIND]
            starts.append(len(expansions))
        if many[0] >> KIND in (RAISED, LOWERED):
            small[ord(character)] = ord(_meant(character))
        if ord(character) < PLANE:
            cells[ord(character)] = many[0]
        else:
            mathematical[ord(character) - MATHEMATICAL] = many[0]
    return Alphabet(
        cells,
        np.array(expansions, dtype=np.uint32),
        np.array(starts, dtype=np.int32),
        mathematical,
        small,
    )


def _changed() -> dict[str, str]:
    """Return the replacements of the characters that have one."""
    simple = _simplified()
    changed = dict(simple)
    for character in map(chr, (*range(0x80, PLANE), *range(MATHEMATICAL, MATHEMATICAL_END))):
        form = unicodedata.decomposition(character)
        if not (form or character in _ALIKE or character.isdecimal() or character == _SMALL_A):
            continue
        if character in _ALIKE or character == "…" or form.startswith(_SPACE) or _script(character):
            parts = character
        elif form.startswith("<square>"):  # ㎡ is m²
            parts = "".join(chr(int(point, 16)) for point in form.split()[1:])
        else:
            parts = unicodedata.normalize("NFKC", character)
            if form.startswith("<fraction>"):
                parts = f" {parts}"
            elif form.startswith("<circle>") and parts.isascii():
                parts = f"({parts})"
        changed[character] = "".join(c if _script(c) else _plain(c, simple) for c in parts)
    return changed


def _plain(character: str, simple: dict[str, str]) -> str:
    digit = unicodedata.decimal(character, None)
    other = simple.get(character, character) if digit is None else str(digit)
    return _ALIKE.get(character, other)


def _simplified() -> dict[str, str]:
    """Return the simplified form of each traditional character."""
    those = [chr(point) for point in range(0x3400, 0xA000)]
    converted = opencc.OpenCC("t2s").convert("\n".join(those)).split("\n")
    pairs = zip(those, converted, strict=True)
    return {a: b for a, b in pairs if a != b and len(b) == 1}


def _script(character: str) -> int:
    """Return the cell of a superscript or subscript, 0 for others."""
    tag, *points = unicodedata.decomposition(character).split() or [""]
    kind = {"<super>": RAISED, "<sub>": LOWERED}.get(tag, 0)
    if character == _SMALL_A:
        kind, points = LOWERED, [tag]
    if not kind or len(points) != 1 or character in _ALIKE or ord(character) >= PLANE:
        return 0
    cell = ord(character) | kind << KIND
    return cell | WORD_CHARACTER if character.isalnum() else cell


def _meant(character: str) -> str:
    """Return what a superscript or subscript stands for."""
    if character == _SMALL_A:
        return "a"
    plain = unicodedata.normalize("NFKC", character).lower()
    return _ALIKE.get(plain, plain)


def _kinds() -> Cells:
    """Return the cell of each character as it is, uint32 (65536,)."""
    plane = "".join(map(chr, range(PLANE)))
    words = np.array([character.isalnum() for character in plane])
    kinds = np.where(words, LETTER, SYMBOL).astype(np.uint32)
    kinds[0x3400:0xA000] = HAN
    for kind, those in (
        (LATIN, string.ascii_letters),
        (DIGIT, string.digits),
        (NUMERAL, _NUMERALS),
        (UNTIL, "至"),
        (DROPPED, _DROPPED),
        (CLAUSE, _CLAUSES),
        (MARK, _MARKS),
    ):
        kinds[[ord(character) for character in those]] = kind
    kinds[[character.isspace() for character in plane]] = BLANK
    words[ord("_")] = True
    cells = np.arange(PLANE, dtype=np.uint32) | kinds << np.uint32(KIND)
    return cells | words * np.uint32(WORD_CHARACTER)


def _small() -> Cells:
    """Return the small letter of each character; İ has none of one character."""
    plane = "".join(map(chr, range(PLANE))).replace("İ", "i").lower()
    small = np.frombuffer(plane.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).copy()
    small[ord("İ")] = ord("İ")
    return small


LONGEST: Final = 16  # characters of a user's word
_SHOWN = 10
_SYNONYMS, _FUNCTION_WORDS = "synonyms", "function words"
_GROUPED = (_SYNONYMS, "units", "numerals", "symbols")  # their lines belong together
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


@functools.cache
def sections_of(name: str) -> Mapping[str, tuple[str, ...]]:
    """Return the lines of a data file of this folder by section."""
    found: dict[str, list[str]] = {}
    for line in files("dedup_job.judgment").joinpath(name).read_text("utf-8").splitlines():
        if line.startswith("["):
            found[line.strip("[]")] = now = []
        elif line and not line.startswith("#"):
            now.append(line)
    return {section: tuple(lines) for section, lines in found.items()}


@functools.cache
def _built_in() -> Words:
    lists: dict[str, tuple[Any, ...]] = {}
    for section, lines in sections_of("words.txt").items():
        own = tuple(tuple(map(_spaced, line.split())) for line in lines)
        lists[section.replace(" ", "_")] = own if section in _GROUPED else _flat(own)
    return Words(**lists)


def _flat(lines: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(word for line in lines for word in line)


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
            known = section in (_SYNONYMS, _FUNCTION_WORDS)
            problem = "" if known else f"expected [{_SYNONYMS}] or [{_FUNCTION_WORDS}]"
        else:
            words = tuple(_spaced(word.lower()) for word in written.split())
            problem = _problem(section, words)
            if words and not problem:
                lines[section].append(words)
        if problem:
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
    ANSWER_WORD, EXPLANATION, LINE, NOTE, BRACKET, BRACKET_LATIN, SPELLING_WORD, SEQUENCE_WORD,
    IMPERATIVE, COUNTER, UNIT, ENGLISH, SYMBOL_NAME, LOOK_NAME, KIND_WORD, TITLE, TASK, EXAM,
    NUMBERED, PAGED, STEMS, FRACTION, BEGIN, END_OF, ROOT_NAME, CIRCLE, OPENER, PAGE,
) = constants(1 << i for i in range(28))  # fmt: skip

RARE_LISTS = (
    ANSWER_WORD | EXPLANATION | LINE | NOTE | SPELLING_WORD | SEQUENCE_WORD | NUMBERED | PAGED
)  # searched for in whole texts

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
def word_tables(words: Words) -> Cells:
    """Return the tables for words, uint32; they are made once.

    CELLS: the cell of each character of the basic plane; where its kind is EXPANDED, its point
    tells where the number and then the cells lie that it becomes. SMALL: the small letters.
    MASKS: the lists in which words begin with a character. PAIRS: those in which they begin with
    two, by `cells.pair_of`. FIRST: where the first of them lies, REST: there is none.
    MATHEMATICALS: the cells from MATHEMATICAL on. COMMANDS: as FIRST, for commands of LaTeX.
    """
    latin = [word for word in words.bracket if word.isascii()]
    plain: list[tuple[int, Iterable[str]]] = [
        (ANSWER_WORD, words.answer), (EXPLANATION, words.explanation), (LINE, words.line),
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
    cells, mathematical = _with_expansions(characters, masks, rest)
    tail = np.array(rest, dtype=np.uint32)
    return np.concatenate(
        [cells, characters.small, masks, first, mathematical, commands[:128], pairs, tail]
    )


def _with_expansions(characters: Alphabet, masks: Cells, rest: list[int]) -> tuple[Cells, Cells]:
    """Add expansions to what follows the tables; return CELLS and MATHEMATICALS."""
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
    return cells, mathematical


def _marked(cells: Cells, masks: Cells) -> Cells:
    """Set STARTS where a word begins with a character."""
    marked, kinds, points = cells.copy(), cells >> KIND, cells & POINT
    points[kinds == LATIN] |= 32
    starts = (points < PLANE) & (kinds != EXPANDED)
    starts[starts] = masks[points[starts]] != 0
    marked[starts] |= np.uint32(STARTS)
    return marked


def _add(entries: list[tuple[int, str, str]], rest: list[int]) -> tuple[Cells, Cells]:
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
