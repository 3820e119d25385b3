"""The tables that the form of a text is read with: characters, phrases, words."""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Iterator, Mapping
from enum import IntEnum, IntFlag
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import xxhash
from numpy.typing import NDArray

from dedup_job import _core
from dedup_job.files import digest_of
from dedup_job.fingerprint.lexicon import PLANE
from dedup_job.fingerprint.lexicon_cache import digest_of_lexicon, jieba_files
from dedup_job.judgment.words import points_of, sections_of, spaced
from dedup_job.native.array_cache import cache_file, kept_arrays
from dedup_job.native.code_points import pack


class Flag(IntFlag):
    """What is known of a token's word; the same bits as in src/judgment/token.hpp."""

    PROPER, LATIN, NEGATES, LIMITS, EMPHASISED, ASKS = (1 << i for i in range(6))
    GRAMMAR, JOINS, EQUALS, TASK, POLAR, LISTED, ARGUMENT = (1 << i for i in range(6, 13))


class Meaning(IntFlag):
    """What the tables say of a word or a command, besides its `Flag`s."""

    FUNCTION, ENGLISH_FUNCTION, FORMULA, NOT_NEGATING = (1 << i for i in range(13, 17))
    AUXILIARY, SIGN, LOOK, FRACTION, UNDERLINE, ENVIRONMENT = (1 << i for i in range(17, 23))


class Phrase(IntFlag):
    """What a phrase is looked for: the section of the file that names it."""

    ANSWER, EXPLANATION, LINE, NOTE, BRACKET, POINTS, UNIT = (1 << i for i in range(7))
    NUMBERED, HEADING, PAPER, NUMERAL, LIGHT, PART, JOINT, HANGER = (1 << i for i in range(7, 15))
    ASK = 1 << 15


_WORDS = {
    Meaning.FUNCTION: "function words",
    Meaning.ENGLISH_FUNCTION: "english function words",
    Meaning.FORMULA: "functions",
    Meaning.NOT_NEGATING: "not negating",
    Flag.NEGATES: "negations",
    Flag.LIMITS: "limits",
    Flag.ASKS: "interrogatives",
    Flag.JOINS: "joining",
    Flag.EQUALS: "equating",
    Flag.TASK: "asking",
    Flag.POLAR: "polar",
    Meaning.AUXILIARY: "auxiliaries",
}
_COMMANDS = (Meaning.LOOK, Meaning.FRACTION, Meaning.UNDERLINE, Meaning.ENVIRONMENT)


class Class(IntEnum):
    """What a character is, once it is folded."""

    OTHER, SPACE, DIGIT, LETTER, HAN, SIGN, CIRCLED, MARK = range(8)


WORDS = "form_words.txt"
RAISED, LOWERED, JOINED = "^", "_", "+"
MATHEMATICAL = range(0x1D400, 0x1D800)  # letters and digits beyond the basic plane
HAN_FIRST, HAN_END = 0x3400, 0xA000
_ALIKE = {
    **dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "abezhikmnoptyx", strict=True)),
    **dict(zip("АВЕКМНОРСТХасеорху", "abekmhopctxaceopxy", strict=True)),
    **dict.fromkeys("−‐‑–⁃", "-"), **dict.fromkeys("∙•⋅・", "·"), **dict.fromkeys("△∆Δ", "δ"),
    **dict.fromkeys("∣￨", "|"), **dict.fromkeys("′‘’", "'"), **dict.fromkeys("⁄∕", "/"),
    **dict.fromkeys("º˚∘", "°"), "∶": ":", "∼": "~", "⋯": "…", "…": "…", "⩽": "≤", "⩾": "≥",
    "≦": "≤", "≧": "≥", "▁": "_", **{chr(ord("❶") + i): f"({i + 1})" for i in range(10)},
    **dict.fromkeys("「」『』“”", '"'), "〇": "零",
    **dict(zip("【】〔〕〖〗", "[]()[]", strict=True)),
    **dict(zip("⺠⺬⻄⻅⻆⻉⻋⻑⻓⻔⻘⻙⻚⻛⻜", "民示西见角贝车长长门青韦页风飞", strict=True)),
    **dict(zip("⻁⻝⻢⻣⻤⻥⻦⻧⻨⻩⻪⻬⻮⻰", "虎食马骨鬼鱼鸟卤麦黄黾齐齿龙", strict=True)),
    "餽": "馈", "痺": "痹", "簷": "檐", "著": "着",
    **dict.fromkeys("\n\r\x0b\x0c\x85\u2028\u2029", "\n"),
    **dict.fromkeys("\ufdd0\ufdd1\ufdd2", " "),  # no characters: marks of the form
    **{chr(0xFDD6 + k): chr(ord("A") + k) for k in range(26)},  # ... capitals that stay
}  # fmt: skip
_MARKS = ("So", "Sc", "Co")  # symbols, currencies, signs of a font's own
_SIGNS = "+-×÷=≠<>≤≥±∓√∠⊥∥∈∉∩∪⊂⊆→⇒⇌∞∀∃∴∵≈≡~|%°·/*^_'!∑∫∏∂∅↑↓←δ⟨⟩"


