"""The tables that the form of a text is read with: characters, phrases, words."""

from __future__ import annotations

import functools
import unicodedata
from enum import IntEnum, IntFlag
from pathlib import Path

import numpy as np
import opencc
from numpy.typing import NDArray

from dedup_job import _core
from dedup_job.fingerprint.lexicon import Lexicon
from dedup_job.fingerprint.trie import PLANE
from dedup_job.judgment.words import sections_of
from dedup_job.native.code_points import offsets_of, points_of


class Kind(IntEnum):
    """What a token is; a mark of src/judgment/token.hpp."""

    WORD, FUNCTION, NUMBER, LETTER, SYMBOL, IMAGE, BLANK = range(7)


class Flag(IntFlag):
    """What is known of a token's word; the same bits as in src/judgment/token.hpp."""

    NOUN, VERB, NAME, PROPER, TERM, LATIN, NEGATES, LIMITS, TRUTH, EMPHASISED = (
        1 << i for i in range(10)
    )


class Fact(IntFlag):
    """What is known of a text; the same bits as in src/judgment/token.hpp."""

    EXPLAINED, QUESTION, SELECTS, HAN = (1 << i for i in range(4))


class Meaning(IntFlag):
    """What the tables say of a word or a command, besides its `Flag`s."""

    FUNCTION, ENGLISH_FUNCTION, FORMULA, NOT_NEGATING, SIGN, LOOK, FRACTION, UNDERLINE, ENVIRONMENT = (
        1 << i for i in range(10, 19)
    )


class Phrase(IntFlag):
    """What a phrase of the tables is looked for."""

    ANSWER, EXPLANATION, LINE, NOTE, BRACKET, POINTS, UNIT = (1 << i for i in range(7))
    NUMBERED, HEADING, PAPER, NUMERAL, ASKS, SELECTS = (1 << i for i in range(7, 13))


class Class(IntEnum):
    """What a character is, once it is folded."""

    OTHER, SPACE, DIGIT, LETTER, HAN, SIGN, CIRCLED = range(7)


RAISED, LOWERED = "^", "_"
MATHEMATICAL = range(0x1D400, 0x1D800)  # letters and digits beyond the basic plane
HAN_FIRST, HAN_END = 0x3400, 0xA000
_ALIKE = {
    **dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "abezhikmnoptyx", strict=True)),
    **dict(zip("АВЕКМНОРСТХасеорху", "abekmhopctxaceopxy", strict=True)),
    **dict.fromkeys("−‐‑–⁃", "-"), **dict.fromkeys("∙•⋅・●", "·"), **dict.fromkeys("△∆Δ", "δ"),
    **dict.fromkeys("∣￨", "|"), **dict.fromkeys("′‘’", "'"), **dict.fromkeys("⁄∕", "/"),
    **dict.fromkeys("º˚∘", "°"), "∶": ":", "∼": "~", "⋯": "…", "…": "…", "⩽": "≤", "⩾": "≥",
    "≦": "≤", "≧": "≥", "▁": "_", **{chr(ord("❶") + i): f"({i + 1})" for i in range(10)},
    **dict.fromkeys("「」『』“”", '"'), "〇": "零", "【": "[", "】": "]", "〔": "(", "〕": ")", "〖": "[", "〗": "]",
    **dict.fromkeys("\n\r\x0b\x0c\x85\u2028\u2029", "\n"),
    **dict.fromkeys("\ufdd0\ufdd1\ufdd2", " "),  # no characters: marks of the form
}  # fmt: skip
_SIGNS = "+-×÷=≠<>≤≥±∓√∠⊥∥∈∉∩∪⊂⊆→⇒⇌∞∀∃∴∵≈≡~|%°·/*^_'!∑∫∏∂∅↑↓←δ⟨⟩"


@functools.cache
def folds() -> dict[str, tuple[str, str]]:
    """Return what a character becomes, and RAISED or LOWERED for superscripts and subscripts."""
    han = [chr(point) for point in range(HAN_FIRST, HAN_END)]
    simple = opencc.OpenCC("t2s").convert("\n".join(han)).split("\n")
    simplified = {a: b for a, b in zip(han, simple, strict=True) if len(b) == 1}
    found = {}
    for character in map(chr, (*range(PLANE), *MATHEMATICAL)):
        plain = "".join(_plain(c, simplified) for c in _parts(character))
        form = unicodedata.decomposition(character)
        script = {"<super>": RAISED, "<sub>": LOWERED}.get(form.partition(" ")[0], "")
        if character in _ALIKE:
            script = ""
        if plain != character or script:
            found[character] = plain, script
    return found


def _parts(character: str) -> str:
    form = unicodedata.decomposition(character)
    if not form or character in _ALIKE or form.startswith("<compat> 0020"):  # an accent by itself
        return character
    parts = unicodedata.normalize("NFKC", character)
    if form.startswith("<circle>") and parts.isascii():  # ① is no 1
        return character
    return f" {parts}" if form.startswith("<fraction>") else parts


def _plain(character: str, simplified: dict[str, str]) -> str:
    if character in _ALIKE:
        return _ALIKE[character]
    if character.isspace():
        return " "
    digit = unicodedata.decimal(character, None)
    return simplified.get(character, character).lower() if digit is None else str(digit)


