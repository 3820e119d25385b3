"""Word lists that a user gives: read, and checked line by line."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path

from dedup_job.errors import ConfigurationError
from dedup_job.files import read_text

_SHOWN = 10
_ASCII_SPACE = " \t\r\x0b\x0c"
_USER_WORD = re.compile(r"\S+( [0-9]+)?( [a-z]+)?")


def read_idf(path: Path) -> dict[str, float]:
    """Read an IDF file, `word weight` on each line; ConfigurationError lists the bad lines."""
    weights: dict[str, float] = {}
    problems = []
    for number, line in _lines(path):
        word, _, figure = line.strip().partition(" ")
        try:
            weight = float(figure)
        except ValueError:
            weight = math.nan
        if not word or not math.isfinite(weight) or weight <= 0:
            problems.append(_problem(path, number, line, "a word, a space and a weight above 0"))
            continue
        weights[word] = weight
    if not problems and not weights:
        problems = [f"{path} holds no weights; expected lines such as: 化学 6.25"]
    _raise_if(problems)
    return weights


def read_stop_words(path: Path) -> list[str]:
    """Read a word from each line; ConfigurationError lists lines with more than a word."""
    words, problems = [], []
    for number, line in _lines(path):
        if len(line.split()) != 1:
            problems.append(_problem(path, number, line, "one word"))
        words.append(line.strip())
    _raise_if(problems)
    return words


def check_user_dictionary(path: Path) -> None:
    """Check a dictionary in jieba's format; ConfigurationError lists the bad lines."""
    lines = read_text(path).split("\n")  # lines as jieba sees them
    _raise_if(
        [
            _problem(
                path, number, line, "a word without spaces, then a frequency and a tag, if any"
            )
            for number, line in enumerate(lines, 1)
            if line.strip(_ASCII_SPACE) and not _USER_WORD.fullmatch(line.strip(_ASCII_SPACE))
        ]
    )


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that hold something, with their number from 1."""
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if line.strip():
            yield number, line


def _problem(path: Path, number: int, line: str, expected: str) -> str:
    return f"{path}, line {number}: {line[:60]!r}, expected {expected}"


def _raise_if(problems: list[str]) -> None:
    if len(problems) > _SHOWN:
        problems = [*problems[:_SHOWN], f"... and {len(problems) - _SHOWN:,} lines more"]
    if problems:
        raise ConfigurationError(problems)
