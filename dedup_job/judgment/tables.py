"""The tables that texts are read and compared with: characters, phrases, words, their relations."""

import functools
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from dedup_job import _core
from dedup_job.files import digest_of
from dedup_job.fingerprint import PLANE, digest_of_lexicon, idf, jieba_files
from dedup_job.native.bytes_column import pack

WORDS = "form_words.txt"
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
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
def folding_table() -> dict[str, tuple[str, str]]:
    """Return the folding of each character, with RAISED, LOWERED or JOINED, else "".

    RAISED, LOWERED: superscripts and subscripts. JOINED: it depends on its neighbours, or they on
    it: an accent, 著 in 名著, “髮”.
    """
    import opencc

    han = [chr(point) for point in range(HAN_FIRST, HAN_END)]
    simple = opencc.OpenCC("hk2s").convert("\n".join(han)).split("\n")
    simplified = {a: b for a, b in zip(han, simple, strict=True) if len(b) == 1}
    decomposed = (unicodedata.normalize("NFD", character) for character in map(chr, range(PLANE)))
    joining = {'"', "'", *(mark for parts in decomposed for mark in parts[1:])}
    found = {}
    for character in map(chr, (*range(PLANE), *MATHEMATICAL)):
        plain = "".join(_plain(c, simplified) for c in _parts(character))
        form = unicodedata.decomposition(character)
        script = {"<super>": RAISED, "<sub>": LOWERED}.get(form.partition(" ")[0], "")
        if character in _ALIKE:
            script = ""
        if plain in joining or character == "著":
            script = JOINED
        if plain != character or script:
            found[character] = plain, script
    return found


def _compositions() -> Iterator[tuple[str, str]]:
    for character in map(chr, reversed(range(PLANE))):
        parts = unicodedata.normalize("NFD", character)
        for k in range(1, len(parts)):
            base = unicodedata.normalize("NFC", parts[:k] + parts[k + 1 :])
            if len(base) == 1:
                one, whole = (folding_table().get(c, (c, ""))[0] for c in (base, character))
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


def class_of(character: str) -> str:
    """Return the class of a folded character; beyond the basic plane, Han is a letter."""
    point = ord(character)
    if point >= PLANE:
        return "letter" if 0x20000 <= point < 0x40000 else "mark"
    if character in " \n":
        return "space"
    if HAN_FIRST <= point < HAN_END:
        return "han"
    if 0x2460 <= point <= 0x249B:
        return "circled"
    if character.isascii() and character.isdigit():
        return "digit"
    if character in _SIGNS or unicodedata.category(character) == "Sm":
        return "sign"
    kind = unicodedata.category(character)
    if character.isalpha() or (kind in ("Mn", "Mc") and not 0xFE00 <= point < 0xFE10):
        return "letter"
    is_drawing = 0x2500 <= point < 0x25A0 or character in "\ufffc\ufffd"  # frames, unreadable ones
    return "mark" if character in "@&" or (kind in _MARKS and not is_drawing) else "other"


@functools.cache
def sections_of(name: str) -> Mapping[str, tuple[str, ...]]:
    """Return the lines of a data file of this folder, by section."""
    found: dict[str, list[str]] = {}
    for line in files("dedup_job.judgment").joinpath(name).read_text("utf-8").splitlines():
        if line.startswith("["):
            found[line.strip("[]")] = now = []
        elif line and not line.startswith("#"):
            now.append(line)
    return {section: tuple(lines) for section, lines in found.items()}


def _entries(section: str) -> list[str]:
    """Return the entries of a section; a dash in an English one is a space."""
    words = " ".join(sections_of(WORDS).get(section, ())).split()
    return [word.replace("-", " ") if word.isascii() else word for word in words]


def _listed(bits: Mapping[str, int]) -> dict[str, int]:
    found: dict[str, int] = {}
    for section, bit in bits.items():
        for entry in _entries(section):
            found[entry] = found.get(entry, 0) | bit
    return found


@functools.cache
def phrases() -> dict[str, int]:
    """Return the phrases that parsing looks for, with bits of `_core.PHRASES`."""
    return _listed(_core.PHRASES)


@functools.cache
def words() -> dict[str, tuple[int, int]]:
    r"""Return bits of `_core.FLAGS` and a number for each word, and for commands such as \leq.

    The number is that of the set of synonyms, 1-based, the code point of the sign of a command,
    or the code point of the character composed of a pair of character and mark.
    """
    flags, number = _listed(_core.FLAGS), dict[str, int]()
    for sign, *names in map(str.split, sections_of(WORDS)["symbols"]):
        flags |= {f"\\{name}": _core.FLAGS["sign"] for name in names}
        number |= {f"\\{name}": ord(sign) for name in names}
    for k, line in enumerate(sections_of(WORDS)["synonyms"], 1):
        number |= dict.fromkeys(line.split(), k)
    number |= {pair: ord(whole) for pair, whole in _compositions() if len(whole) == 1}
    layout, known = _entries("layout"), relations()
    light = (*_entries("function"), *_entries("english_function"), *number)
    for flag, some in {
        "grammar": [word for word in light if word not in layout and not word.startswith("\\")],
        "behind_number": known.units,
        "unit_symbol": known.unit_symbols,
    }.items():
        for word in some:
            flags[word] = flags.get(word, 0) | _core.FLAGS[flag]
    every = {**flags, **number, **known.whole}
    return {word: (flags.get(word, 0), number.get(word, 0)) for word in every}