def class_of(character: str) -> Class:
    """Return what a folded character is; beyond the basic plane, Han characters are letters."""
    point = ord(character)
    if point >= PLANE:
        return Class.LETTER if 0x20000 <= point < 0x40000 else Class.OTHER
    if character in " \n":
        return Class.SPACE
    if HAN_FIRST <= point < HAN_END:
        return Class.HAN
    if 0x2460 <= point <= 0x249B:
        return Class.CIRCLED
    if character.isascii() and character.isdigit():
        return Class.DIGIT
    if character in _SIGNS or unicodedata.category(character) == "Sm":
        return Class.SIGN
    return Class.LETTER if character.isalpha() else Class.OTHER


def _entries(section: str, *, own: bool = True) -> list[str]:
    lines = sections_of("form_words.txt" if own else "words.txt")[section]
    return [w.replace("-", " ") if w.isascii() else w for line in lines for w in line.split()]


@functools.cache
def phrases() -> dict[str, Phrase]:
    """Return the phrases that are looked for in a text."""
    found: dict[str, Phrase] = {}
    for kind, entries in (
        (Phrase.ANSWER, _entries("answer", own=False)),
        (Phrase.EXPLANATION, _entries("explanation", own=False)),
        (Phrase.LINE, _entries("line", own=False)),
        (Phrase.NOTE, _entries("note", own=False) + _entries("note")),
        (Phrase.BRACKET, _entries("bracket", own=False)),
        (Phrase.POINTS, _entries("points")),
        (Phrase.UNIT, _entries("point units")),
        (Phrase.NUMBERED, _entries("numbered")),
        (Phrase.HEADING, _entries("headings")),
        (Phrase.PAPER, _entries("papers")),
        (Phrase.NUMERAL, _entries("numerals")),
        (Phrase.ASKS, _entries("asks")),
        (Phrase.SELECTS, _entries("selects")),
    ):
        for entry in entries:
            found[entry] = found.get(entry, Phrase(0)) | kind
    return found


@functools.cache
def words() -> dict[str, tuple[int, int]]:
    r"""Return flags and meanings of words, and of commands as \leq, with a number.

    It is the number of a word's set of synonyms, from 1, or the sign that a command stands for.
    """
    flags: dict[str, int] = {}
    number: dict[str, int] = {}
    for meaning, entries in (
        (Meaning.FUNCTION, _entries("function words")),
        (Meaning.ENGLISH_FUNCTION, _entries("english function words")),
        (Meaning.FORMULA, _entries("functions")),
        (Meaning.NOT_NEGATING, _entries("not negating")),
        (Flag.NEGATES, _entries("negations")),
        (Flag.LIMITS, _entries("limits")),
        (Flag.TRUTH, _entries("truth")),
        (Meaning.LOOK, [f"\\{name}" for name in _entries("looks", own=False) + _entries("looks")]),
        (Meaning.FRACTION, [f"\\{name}" for name in _entries("fractions")]),
        (Meaning.UNDERLINE, [f"\\{name}" for name in _entries("underlines")]),
        (Meaning.ENVIRONMENT, [f"\\{name}" for name in _entries("environments")]),
    ):
        for entry in entries:
            flags[entry] = flags.get(entry, 0) | meaning
    for k, line in enumerate(sections_of("words.txt")["synonyms"], 1):
        for word in line.split():
            if len(word) > 1:
                number.setdefault(word, k)
    for line in sections_of("words.txt")["symbols"]:
        name, sign, *_ = line.split()
        if len(sign) == 1 and f"\\{name}" not in flags:
            flags[f"\\{name}"], number[f"\\{name}"] = Meaning.SIGN, ord(sign)
    return {word: (flags.get(word, 0), number.get(word, 0)) for word in {**flags, **number}}


@functools.cache
def negating() -> str:
    """Return the characters that a Chinese word negates by."""
    return "".join(_entries("negating"))


def flags_of_tag(tag: str) -> Flag:
    """Return what jieba's part of speech says of a word."""
    found = Flag(0)
    if tag.startswith("n"):
        found |= Flag.NOUN
    if tag.startswith("v"):
        found |= Flag.VERB
    if tag.startswith(("nr", "ns", "nt", "nz")):
        found |= Flag.NAME
    if tag.startswith(("nr", "ns", "nt")):
        found |= Flag.PROPER
    if tag.startswith(("n", "x", "l", "j", "vn", "eng")):
        found |= Flag.TERM
    return found


@functools.cache
def parts_of_speech() -> dict[str, str]:
    """Return the tag of each of jieba's words."""
    import jieba

    text = (Path(jieba.__file__).parent / "dict.txt").read_text("utf-8")
    return {word: tag for word, _, tag in map(str.split, text.splitlines())}


@functools.cache
def idf() -> dict[str, float]:
    """Return jieba's inverse document frequencies."""
    import jieba

    lines = (Path(jieba.__file__).parent / "analyse/idf.txt").read_text("utf-8").splitlines()
    return {word: float(figure) for word, figure in map(str.split, lines)}
