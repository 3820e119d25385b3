"""Files of words: those of the judge, and a user's own."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final

from dedup_job.errors import ConfigurationError
from dedup_job.files import read_text
from dedup_job.messages import Message

LONGEST: Final = 16  # characters of a user's word
_SHOWN = 10
_SYNONYMS, _FUNCTION_WORDS = "synonyms", "function words"
_OTHER_SECTION = Message("expected [synonyms] or [function words]")
_Lines = dict[str, list[tuple[str, ...]]]


@dataclass(frozen=True, slots=True)
class Words:
    """A user's own words, in small letters. synonyms: sets of words that mean the same."""

    synonyms: tuple[tuple[str, ...], ...] = ()
    function_words: tuple[str, ...] = ()

    @classmethod
    def load(cls, path: Path | None) -> Words:
        """Return the words of a file in UTF-8, none without one.

        The file holds the sections [synonyms] and [function words]; without a section it is a
        list of lines of synonyms. # begins a comment. ConfigurationError lists the bad lines.
        """
        if path is None:
            return cls()
        lines = _parsed(read_text(path), str(path))
        return cls(
            tuple(lines[_SYNONYMS]), tuple(word for line in lines[_FUNCTION_WORDS] for word in line)
        )


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


def _parsed(text: str, name: str) -> _Lines:
    lines: _Lines = defaultdict(list)
    section, problems = _SYNONYMS, list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        written = line.partition("#")[0].strip()
        if written.startswith("[") and written.endswith("]"):
            section = written[1:-1].strip().lower()
            known = section in (_SYNONYMS, _FUNCTION_WORDS)
            problem = "" if known else _OTHER_SECTION
        else:
            words = tuple(spaced(word.lower()) for word in written.split())
            problem = _problem(section, words)
            if words and not problem:
                lines[section].append(words)
        if problem:
            problems.append(
                Message(
                    "{file}, line {line}: {text!r}, {problem}",
                    file=name,
                    line=number,
                    text=line[:60],
                    problem=problem,
                )
            )
    if len(problems) > _SHOWN:
        more = Message("... and {number:,} lines more", number=len(problems) - _SHOWN)
        problems = [*problems[:_SHOWN], more]
    if problems:
        raise ConfigurationError(problems)
    return lines


def _problem(section: str, words: tuple[str, ...]) -> str:
    """Return what is wrong with a line, "" where nothing is."""
    if not words or section not in (_SYNONYMS, _FUNCTION_WORDS):
        return ""  # a section that is not known is named once, by its header
    if any(len(word) > LONGEST for word in words):
        return Message("expected words of at most {most} characters", most=LONGEST)
    if section == _SYNONYMS and len(set(words)) == 1:
        return Message("expected two words or more that mean the same")
    return ""
