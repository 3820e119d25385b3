"""What words and characters are to each other: opposites, units, numerals, look-alikes."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from dedup_job import _core
from dedup_job.files import digest_of
from dedup_job.judgment.words import points_of, sections_of
from dedup_job.native.array_cache import Tables, cache_file, kept_arrays

_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_BEHIND_NUMBER, _SYMBOL = 1, 2  # as in src/judgment/relations.hpp
_COLUMNS = (
    *("opposites", "opposite_groups", "alike", "alike_groups", "spellings", "uses"),
    *("points", "offsets", "unit_starts", "longest_unit"),
)
_MADE_OF = ("relations.py", "words.py", "relations.txt", "alike.txt")


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


def packed() -> _core.Relations:
    """Return them as the core takes them, from the cache or built (a tenth of a second)."""

    def made_of(tables: Tables) -> _core.Relations:
        return _core.Relations(**{**tables, "longest_unit": tables["longest_unit"].item()})

    folder = Path(__file__).parent
    digest = xxhash.xxh3_128("".join(digest_of(folder / name) for name in _MADE_OF).encode())
    return kept_arrays(cache_file("relations", digest.hexdigest()), made_of, build_relations)


def build_relations() -> Tables:
    """Return what the core takes, the length of the longest unit as an array of it."""
    known = relations()
    opposites = [word for group in known.opposites for word in group]
    characters = np.frombuffer("".join(known.alike).encode("utf-32-le"), dtype=np.uint32)
    words = sorted({*known.whole, *known.unit_symbols}, key=_digest)
    uses = [
        _BEHIND_NUMBER * (w in known.units) + _SYMBOL * (w in known.unit_symbols) for w in words
    ]
    tables: list[NDArray[Any]] = [
        *_columns(list(map(_digest, opposites)), map(len, known.opposites)),
        *_columns(characters, map(len, known.alike)),
        np.array([_digest(word) for word in words], dtype=np.uint64),
        np.array(uses, dtype=np.uint8),
        *points_of([known.whole.get(word, "") for word in words]),
        points_of(sorted({unit[0] for unit in known.units}))[0],
        np.array([max(map(len, known.units))]),
    ]
    return dict(zip(_COLUMNS, tables, strict=True))


def _columns(
    members: Sequence[int] | NDArray[np.uint32], sizes: Iterable[int]
) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    lengths = np.fromiter(sizes, dtype=np.int64)
    groups = np.repeat(np.arange(len(lengths), dtype=np.uint32), lengths)
    keys = np.array(members, dtype=np.uint64)
    order = np.argsort(keys, kind="stable")
    return keys[order], groups[order]


def _digest(word: str) -> int:
    return xxhash.xxh3_64_intdigest(word.encode("utf-32-le"))