@functools.cache
def folds() -> dict[str, tuple[str, str]]:
    """Return what a character becomes, and RAISED or LOWERED for superscripts and subscripts.

    JOINED: what stands beside it decides, or is decided by it: an accent, 著 in 名著, “髮”.
    """
    import opencc

    han = [chr(point) for point in range(HAN_FIRST, HAN_END)]
    simple = opencc.OpenCC("hk2s").convert("\n".join(han)).split("\n")
    simplified = {a: b for a, b in zip(han, simple, strict=True) if len(b) == 1}
    found = {}
    for character in map(chr, (*range(PLANE), *MATHEMATICAL)):
        plain = "".join(_plain(c, simplified) for c in _parts(character))
        form = unicodedata.decomposition(character)
        script = {"<super>": RAISED, "<sub>": LOWERED}.get(form.partition(" ")[0], "")
        if character in _ALIKE:
            script = ""
        if plain in _marks() or plain in ('"', "'") or character == "著":
            script = JOINED
        if plain != character or script:
            found[character] = plain, script
    return found


@functools.cache
def _marks() -> frozenset[str]:
    return frozenset("".join(unicodedata.normalize("NFD", c)[1:] for c in map(chr, range(PLANE))))


def _compositions() -> Iterator[tuple[str, str]]:
    for character in map(chr, reversed(range(PLANE))):
        parts = unicodedata.normalize("NFD", character)
        for k in range(1, len(parts)):
            base = unicodedata.normalize("NFC", parts[:k] + parts[k + 1 :])
            if len(base) == 1:
                one, whole = (folds().get(c, (c, ""))[0] for c in (base, character))
                yield one + parts[k], whole


def _parts(character: str) -> str:
    form = unicodedata.decomposition(character)
    if not form or character in _ALIKE or form.startswith("<compat> 0020"):  # an accent by itself
        return character
    parts = unicodedata.normalize("NFKC", character)
    if form.startswith("<circle>") and parts.isascii():  # ① is no 1
        return character
    return f" {parts}" if form.startswith("<fraction>") else parts


def _plain(character: str, simplified: dict[str, str]) -> str:
    if character.isspace() and character not in _ALIKE:
        return " "
    if 10 <= unicodedata.combining(character) <= 35:  # points of Hebrew and Arabic
        return ""
    parts = unicodedata.normalize("NFD", character)
    if parts[0] in _ALIKE:
        return unicodedata.normalize("NFC", _ALIKE[parts[0]] + parts[1:])
    digit = unicodedata.decimal(character, None)
    return simplified.get(character, character).lower() if digit is None else str(digit)


def class_of(character: str) -> Class:
    """Return what a folded character is; beyond the basic plane, Han characters are letters."""
    point = ord(character)
    if point >= PLANE:
        return Class.LETTER if 0x20000 <= point < 0x40000 else Class.MARK
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
    kind = unicodedata.category(character)
    if character.isalpha() or (kind in ("Mn", "Mc") and not 0xFE00 <= point < 0xFE10):
        return Class.LETTER
    drawn = 0x2500 <= point < 0x25A0 or point in (0xFFFC, 0xFFFD)  # frames, what is not readable
    return Class.MARK if character in "@&" or (kind in _MARKS and not drawn) else Class.OTHER


def _entries(section: str) -> list[str]:
    return [*map(spaced, " ".join(sections_of(WORDS)[section]).split())]


@functools.cache
def phrases() -> dict[str, Phrase]:
    """Return the phrases that are looked for in a text."""
    found: dict[str, Phrase] = {}
    for kind in Phrase:
        for entry in _entries(str(kind.name).lower()):
            found[entry] = found.get(entry, Phrase(0)) | kind
    return found


@functools.cache
def words() -> dict[str, tuple[int, int]]:
    r"""Return flags and meanings of words, and of commands as \leq, with a number.

    It is the number of a word's set of synonyms, from 1, the sign that a command stands for, or the
    character that a pair of one and a mark stands for.
    """
    flags: dict[str, int] = {}
    number: dict[str, int] = {}
    for meaning, section in _WORDS.items():
        for entry in _entries(section):
            flags[entry] = flags.get(entry, 0) | meaning
    for command in _COMMANDS:
        flags |= {f"\\{name}": command for name in _entries(f"{str(command.name).lower()}s")}
    for sign, *names in map(str.split, sections_of(WORDS)["symbols"]):
        flags |= {f"\\{name}": Meaning.SIGN for name in names}
        number |= {f"\\{name}": ord(sign) for name in names}
    for k, line in enumerate(sections_of(WORDS)["synonyms"], 1):
        number |= dict.fromkeys(line.split(), k)
    number |= {pair: ord(whole) for pair, whole in _compositions() if len(whole) == 1}
    layout = _entries("layout")
    light = (*_entries("function words"), *_entries("english function words"), *number)
    for word in light:
        if word not in layout and not word.startswith("\\"):
            flags[word] = flags.get(word, 0) | Flag.GRAMMAR
    return {word: (flags.get(word, 0), number.get(word, 0)) for word in {**flags, **number}}


