"""Files of words of the judge."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray


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


def spaced(word: str) -> str:
    """Return an entry as it stands in texts: a dash in an English one is a space."""
    return word.replace("-", " ") if word.isascii() else word


def points_of(texts: Sequence[str]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Return the characters of n texts, and where each begins and the end, int64 (n + 1,)."""
    points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    return points, np.append(0, np.cumsum([*map(len, texts)], dtype=np.int64))
