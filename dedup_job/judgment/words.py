"""Files of words of the judge."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib.resources import files


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
