"""Cleaning: from the raw value of a text field to clean text.

Markup, style rules, white space, notes, in this order. A style rule, left by a paste from Word or
a naive strip, is a selector and, in braces, declarations of known properties. LaTeX, sets, JSON and
program code have braces, too, so a text without tags loses only unmistakable rules at its start.
"""

import functools
import re
from collections.abc import Iterator, Sequence
from html.entities import html5
from itertools import islice
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, field_validator

from dedup_job import _core
from dedup_job.messages import Message
from dedup_job.native import bytes_column as columns
from dedup_job.native.bytes_column import BREAK, TextColumn, pack

_KEYWORDS: Final = frozenset({"*", "from", "to"})  # of selectors, besides elements
_PROPERTY = re.compile(
    r"""(?:
        (?:-(?:webkit|moz|ms|o|khtml)|mso|font|margin|padding|background|border|text|line|list
          |layout|letter|word|white|outline|overflow|page|panose|tab|table|vertical|flex|grid|align
          |justify|animation|transition|transform|box|column|min|max|unicode|user|pointer|caption
          |punctuation|ruby|writing|empty|counter|object|-
          )-[a-z0-9-]+
      | font|margin|padding|background|border|color|width|height|display|position|float|clear
      | top|left|right|bottom|overflow|outline|opacity|visibility|cursor|zoom|size|src|page
      | z-index|direction|flex|grid|gap|transition|transform|animation|filter|clip|content|quotes
    )""",
    re.VERBOSE,
)
_BRACES = re.compile(r"\{([^{}]*+)\}")
_PARENTHESES = re.compile(r"\([^()]*+\)")
_TOKEN = re.compile(r"(?P<gap>[\s,>+~]++)|(?P<compound>[!-*\-./0-=?-z|]++)|(?P<other>.)")
_COMPOUND = re.compile(
    r"(?P<element>[A-Za-z][A-Za-z0-9]*+|\*|\d+%)?+"
    r"(?P<mark>(?:[.#][A-Za-z_][\w-]*+|::?[a-z-]++(?:\([^()]*+\))?+|\[[^\[\]]*+\])*+)"
)
_AT_RULE = re.compile(r"@(?:font-face|page|list|viewport)\b[\w\s:.-]*+")
_GROUP = r"@(?:media|supports|(?:-[a-z]+-)?keyframes)\b[^@{};<>\n]{0,300}+"
_GROUP_OPENING = re.compile(rf"{_GROUP}\s*+\{{")
_EMPTY_GROUP = re.compile(rf"{_GROUP}\s*+\{{\s*+\}}")
_GAP = re.compile(r"\s*+")
_STATEMENT = re.compile(r"@(?:import|charset|namespace)\s*+(?:url\(|[\"'])[^;{}\n]{0,300}+;")
_LONGEST_SELECTOR: Final = 1000


class CleaningSettings(BaseModel, frozen=True, extra="forbid"):
    """Settings of the cleaning of text fields."""

    html: Literal["auto", "never"] = Field(
        default="auto",
        description="auto: remove markup if a text holds some; never: take every text as plain",
    )
    cut_at: tuple[str, ...] = Field(
        default=(),
        description="cut off the last lines of the clean text that begin with one of these "
        f"markers, up to {_core.LONGEST_NOTE} characters each; the first line stays",
    )

    @field_validator("cut_at")
    @classmethod
    def _refuse_empty_markers(cls, markers: tuple[str, ...]) -> tuple[str, ...]:
        # Every line begins with the empty string.
        if "" in markers:
            raise ValueError(
                Message("a marker must not be empty: it would cut every text to nothing")
            )
        return markers


class Cleaned(NamedTuple):
    """n clean texts; cut: int64 (n,), characters cut off at markers; same: bool (n,), unchanged.

    marked: the texts with breaks between their parts, None for texts without parts.
    """

    texts: TextColumn
    cut: NDArray[np.int64]
    same: NDArray[np.bool_]
    marked: TextColumn | None = None


class Cleaner:
    """Turns HTML, plain text or raw mathematics into clean text.

    Pure and deterministic, safe to share between threads; takes any str, in linear time. Do not
    clean a text twice: clean text may hold markup, `<b>` for `&lt;b&gt;`.
    """

    def __init__(self, settings: CleaningSettings | None = None) -> None:
        self.settings = settings or CleaningSettings()
        self._core = _compiled(self.settings.html == "auto", self.settings.cut_at)

    def clean(self, text: str) -> str:
        """Return a text without markup, style rules and superfluous white space."""
        return self.clean_all([text])[0]

    def clean_all(self, texts: Sequence[str]) -> list[str]:
        """Return n clean texts; the parts of a text with breaks are cleaned one by one."""
        several = any(BREAK in text for text in texts)
        return (self.clean_by_parts if several else self.cleaned)(pack(texts)).texts.texts()

    def clean_by_parts(self, texts: TextColumn) -> Cleaned:
        """Return n clean texts, whose parts are cleaned one by one; empty ones are left out."""
        parts, counts = columns.parted(texts)
        clean, cut, same, _ = self.cleaned(parts)
        marked = columns.rejoined(clean, counts)
        all_same = columns.sums(same.astype(np.int64), counts) == counts
        lines, cut = columns.as_lines(clean, counts), columns.sums(cut, counts)
        return Cleaned(lines, cut, all_same, marked)

    def cleaned(self, texts: TextColumn) -> Cleaned:
        """Return n clean texts; without changes the column itself."""
        changed, cut, strings, lengths = self._core.clean(texts.utf8(), _without_rules)
        clean = TextColumn(columns.BytesColumn(*strings), lengths)
        return Cleaned(texts.replaced(np.flatnonzero(changed), clean), cut, ~changed)