def _proper_nouns() -> frozenset[str]:
    lines = jieba_files()[0].read_text("utf-8").splitlines()
    tags = {word: tag for word, _, tag in map(str.split, lines)}
    return frozenset(word for word, tag in tags.items() if tag.startswith(("nr", "ns", "nt")))


def table_digest() -> str:
    """Return the digest of the files from which the tables are made."""
    folder, made_of = Path(__file__).parent, ("tables.py", "*.txt")
    own = (digest_of(file) for names in made_of for file in sorted(folder.glob(names)))
    versions = version("opencc"), unicodedata.unidata_version, digest_of_lexicon()
    return xxhash.xxh3_128_hexdigest(" ".join([*versions, *own]).encode())


@dataclass(frozen=True, slots=True)
class Relations:
    """Groups and pairs of words and characters.

    opposites: groups of words that exclude each other. alike: groups of characters that look or
    sound alike. units: symbols by spelling behind a number. whole: plain texts of words that are a
    whole text, such as English numerals and units.
    """

    opposites: tuple[tuple[str, ...], ...]
    alike: tuple[str, ...]
    units: Mapping[str, str]
    unit_symbols: frozenset[str]
    whole: Mapping[str, str]


@functools.cache
def relations() -> Relations:
    """Return the relations (cached)."""
    own, alike = map(sections_of, ("relations.txt", "alike.txt"))
    units, numerals, signs = (
        dict(map(str.split, own[section])) for section in ("units", "numerals", "signs")
    )
    digits = {"one": "1"} | {one: value for one, value in numerals.items() if 0 < int(value) < 10}
    numerals |= {
        ten + one: str(int(numerals[ten]) + int(value))
        for ten in _TENS
        for one, value in digits.items()
    }
    apart = {*"".join(own["no slip"])}
    shapes = (line[0] + other for line in alike["shapes"] for other in line[1:])
    sounds = (line.split()[-1] for line in alike["sounds"])
    groups = (*shapes, *alike["sure"], *sounds)
    slips = ("".join(c for c in group if c not in apart) for group in groups)
    return Relations(
        opposites=tuple(tuple(line.split()) for line in own["opposites"]),
        alike=(*slips, *own["signs alike"]),
        units=units,
        unit_symbols=frozenset([*units.values(), *" ".join(own["unit symbols"]).split()]),
        whole=units | numerals | signs,
    )


def build_tables(lexicon: _core.Lexicon) -> dict[str, NDArray[Any]]:
    """Return the tables for a lexicon of n nodes (about a second); texts with offsets.

    folded: texts, of each character of the basic plane, then of MATHEMATICAL.
    scripts: uint32, of the same, RAISED, LOWERED or JOINED, 0 for others.
    classes: uint8 (65536,), indexes of `_core.CLASSES`.
    proper: uint8 (n,), 1 for names of persons, locations and organisations.
    weights: float32 (n,), inverse document frequencies, 0 if unknown.
    phrases: texts, sorted; phrase_kinds: uint32, of each.
    words, spellings: texts, plain in the latter; word_flags, word_numbers: uint32, of each.
    opposites, alike: texts of all groups; opposites_groups, alike_groups: uint32, group of each.
    """
    characters = [*map(chr, (*range(PLANE), *MATHEMATICAL))]
    plain, scripts = zip(
        *(folding_table().get(each, (each, "")) for each in characters), strict=True
    )
    code_of = {name: code for code, name in enumerate(_core.CLASSES)}
    sought, (flags, numbers) = sorted(phrases()), zip(*words().values(), strict=True)
    return {
        **text_tables("folded", plain),
        "scripts": np.array([ord(script or "\0") for script in scripts], np.uint32),
        "classes": np.array([code_of[class_of(each)] for each in characters[:PLANE]], np.uint8),
        "proper": _by_node(lexicon, dict.fromkeys(_proper_nouns(), 1)).astype(np.uint8),
        "weights": _by_node(lexicon, idf()),
        **text_tables("phrases", sought),
        "phrase_kinds": np.array([phrases()[one] for one in sought], np.uint32),
        **text_tables("words", [*words()]),
        "word_flags": np.array(flags, np.uint32),
        "word_numbers": np.array(numbers, np.uint32),
        **text_tables("spellings", [relations().whole.get(word, "") for word in words()]),
        **_grouped("opposites", relations().opposites),
        **_grouped("alike", relations().alike),
    }


def _grouped(name: str, groups: Sequence[Sequence[str]]) -> dict[str, NDArray[Any]]:
    numbers = np.repeat(np.arange(len(groups), dtype=np.uint32), [*map(len, groups)])
    members = [member for group in groups for member in group]
    return text_tables(name, members) | {f"{name}_groups": numbers}


def text_tables(name: str, texts: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Return the two tables of texts: code points, and offsets of the texts."""
    points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    return {name: points, f"{name}_offsets": np.cumsum([0, *map(len, texts)])}


def _by_node(lexicon: _core.Lexicon, values: Mapping[str, float]) -> NDArray[np.float32]:
    table, found = np.zeros(lexicon.nodes, np.float32), lexicon.find(pack([*values]).utf8())
    table[found[found >= 0]] = np.array([*values.values()], np.float32)[found >= 0]
    return table
