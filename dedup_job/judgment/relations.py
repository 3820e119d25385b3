"""What words and characters are to each other: opposites, units, numerals, look-alikes."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from dedup_job.judgment.form_tables import sections_of, texts_of

_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_BEHIND_NUMBER, _SYMBOL = 1, 2  # as in src/judgment/relations.hpp


@dataclass(frozen=True, slots=True)
class Relations:
    """Groups and pairs of words and characters.

    opposites: groups of words that exclude each other. alike: groups of characters that look or
    sound alike. units: how they are written behind a number, and their symbols. whole: what
    stands for a whole text, numerals in English and units.
    """

    opposites: tuple[tuple[str, ...], ...]
    alike: tuple[str, ...]
    units: Mapping[str, str]
    unit_symbols: frozenset[str]
    whole: Mapping[str, str]


@functools.cache
def relations() -> Relations:
    """Return them; they are read once."""
    own, alike = map(sections_of, ("relations.txt", "alike.txt"))
    units, numerals = dict(_pairs(own["units"])), dict(_pairs(own["numerals"]))
    ones = {"one": "1", **numerals}
    digits = {name: value for name, value in ones.items() if 0 < int(value) < 10}
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
        whole=units | numerals | dict(_pairs(own["signs"])),
    )


def _pairs(lines: Iterable[str]) -> list[tuple[str, str]]:
    return [(word, meaning) for word, meaning in map(str.split, lines)]


def build_relations() -> dict[str, NDArray[Any]]:
    """Return them as tables: words by digest and characters, ascending, with their groups.

    spellings: texts, the plain one of each word; uses: of a word as a unit, bits.
    """
    known = relations()
    words = sorted({*known.whole, *known.unit_symbols}, key=_digest)
    uses = [
        _BEHIND_NUMBER * (w in known.units) + _SYMBOL * (w in known.unit_symbols) for w in words
    ]
    starts = "".join(sorted({unit[0] for unit in known.units}))
    return {
        **_groups("opposites", [[*map(_digest, group)] for group in known.opposites]),
        **_groups("alike", [[*map(ord, group)] for group in known.alike]),
        "spelled": np.array([_digest(word) for word in words], dtype=np.uint64),
        "uses": np.array(uses, dtype=np.uint8),
        **texts_of("spellings", [known.whole.get(word, "") for word in words]),
        "unit_starts": texts_of("", [starts])[""],
        "longest_unit": np.array([max(map(len, known.units))]),
    }


def _groups(name: str, groups: Sequence[Sequence[int]]) -> dict[str, NDArray[Any]]:
    numbers = np.repeat(np.arange(len(groups), dtype=np.uint32), [*map(len, groups)])
    keys = np.array([key for group in groups for key in group], dtype=np.uint64)
    order = np.argsort(keys, kind="stable")
    return {name: keys[order], f"{name}_groups": numbers[order]}


def _digest(word: str) -> int:
    return xxhash.xxh3_64_intdigest(word.encode("utf-32-le"))
