"""The characters of canonical forms, and the limits of what is compared."""

from __future__ import annotations

import functools
import string
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple, cast

import numpy as np
import opencc
from numpy.typing import NDArray

from dedup_job.fingerprint.trie import PLANE


def constants(values: Iterable[int]) -> tuple[int, ...]:
    """Return numbers as numba takes them for variables."""
    return cast("tuple[int, ...]", tuple(np.int64(value) for value in values))


def codes(text: str) -> tuple[int, ...]:
    """Return the code points of characters, for comparison with cells."""
    return constants(map(ord, text))


(NOUGHT,) = constants([0])
YES, NO = (cast("bool", np.bool_(value)) for value in (True, False))


POINT = (1 << 21) - 1
WORD_CHARACTER = 1 << 21  # a letter, digit, character of any script, or _
STARTS = 1 << 22  # a word of the lists begins with it
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

    cells: NDArray[np.uint32]
    expansions: NDArray[np.uint32]
    starts: NDArray[np.int32]
    mathematical: NDArray[np.uint32]
    small: NDArray[np.uint32]


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
    """Return what becomes of the characters that do not stay what they are."""
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


def _kinds() -> NDArray[np.uint32]:
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


def _small() -> NDArray[np.uint32]:
    """Return the small letter of each character; İ has none of one character."""
    plane = "".join(map(chr, range(PLANE))).replace("İ", "i").lower()
    small = np.frombuffer(plane.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).copy()
    small[ord("İ")] = ord("İ")
    return small
