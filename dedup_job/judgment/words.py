"""Words of the trade: those that mean the same or nothing, those that mark notes and units."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Final

from dedup_job.errors import ConfigurationError
from dedup_job.files import read_text

LONGEST: Final = 16  # characters of a user's word
_SHOWN = 10
_SYNONYMS, _FUNCTION_WORDS = "synonyms", "function words"
_Lines = dict[str, list[tuple[str, ...]]]


@dataclass(frozen=True, slots=True)
class Words:
    """The word lists, folded: simplified characters, small letters.

    Those of `pairs` are (word, what it stands for).
    """

    synonyms: tuple[tuple[str, ...], ...]
    function_words: tuple[str, ...]
    answer: tuple[str, ...]
    explanation: tuple[str, ...]
    line: tuple[str, ...]
    note: tuple[str, ...]
    bracket: tuple[str, ...]
    spelling: tuple[str, ...]
    sequence: tuple[str, ...]
    imperatives: tuple[str, ...]
    counters: tuple[str, ...]
    looks: tuple[str, ...]
    units: tuple[tuple[str, str], ...]
    numerals: tuple[tuple[str, str], ...]
    symbols: tuple[tuple[str, str], ...]

    @classmethod
    def load(cls, path: Path | None) -> Words:
        """Return the built-in words and those of a user's file, in UTF-8.

        The file holds the sections [synonyms] and [function words]; without a section it is a
        list of lines of synonyms. # begins a comment. ConfigurationError lists the bad lines.
        """
        words = _built_in()
        if path is None:
            return words
        lines = _parsed(read_text(path), str(path))
        return replace(
            words,
            synonyms=(*words.synonyms, *lines[_SYNONYMS]),
            function_words=(*words.function_words, *_flat(lines[_FUNCTION_WORDS])),
        )


def _built_in() -> Words:
    lines: _Lines = defaultdict(list)
    section = ""
    for line in files("dedup_job.judgment").joinpath("words.txt").read_text("utf-8").splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            lines[section].append(tuple(map(_spaced, line.split())))
    return Words(
        synonyms=tuple(lines[_SYNONYMS]),
        function_words=_flat(lines[_FUNCTION_WORDS]),
        answer=_flat(lines["answer"]),
        explanation=_flat(lines["explanation"]),
        line=_flat(lines["line"]),
        note=_flat(lines["note"]),
        bracket=_flat(lines["bracket"]),
        spelling=_flat(lines["spelling"]),
        sequence=_flat(lines["sequence"]),
        imperatives=_flat(lines["imperatives"]),
        counters=_flat(lines["counters"]),
        looks=_flat(lines["looks"]),
        units=_pairs(lines["units"]),
        numerals=_pairs(lines["numerals"]),
        symbols=_pairs(lines["symbols"]),
    )


def _flat(lines: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(word for line in lines for word in line)


def _pairs(lines: Iterable[tuple[str, ...]]) -> tuple[tuple[str, str], ...]:
    return tuple((line[0], line[1]) for line in lines)


def _spaced(word: str) -> str:
    """Return an entry as it stands in texts: a dash in an English one is a space."""
    return word.replace("-", " ") if word.isascii() else word


def _parsed(text: str, name: str) -> _Lines:
    lines: _Lines = defaultdict(list)
    section, problems = _SYNONYMS, []
    for number, line in enumerate(text.splitlines(), 1):
        written = line.partition("#")[0].strip()
        if written.startswith("[") and written.endswith("]"):
            section = written[1:-1].strip().lower()
            problem = f"expected [{_SYNONYMS}] or [{_FUNCTION_WORDS}]"
            bad = section not in (_SYNONYMS, _FUNCTION_WORDS)
        else:
            words = tuple(_spaced(word.lower()) for word in written.split())
            problem, bad = _problem(section, words), True
            if words and not problem:
                lines[section].append(words)
            bad = bool(problem)
        if bad:
            problems.append(f"{name}, line {number}: {line[:60]!r}, {problem}")
    if len(problems) > _SHOWN:
        problems = [*problems[:_SHOWN], f"... and {len(problems) - _SHOWN:,} lines more"]
    if problems:
        raise ConfigurationError(problems)
    return lines


def _problem(section: str, words: tuple[str, ...]) -> str:
    """Return what is wrong with a line, "" where nothing is."""
    if not words or section not in (_SYNONYMS, _FUNCTION_WORDS):
        return ""  # a section that is not known is named once, by its header
    if any(len(word) > LONGEST for word in words):
        return f"expected words of at most {LONGEST} characters"
    if section == _SYNONYMS and len(set(words)) == 1:
        return "expected two words or more that mean the same"
    return ""
