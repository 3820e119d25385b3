"""What words and characters are to each other: opposites, units, numerals, look- and sound-alikes."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import xxhash
from numpy.typing import NDArray

from dedup_job import _core
from dedup_job.judgment.words import sections_of

_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_BEHIND_NUMBER, _SYMBOL = 1, 2  # as in src/judgment/relations.hpp
Groups = Mapping[str, frozenset[int]]
"""Groups by number that a word or character is in."""


@dataclass(frozen=True, slots=True)
class Relations:
    """opposites: words of one group exclude each other. shapes, sounds: characters of one group
    look or sound alike. units: how they are written behind a number, and their symbols.
    whole: what stands for a whole text, numerals in English and units.
    """

    opposites: Groups
    shapes: Groups
    sounds: Groups
    units: Mapping[str, str]
    unit_symbols: frozenset[str]
    whole: Mapping[str, str]

    def alike(self, one: str, other: str) -> bool:
        """Return whether one character may stand for the other by mistake."""
        return any(
            groups.get(one, frozenset()) & groups.get(other, frozenset())
            for groups in (self.shapes, self.sounds)
        )


@functools.cache
def relations() -> Relations:
    """Return them; they are read once."""
    own, words, alike = map(sections_of, ("relations.txt", "words.txt", "alike.txt"))
    units = dict(_pairs(words["units"]))
    ones = {"one": "1", **dict(_pairs(words["numerals"]))}
    numerals = dict(_pairs(words["numerals"]))
    digits = {name: value for name, value in ones.items() if 0 < int(value) < 10}
    numerals |= {
        ten + one: str(int(numerals[ten]) + int(value))
        for ten in _TENS
        for one, value in digits.items()
    }
    return Relations(
        opposites=_groups(line.split() for line in own["opposites"]),
        shapes=_groups((line[0], other) for line in alike["shapes"] for other in line[1:]),
        sounds=_groups([*alike["sure"], *(line.split()[-1] for line in alike["sounds"])]),
        units=units,
        unit_symbols=frozenset([*units.values(), *" ".join(own["unit symbols"]).split()]),
        whole=units | numerals,
    )


def _pairs(lines: Iterable[str]) -> list[tuple[str, str]]:
    return [(word, meaning) for word, meaning in map(str.split, lines)]


def _groups(lines: Iterable[Iterable[str]]) -> Groups:
    found = defaultdict(set)
    for number, line in enumerate(lines):
        for one in line:
            found[one].add(number)
    return {one: frozenset(numbers) for one, numbers in found.items()}


@functools.cache
def packed() -> _core.Relations:
    """Return them as the core takes them."""
    known = relations()
    opposites = _columns((_digest(word), groups) for word, groups in known.opposites.items())
    characters = known.shapes.keys() | known.sounds.keys()
    none: frozenset[int] = frozenset()
    alike = _columns(
        (ord(c), [2 * k for k in known.shapes.get(c, none)] + [2 * k + 1 for k in known.sounds.get(c, none)])
        for c in characters
    )
    words = sorted({*known.whole, *known.unit_symbols}, key=_digest)
    uses = [_BEHIND_NUMBER * (w in known.units) + _SYMBOL * (w in known.unit_symbols) for w in words]
    texts = [known.whole.get(word, "") for word in words]
    return _core.Relations(
        *opposites,
        *alike,
        np.array([_digest(word) for word in words], dtype=np.uint64),
        np.array(uses, dtype=np.uint8),
        np.frombuffer("".join(texts).encode("utf-32-le"), dtype=np.uint32),
        np.array([0, *accumulate(map(len, texts))], dtype=np.int64),
        max(map(len, known.units)),
    )


def _columns(
    members: Iterable[tuple[int, Iterable[int]]],
) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    """Return keys, ascending, and a group of each."""
    pairs = sorted((key, group) for key, groups in members for group in groups)
    keys, groups = zip(*pairs, strict=True)
    return np.array(keys, dtype=np.uint64), np.array(groups, dtype=np.uint32)


def _digest(word: str) -> int:
    return xxhash.xxh3_64_intdigest(word.encode("utf-32-le"))
