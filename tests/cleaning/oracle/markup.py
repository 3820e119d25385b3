"""Which `<` of a text starts markup: one regular expression, and what is known of the names.

A parser takes `a<b且b>c` for a tag and loses it, so it cannot be the oracle.
"""

import re
from dataclasses import dataclass

from tests.cleaning.oracle.names import AMBIGUOUS, CLOSED_ONLY, DROPPED, KNOWN, VERBATIM

# What office programs write: o:p, st1:chsdate, v:shape.
_WORD_NAME = re.compile(r"(?:o|v|w|m|mml|svg|(?:st|u)[0-9]):[a-z0-9]+")
# Custom elements and other namespaces; `a<x-y>b` has the same form, so they need evidence.
_FOREIGN_NAME = re.compile(r"[a-z][a-z0-9]*[:-][a-z0-9:._-]+")

_TOKEN = re.compile(
    r"""<(?:
        (?P<slash>/)?+ (?P<name>[A-Za-z][A-Za-z0-9]*+(?:[:._-][A-Za-z0-9]++)*+) (?=[\s/>])
        (?P<attributes>
            (?:
                [\s/]*+ [A-Za-z_:@\#*][\w:.@-]*+
                (?: \s*+ = \s*+
                    (?: \\?"[^"]*+" | \\?'[^']*+' | (?!\\["'])[^\s"'=<>`][^\s"'<>]*+ ) )?+
            )*+
            [\s/]*+ (?=>)
            # Untidy ones, as in style="font-family:"Arial"": up to the next `>`.
          | (?P<untidy> [^<>]*+ )
        ) >
      | (?P<comment> !-- )
      | (?P<declaration>
            !(?i:doctype)\b[^<>]*+> | !\[ \s*+ (?i:if|endif)\b[^<>]*+> | !\[CDATA\[
          | \?(?i:xml|import|mso)[^<>]*+>
        )
    )""",
    re.VERBOSE,
)
_UNTIDY = re.compile(r"\s++(?:[A-Za-z][\w:.-]*+)?+\s*+=")
_SENTENCE_ENDS = '。！？；：，、…—”》】.!?;:,">\n\r'
_CLOSING_TAG = re.compile(r"</([A-Za-z][A-Za-z0-9:._-]*+)(?=[\s/>])[^<>]*+>")
_COMMENT_END = re.compile(r"--!?>")
_CDATA = "<![CDATA["


@dataclass(frozen=True, slots=True)
class Token:
    """Text, or markup; name is empty for text, and "!" for what is no tag.

    content: what a title, text area or script holds, None for other elements.
    """

    name: str
    text: str
    closes: bool = False
    itself: bool = False
    content: str | None = None
    start: int = 0
    end: int = 0


def tokens(text):
    """Return a text in tokens, and the text they stand in: one token where it holds no tag."""
    reader = _Reader(_without_cdata_marks(text))
    return list(reader.tokens()), reader.text


class _Reader:
    """One pass over one text."""

    def __init__(self, text):
        self.text = text
        self._last_closing = {m[1].lower(): m.start() for m in _CLOSING_TAG.finditer(text)}

    def tokens(self):
        """Yield text and markup in turn."""
        text, kept = self.text, 0
        matches = _TOKEN.finditer(text)
        while match := next(matches, None):
            start, end = match.start(), self._end(match)
            matches = _TOKEN.finditer(text, end or start + 1)
            if end is None:
                continue
            if start > kept:
                yield Token("", text[kept:start])
            kept = end
            yield self._token(match, end)
        if kept < len(text):
            yield Token("", text[kept:])

    def _token(self, match, end):
        if not match["name"]:
            return Token("!", "", start=match.start(), end=end)
        name, attributes = match["name"].lower(), match["attributes"]
        content = None
        if name in DROPPED | VERBATIM and end > match.end():
            inside = self.text[match.end() : end]
            content = inside[: [m.start() for m in _CLOSING_TAG.finditer(inside)][-1]]
        closes, itself = bool(match["slash"]), attributes.endswith("/")
        return Token(name, attributes, closes, itself, content, match.start(), end)

    def _end(self, match):
        """Return where the markup ends; None if it is text."""
        if match["comment"]:  # `<!-->` is a whole one
            end = _COMMENT_END.search(self.text, match.end() - 2)
            return end.end() if end else None
        if match["declaration"]:
            return match.end()
        name = match["name"].lower()
        is_plain = name in KNOWN and name not in AMBIGUOUS
        if match["untidy"] is not None and not (
            "=" in match["untidy"]
            if is_plain or _WORD_NAME.fullmatch(name)
            else _UNTIDY.match(match["untidy"])
        ):
            return None
        if (name not in KNOWN or name in AMBIGUOUS) and not self._is_evident(match, name):
            return None
        closes = match["slash"] or match["attributes"].endswith("/")
        if name not in CLOSED_ONLY or closes:
            return match.end()
        if self._last_closing.get(name, -1) < match.end():
            return match.end() if self._has_values(match) else None
        if name not in DROPPED | VERBATIM:
            return match.end()
        closings = _CLOSING_TAG.finditer(self.text, match.end())
        return next(m for m in closings if m[1].lower() == name).end()

    def _is_evident(self, match, name):
        """Tell whether a tag with a name that has other uses is meant as a tag."""
        if name not in KNOWN:
            if _WORD_NAME.fullmatch(name):
                return True
            if not _FOREIGN_NAME.fullmatch(name):
                return False
        start, attributes = match.start(), match["attributes"]
        if match["slash"] or self._has_values(match) or attributes.endswith("/"):
            return True
        if name == "p" and not attributes and self._starts_paragraph(start):
            return True
        if name in {"p", "b", "i", "u"} and not attributes and self._is_alone(start, match.end()):
            return True
        return self._last_closing.get(name, -1) > start

    def _has_values(self, match):
        return "=" in match["attributes"] and not match["attributes"].lstrip().startswith("=")

    def _is_alone(self, start, end):
        before, after = self.text[:start][-1:] or "\n", self.text[end : end + 1] or "\n"
        if (
            "标签" in self.text
            or "标记" in self.text
            or (before.isspace() and before not in "\n\r")
        ):
            return False
        if before in _SENTENCE_ENDS or after in "<\n\r":
            return True
        return all(0x2E80 <= ord(c) < 0xFF00 for c in (before, after))

    def _starts_paragraph(self, start):
        # Paragraphs are often left open; `x<p>y` is mathematics.
        return start == 0 or self.text[start - 1].isspace() or self.text[start - 1] == ">"


def _without_cdata_marks(text):
    head, mark, tail = text.partition(_CDATA)
    if not mark:
        return text
    closings = 1 + tail.count(_CDATA)
    return head + tail.replace(_CDATA, "").replace("]]>", "", closings)