@functools.cache
def negating() -> str:
    """Return the characters that a Chinese word negates by."""
    return "".join(_entries("negating"))


@functools.cache
def proper_nouns() -> frozenset[str]:
    """Return those of jieba's words that name persons, places or organisations."""
    lines = jieba_files()[0].read_text("utf-8").splitlines()
    tags = {word: tag for word, _, tag in map(str.split, lines)}
    return frozenset(word for word, tag in tags.items() if tag.startswith(("nr", "ns", "nt")))


@functools.cache
def idf() -> dict[str, float]:
    """Return jieba's inverse document frequencies."""
    lines = jieba_files()[1].read_text("utf-8").splitlines()
    return {word: float(figure) for word, figure in map(str.split, lines)}


class FormTables(NamedTuple):
    """The tables as arrays; n is the number of the lexicon's nodes. Texts are points and offsets.

    folded: texts, what each character becomes, of the basic plane, then of MATHEMATICAL.
    scripts: uint32 (of these), RAISED, LOWERED or JOINED, 0 for others.
    classes: uint8 (65536,), the Class of each.
    proper: uint8 (n,), 1 for what names a person, a place or an organisation.
    weights: float32 (n,), inverse document frequencies, 0 where there is none.
    phrases: texts, sorted; phrase_kinds: uint16 (of each).
    words: texts; word_flags, word_numbers: uint32 (of each).
    negating: characters that a Chinese word negates by.
    """

    folded: NDArray[np.uint32]
    folded_offsets: NDArray[np.int64]
    scripts: NDArray[np.uint32]
    classes: NDArray[np.uint8]
    proper: NDArray[np.uint8]
    weights: NDArray[np.float32]
    phrases: NDArray[np.uint32]
    phrase_offsets: NDArray[np.int64]
    phrase_kinds: NDArray[np.uint16]
    words: NDArray[np.uint32]
    word_offsets: NDArray[np.int64]
    word_flags: NDArray[np.uint32]
    word_numbers: NDArray[np.uint32]
    negating: NDArray[np.uint32]


def form_tables(lexicon: _core.Lexicon) -> _core.FormTables:
    """Return the tables for a lexicon, from the cache or built (about a second)."""
    return kept_arrays(
        cache_file("forms", _digest()),
        lambda tables: _core.FormTables(lexicon, **tables),
        lambda: build_tables(lexicon)._asdict(),
    )


def _digest() -> str:
    versions = version("opencc"), unicodedata.unidata_version, digest_of_lexicon()
    own = (digest_of(Path(__file__).with_name(name)) for name in ("form_tables.py", WORDS))
    return xxhash.xxh3_128_hexdigest(" ".join([*versions, *own]).encode())


def build_tables(lexicon: _core.Lexicon) -> FormTables:
    """Return the tables for a lexicon."""
    characters = [*map(chr, (*range(PLANE), *MATHEMATICAL))]
    folded = [folds().get(character, (character, "")) for character in characters]
    proper, weights = np.zeros(len(lexicon), np.uint8), np.zeros(len(lexicon), np.float32)
    _set(proper, lexicon, dict.fromkeys(proper_nouns(), 1))
    _set(weights, lexicon, idf())
    sought = sorted(phrases())
    plain, plain_offsets = points_of([plain for plain, _ in folded])
    phrase, phrase_offsets = points_of(sought)
    known, known_offsets = points_of([*words()])
    flags, numbers = zip(*words().values(), strict=True)
    return FormTables(
        plain,
        plain_offsets,
        scripts=np.array([ord(script or "\0") for _, script in folded], np.uint32),
        classes=np.array([class_of(character) for character in characters[:PLANE]], np.uint8),
        proper=proper,
        weights=weights,
        phrases=phrase,
        phrase_offsets=phrase_offsets,
        phrase_kinds=np.array([phrases()[one] for one in sought], np.uint16),
        words=known,
        word_offsets=known_offsets,
        word_flags=np.array(flags, np.uint32),
        word_numbers=np.array(numbers, np.uint32),
        negating=points_of([negating()])[0],
    )


def _set(table: NDArray[Any], lexicon: _core.Lexicon, values: Mapping[str, float]) -> None:
    nodes = lexicon.find(pack([*values]).utf8())
    table[nodes[nodes >= 0]] = np.array([*values.values()], table.dtype)[nodes >= 0]
