"""Parts of an exam question: numbering, formulas, answer choices.

Written down apart from what dedup itself knows of questions, which planted cases are to prove.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

LABEL = re.compile(r"(?<![A-Za-z0-9\\{$])(?:[(（]([A-H])[)）]|([A-H])[.．、:：)）])")
FORMULA = re.compile(r"\$[^$]*\$|\\\([^$]*?\\\)")
NUMBERING = r"(?:第\s*\d{1,3}\s*题|例\s*\d{1,3}|[(（]\d{1,3}[)）]|\d{1,3}\s*[.．、:：)）](?!\d))"
_GROUP = r"[(（\[【〔][^()（）\[\]【】〔〕\n]{0,40}[)）\]】〕]"
_HEAD = re.compile(rf"(?:\s*(?:{NUMBERING}|{_GROUP}))*\s*")
_LETTERS = "ABCDEFGH"


@dataclass(frozen=True, slots=True)
class Choices:
    """A question with answer choices A, B, C ...: what stands before, labels, contents, gaps."""

    stem: str
    labels: tuple[str, ...]
    contents: tuple[str, ...]
    gaps: tuple[str, ...]

    def with_contents(self, contents: Sequence[str]) -> str:
        """Return the question with other choices under the same labels."""
        choices = zip(self.labels, contents, self.gaps, strict=True)
        return self.stem + "".join(label + content + gap for label, content, gap in choices)


def choices_of(text: str) -> Choices | None:
    """Return the parts of a question if its labels are exactly A, B, C and so on, once each."""
    found = list(LABEL.finditer(text))
    letters = "".join(match[1] or match[2] for match in found)
    if len(found) < 3 or letters != _LETTERS[: len(found)]:
        return None
    ends = [*(match.start() for match in found[1:]), len(text)]
    raw = [text[match.end() : end] for match, end in zip(found, ends, strict=True)]
    contents = [part.strip() for part in raw]
    longest = max(map(len, contents[:-1]))
    if not all(contents) or len(contents[-1]) > 2 * longest + 30:  # more follows the choices
        return None
    leads = [part[: len(part) - len(part.lstrip())] for part in raw]
    labels = tuple(match[0] + lead for match, lead in zip(found, leads, strict=True))
    gaps = tuple(part[len(part.rstrip()) :] for part in raw)
    return Choices(text[: found[0].start()], labels, tuple(contents), gaps)


def essence(text: str) -> str:
    """Return what tells a choice from others: no white space, punctuation, width or case."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(c for c in folded if unicodedata.category(c)[0] not in "PZC")


def head_of(text: str) -> int:
    """Return where numbering and notes in brackets end."""
    match = _HEAD.match(text)
    return match.end() if match else 0


def spans(pattern: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    """Return where a pattern matches."""
    return [match.span() for match in pattern.finditer(text)]


def within(at: int, stretches: Sequence[tuple[int, int]]) -> bool:
    """Tell whether a place lies in one of some stretches."""
    return any(start <= at < end for start, end in stretches)


def is_han(character: str) -> bool:
    """Tell whether it is a common Han character."""
    return "\u4e00" <= character <= "\u9fff"


def is_technical(character: str) -> bool:
    """Tell whether it is such that a mark between two of them may mean something."""
    return "!" <= character <= "~"
