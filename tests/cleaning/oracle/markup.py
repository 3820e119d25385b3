"""The guard: decides which `<` starts markup and prepares the text for the parser.

This was the package's own way of reading markup before the native one; it is its oracle now.

A parser takes `a<b且b>c` for a tag and loses it. So the guard reads the tags first, in one pass:
those that are real leave what they stand for (a line break, or nothing), and every other `<`
is escaped. Of the elements only those reach the parser that mean more than a break: templates
and code. Nothing is left that it could nest, reconstruct or move, so its cost stays linear
(100,000 nested <div> took it 13.7 seconds).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from dedup_job.cleaning.vocabulary import (
    AMBIGUOUS,
    BREAK,
    CLOSED_ONLY,
    CODE_LIKE,
    DROPPED,
    NOTHING,
    OFFICE_PREFIXES,
    REPLACEMENT,
    VERBATIM,
)
from tests.cleaning.oracle.escapes import escape, escape_all, holds_reference

CODE: Final = "samp"
"""What pre and code are called in prepared markup: an element without rules of its own."""

_WORD_NAME = re.compile(rf"(?:{'|'.join(OFFICE_PREFIXES)}):[a-z0-9]+")
# Custom elements and other namespaces; `a<x-y>b` has the same form, so they need evidence.
_FOREIGN_NAME = re.compile(r"[a-z][a-z0-9]*[:-][a-z0-9:._-]+")
_DEEPEST = 256  # open templates; the parser's cost for each grows with the number of open ones

# Possessive quantifiers keep this linear. An attempt can pass the next `<` only inside quotes, and
# of attempts begun at different `<` at most two are inside quotes at the same place.
_TOKEN = re.compile(
    r"""<(?:
        (?P<slash>/)?+ (?P<name>[A-Za-z][A-Za-z0-9]*+(?:[:._-][A-Za-z0-9]++)*+) (?=[\s/>])
        (?P<attributes>
            (?:
                [\s/]*+ [A-Za-z_:@\#*][\w:.@-]*+
                (?: \s*+ = \s*+ (?: "[^"]*+" | '[^']*+' | [^\s"'=<>`][^\s"'<>]*+ ) )?+
            )*+
            [\s/]*+ (?=>)
            # Quotes inside quotes, as in style="font-family:"Arial"": up to the next `>`.
          | \s++ [A-Za-z][\w:.-]*+ \s*+ = \s*+ ["'] [^<>]*+
        ) >
      | (?P<comment> !-- )
      | (?P<declaration>
            !(?i:doctype)\b[^<>]*+> | !\[ \s*+ (?i:if|endif)\b[^<>]*+> | !\[CDATA\[
          | \?(?i:xml|import|mso)[^<>]*+>
        )
    )""",
    re.VERBOSE,
)
_CLOSING_TAG = re.compile(r"</([A-Za-z][A-Za-z0-9:._-]*+)(?=[\s/>])[^<>]*+>")
_COMMENT_END = re.compile(r"--!?>")
_CDATA = "<![CDATA["


@dataclass(frozen=True, slots=True)
class Prepared:
    """Markup that the parser can only understand in one way."""

    html: str
    tags: bool
    code: bool


def prepare(text: str) -> Prepared | None:
    """Prepare a text for the parser, or return None if it holds neither tag nor reference."""
    if "<" in text and _TOKEN.search(text):
        prepared = _Guard(text).run()
        if prepared.tags:
            return prepared
    if "&" in text and holds_reference(text):
        return Prepared(html=escape(text), tags=False, code=False)
    return None


@dataclass(frozen=True, slots=True)
class Token:
    """Text, or markup with what it leaves; name is empty for text, and "!" for what is no tag.

    content: what a title, text area or script holds, None for other elements.
    """

    name: str
    text: str
    closes: bool = False
    itself: bool = False
    content: str | None = None
    start: int = 0
    end: int = 0


def tokens(text: str) -> tuple[list[Token], str]:
    """Return a text in tokens, and the text they stand in: one token where it holds no tag."""
    guard = _Guard(text)
    return list(guard.tokens()), guard._text


class _Guard:
    """One pass over one text."""

    def __init__(self, text: str) -> None:
        self._text = _without_cdata_marks(text)
        self._out: list[str] = []
        self._tags = self._text is not text
        self._templates: list[int] = []  # where in the output the open ones stand
        self._too_deep = 0
        self._code = False
        self._open_code = 0
        self._last_comment_end = max(self._text.rfind("-->"), self._text.rfind("--!>"))

    @cached_property
    def _last_closing(self) -> dict[str, int]:
        # Looked up once: a search for each tag would make the whole quadratic.
        return {m[1].lower(): m.start() for m in _CLOSING_TAG.finditer(self._text)}

    def run(self) -> Prepared:
        """Read all tags; what stands between them is escaped and kept."""
        text, out = self._text, self._out
        kept = 0
        matches = _TOKEN.finditer(text)
        while match := next(matches, None):
            start, end = match.span()
            taken = self._read(match)
            if taken is None:
                matches = _TOKEN.finditer(text, start + 1)
                continue
            if taken[0] != end:
                matches = _TOKEN.finditer(text, taken[0])
            end, leaves = taken
            out += (escape(text[kept:start]), leaves)
            kept = end
        self._tags |= kept > 0
        out.append(escape(text[kept:]))
        for place in self._templates:
            out[place] = BREAK  # never closed: it would swallow the rest of the text
        return Prepared(html="".join(out), tags=self._tags, code=self._code)

    def tokens(self) -> Iterator[Token]:
        """Yield text and markup in turn."""
        text, kept = self._text, 0
        matches = _TOKEN.finditer(text)
        while match := next(matches, None):
            start, end = match.span()
            taken = self._read(match)
            if taken is None:
                matches = _TOKEN.finditer(text, start + 1)
                continue
            if taken[0] != end:
                matches = _TOKEN.finditer(text, taken[0])
            if start > kept:
                yield Token("", text[kept:start])
            kept = taken[0]
            yield self._token(match, kept)
        if kept < len(text):
            yield Token("", text[kept:])

    def _token(self, match: re.Match[str], end: int) -> Token:
        if not match["name"]:
            return Token("!", "", start=match.start(), end=end)
        name, attributes = match["name"].lower(), match["attributes"]
        content = None
        if name in DROPPED | VERBATIM and end > match.end():
            inside = self._text[match.end() : end]
            content = inside[: [m.start() for m in _CLOSING_TAG.finditer(inside)][-1]]
        closes, itself = bool(match["slash"]), attributes.endswith("/")
        return Token(name, attributes, closes, itself, content, match.start(), end)

    def _read(self, match: re.Match[str]) -> tuple[int, str] | None:
        """Return where the markup ends and what it leaves; None if it is text."""
        if match["comment"]:
            return self._read_comment(match)
        if match["declaration"]:
            return match.end(), NOTHING
        name = match["name"].lower()
        leaves = REPLACEMENT.get(name)
        if (leaves is None or name in AMBIGUOUS) and not self._is_evident(match, name):
            return None
        leaves = leaves or NOTHING
        if name in CLOSED_ONLY and not match["slash"]:
            return self._read_closed_only(match, name, leaves)
        if name in CODE_LIKE:
            return match.end(), self._pass_code(match, leaves)
        if name == "template":
            return match.end(), self._pass_template(match)
        return match.end(), leaves

    def _is_evident(self, match: re.Match[str], name: str) -> bool:
        """Tell whether a tag with a name that has other uses is meant as a tag."""
        if name not in REPLACEMENT:
            if _WORD_NAME.fullmatch(name):
                return True
            if not _FOREIGN_NAME.fullmatch(name):
                return False
        start, attributes = match.start(), match["attributes"]
        if match["slash"] or "=" in attributes or attributes.endswith("/"):
            return True
        if name == "p" and not attributes and self._starts_paragraph(start):
            return True
        return self._last_closing.get(name, -1) > start

    def _starts_paragraph(self, start: int) -> bool:
        # Paragraphs are often left open; `x<p>y` is mathematics.
        return start == 0 or self._text[start - 1].isspace() or self._text[start - 1] == ">"

    def _read_comment(self, match: re.Match[str]) -> tuple[int, str] | None:
        inside = match.end() - 2  # `<!-->` is a whole comment
        if self._last_comment_end < inside:
            return None
        end = _COMMENT_END.search(self._text, inside)
        return (end.end(), NOTHING) if end else None

    def _read_closed_only(
        self, match: re.Match[str], name: str, leaves: str
    ) -> tuple[int, str] | None:
        inside = match.end()
        if match["attributes"].endswith("/"):
            return inside, leaves
        if self._last_closing.get(name, -1) < inside:
            return None
        if name not in DROPPED and name not in VERBATIM:
            return inside, leaves
        closings = _CLOSING_TAG.finditer(self._text, inside)
        closing = next(m for m in closings if m[1].lower() == name)
        if name in DROPPED:
            return closing.end(), leaves
        content = self._text[inside : closing.start()]
        content = escape_all(content) if name == "xmp" else escape(content)
        return closing.end(), leaves + content + leaves

    def _pass_code(self, match: re.Match[str], leaves: str) -> str:
        if match["attributes"].endswith("/"):
            return leaves
        if not match["slash"]:
            self._code = True
            self._open_code += 1
            return f"{leaves}<{CODE}>" if self._open_code == 1 else leaves
        if self._open_code:
            self._open_code -= 1
            return leaves if self._open_code else f"</{CODE}>{leaves}"
        return leaves

    def _pass_template(self, match: re.Match[str]) -> str:
        if not match["slash"]:
            if len(self._templates) == _DEEPEST:
                self._too_deep += 1
                return BREAK
            self._templates.append(len(self._out) + 1)  # the text before it comes first
            return "\n<template>"
        if self._too_deep:
            self._too_deep -= 1
            return BREAK
        if self._templates:
            self._templates.pop()
            return "</template>\n"
        return BREAK


def _without_cdata_marks(text: str) -> str:
    head, mark, tail = text.partition(_CDATA)
    if not mark:
        return text
    closings = 1 + tail.count(_CDATA)
    return head + tail.replace(_CDATA, NOTHING).replace("]]>", NOTHING, closings)