@functools.cache
def _compiled(html: bool, cut_at: Sequence[str]) -> _core.Cleaner:
    named = {name[:-1]: [*map(ord, text)] for name, text in html5.items() if name[-1] == ";"}
    markers = [[*map(ord, marker)] for marker in cut_at]
    return _core.Cleaner(references=named, html=html, cut_at=markers)


def _without_rules(text: str, leading: bool) -> str:
    # without the zero-width space and the byte order mark, too; joiners carry meaning
    text = text.replace("\u200b", "").replace("\ufeff", "")
    return drop_leading_rules(text) if leading else drop_rules(text)


def drop_rules(text: str) -> str:
    """Return a text that had markup without its style rules."""
    if "{" not in text and "@" not in text:
        return text
    kept = []
    end = 0
    for start, stop, _ in _rules(text):
        kept.append(text[end:start])
        end = stop
    text = " ".join([*kept, text[end:]])
    return _STATEMENT.sub(" ", _EMPTY_GROUP.sub(" ", text)) if "@" in text else text


def drop_leading_rules(text: str) -> str:
    """Return a text that has no markup, less the style rules that certainly begin it."""
    if "{" not in text:
        return text
    at = cut = groups = 0
    while True:
        if gap := _GAP.match(text, at):
            at = gap.end()
        if opening := _GROUP_OPENING.match(text, at):
            groups += 1
            at = opening.end()
        elif groups and text.startswith("}", at):
            groups -= 1
            at += 1
        elif (end := _leading_end(text, at, sure=bool(groups or cut))) is not None:
            at = end
        else:
            return text[cut:]
        if not groups:
            cut = at


def _leading_end(text: str, at: int, *, sure: bool) -> int | None:
    if statement := _STATEMENT.match(text, at):
        return statement.end()
    for start, end, certain in _rules(text, at, at_most=1):
        if (certain or sure) and not text[at:start].strip():
            return end
    return None


def _rules(
    text: str, start: int = 0, at_most: int | None = None
) -> Iterator[tuple[int, int, bool]]:
    """Yield start and end of each CSS rule, and whether it is certainly one."""
    floor = start  # the text before belongs to another pair of braces
    for braces in islice(_BRACES.finditer(text, start), at_most):
        names = _declared(braces[1])
        if names is not None and (found := _selector(text, floor, braces.start())):
            selector, marked = found
            certain = marked or len(names) > 1 or names[0].startswith("mso-")
            before = text[floor:selector].rstrip()
            comment = before.rfind("/*") if before.endswith("*/") else -1
            yield selector if comment < 0 else floor + comment, braces.end(), certain
        floor = braces.end()


def _declared(body: str) -> list[str] | None:
    """Return the names of the properties in a body; None if it has anything but declarations."""
    if "*/" in body:
        body = "".join(part.partition("/*")[0] for part in body.split("*/"))
    names = []
    for declaration in _PARENTHESES.sub("()", body).split(";"):
        name, _, value = declaration.partition(":")
        name = name.strip().lstrip("*_").lower()
        if not name and not value:
            continue
        if not value.strip() or not _PROPERTY.fullmatch(name):
            return None
        names.append(name)
    return names or None


def _selector(text: str, floor: int, brace: int) -> tuple[int, bool] | None:
    """Return the start of the CSS selector before a brace, and whether it has a class, id or @.

    It is read backwards, as long as each word can be part of one.
    """
    floor = max(floor, brace - _LONGEST_SELECTOR)
    at = text.rfind("@", floor, brace)
    if at >= 0 and _AT_RULE.fullmatch(text, at, brace):
        return at, True
    start, marked = None, False
    for token in reversed(list(_TOKEN.finditer(text, floor, brace))):
        if gap := token["gap"]:
            if start is not None and "\n" in gap and "," not in gap:
                break
            continue
        compound = _COMPOUND.fullmatch(token["compound"] or "?")
        if compound is None:
            break
        element = compound["element"] or "*"
        if not (element.lower() in _core.ELEMENTS or element in _KEYWORDS or element[-1] == "%"):
            break
        start = token.start()
        marked = marked or compound["mark"].startswith((".", "#"))
    return None if start is None else (start, marked)
