"""The cleaner in plain Python, for elements that leave nothing but line breaks.

It decides which `<` begins a tag and which `&` a reference, and folds white space, in no hurry. A
parser takes `a<b且b>c` for a tag and loses it, so none can be the reference. The notation of other
elements has golden files, see test_golden.py.
"""

import html
import re
from dataclasses import dataclass
from html.entities import html5

from dedup_job._core import ELEMENTS

BREAKS, EVIDENT, CLOSED, DROPS, SHOWS, RAW = 1, 2, 4, 8, 16, 64  # as in vocabulary.hpp
CDATA = "<![CDATA["
# What office programs write, o:p, st1:chsdate, v:shape; custom elements and other namespaces.
_OFFICE = re.compile(r"(?:o|v|w|m|mml|svg|(?:st|u)[0-9]):[a-z0-9]+")
_FOREIGN = re.compile(r"[a-z][a-z0-9]*[:-][a-z0-9:._-]+")
_MARKUP = re.compile(
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
      | (?:
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

_FORM = r"#[0-9]{1,7};|#[xX][0-9A-Fa-f]{1,6};|[A-Za-z][A-Za-z0-9]{1,31};"
_REFERENCE = re.compile(rf"&({_FORM})")
_TWICE = re.compile(
    rf"&((?:(?:amp|AMP|\#0{{0,5}}38|\#[xX]0{{0,4}}26);)*)({_FORM})"
    r"|\\n(?=[\u2e80-\U0010ffff]|\\n|[A-Za-z0-9][.)、．])|\\n\Z"
)
_ESCAPES = re.compile("标签|标记|实体|转义|换行|字符|代码|HTML|html")
_FENCE = re.compile(r"\s*(`{3,255})(?!`)(?P<info>[^`]*)")
_BREAK = "[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]"


def clean(text, *, html=True, rules=str):
    """Return the clean text; style rules among tags stay.

    rules: drops the style rules at the beginning of a text without tags.
    """
    if html:
        again = [part for part in _Reader(unescaped(text)).parts() if part.name or part.text]
        if again and again[0].roles & BREAKS and not (again[0].roles & DROPS or again[0].closes):
            found = _written(again, twice=True)
            if found and not _ESCAPES.search(found):
                return found
        reader = _Reader(text)
        parts = list(reader.parts())
        if reader.text != text or any(part.name for part in parts):
            found, once = (_written(parts, twice=twice) for twice in (True, False))
            return once if found != once and _ESCAPES.search(found) else found
        if any(_is_known(match[1]) for match in _REFERENCE.finditer(text)):
            had_braces, text = "{" in text, decoded(text)
            rules = rules if had_braces or "{" not in text else str
    return fold_fenced(rules(re.sub("[\u200b\ufeff]", "", text)))


def _written(parts, *, twice):
    text = ""
    for part in parts:
        text += "\n" if part.roles & BREAKS else ""
        if not part.name:
            text += parsed(part.text, decodes=True, twice=twice)
        elif part.roles & SHOWS and part.content is not None:
            text += parsed(part.content, decodes=not part.roles & RAW, twice=False) + "\n"
    return folded(text)


@dataclass(frozen=True)
class Part:
    """Text, or markup; name: empty for text, "!" for markup other than a tag.

    content: of a title or script that is read with its tag, None for other elements.
    """

    name: str
    text: str = ""
    closes: bool = False
    content: str | None = None

    @property
    def roles(self):
        """The bits of the element."""
        return ELEMENTS.get(self.name, 0)


class _Reader:
    """One pass over one text; `text` is the text without CDATA marks."""

    def __init__(self, text):
        head, mark, tail = text.partition(CDATA)
        ends = 1 + tail.count(CDATA)
        self.text = head + tail.replace(CDATA, "").replace("]]>", "", ends) if mark else text
        self.last_closing = {m[1].lower(): m.start() for m in _CLOSING_TAG.finditer(self.text)}

    def parts(self):
        """Yield text and markup in turn."""
        at = kept = 0
        while match := _MARKUP.search(self.text, at):
            at = self._end(match) or match.start() + 1
            if at > match.start() + 1:
                yield Part("", self.text[kept : match.start()])
                yield self._part(match, at)
                kept = at
        yield Part("", self.text[kept:])

    def _part(self, match, end):
        if not match["name"]:
            return Part("!")
        content = None
        if end > match.end():
            inside = self.text[match.end() : end]
            content = inside[: [m.start() for m in _CLOSING_TAG.finditer(inside)][-1]]
        return Part(match["name"].lower(), "", bool(match["slash"]), content)

    def _end(self, match):
        """Return the end of the markup; None for text."""
        if match["comment"]:  # `<!-->` is a whole one
            end = _COMMENT_END.search(self.text, match.end() - 2)
            return end and end.end()
        if not match["name"]:
            return match.end()
        name = match["name"].lower()
        roles = ELEMENTS.get(name, EVIDENT if _OFFICE.fullmatch(name) else 0)
        if match["untidy"] is not None and not (
            "=" in match["untidy"] if roles & EVIDENT else _UNTIDY.match(match["untidy"])
        ):
            return None
        has_values = "=" in match["attributes"] and not match["attributes"].lstrip().startswith("=")
        closes = match["slash"] or match["attributes"].endswith("/")
        if not (roles & EVIDENT or closes or has_values or self._is_meant(match, name)):
            return None
        if name not in ELEMENTS and not (roles & EVIDENT or _FOREIGN.fullmatch(name)):
            return None
        if not roles & CLOSED or closes:
            return match.end()
        if self.last_closing.get(name, -1) < match.end():
            return match.end() if has_values else None
        if not roles & (DROPS | SHOWS):
            return match.end()
        closings = _CLOSING_TAG.finditer(self.text, match.end())
        return next(m for m in closings if m[1].lower() == name).end()

    def _is_meant(self, match, name):
        """Return whether a bare name with other uses is a tag; `x<p>y` is mathematics."""
        if self.last_closing.get(name, -1) > match.start():
            return True
        if name not in {"p", "b", "i", "u"} or match["attributes"]:
            return False
        before = self.text[: match.start()][-1:] or "\n"
        after = self.text[match.end() : match.end() + 1] or "\n"
        if name == "p" and (before.isspace() or before == ">"):
            return True
        if re.search("标签|标记", self.text) or (before.isspace() and before not in "\n\r"):
            return False
        if before in _SENTENCE_ENDS or after in "<\n\r":
            return True
        return all(0x2E80 <= ord(c) < 0xFF00 for c in (before, after))


def parsed(text, *, decodes, twice):
    """Return text as an HTML parser reads it; twice: doubly escaped text is decoded, too."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = re.sub("[\ud800-\udfff]", "\ufffd", text)
    return (decoded(text, twice=twice) if decodes else text).replace("\0", "")


def decoded(text, *, twice=False):
    """Return a text with its character references decoded, each once."""
    if twice:
        return _TWICE.sub(_meaning_twice, text)
    return _REFERENCE.sub(lambda m: _meaning(m[1]) if _is_known(m[1]) else m[0], text)


def _is_known(form):
    return form[0] == "#" or form in html5


def _meaning_twice(match):
    again, form = match[1], match[2]
    if form is None:
        return match[0] if match.string == match[0] else "\n"
    if _is_known(form):
        return _meaning(form)
    return f"&{form}" if again else match[0]


def _meaning(form):
    if form[0] != "#":
        return html5[form]
    number = int(form[2:-1], 16) if form[1] in "xX" else int(form[1:-1])
    if 0x80 <= number <= 0x9F:
        return html.unescape(f"&{form}")
    is_none = number == 0 or number > 0x10FFFF or 0xD800 <= number <= 0xDFFF
    return "\ufffd" if is_none else chr(number)  # html.unescape leaves more of them out


def unescaped(text):
    """Return the page of a text whose markup was escaped once more as a whole, else ""."""
    text = text.strip()
    if text[:1] not in ("&", "\\") or "<" in text or ">" in text:
        return ""
    if text[0] == "&":
        text = decoded(text, twice=text.lower().startswith("&amp;"))
    else:
        text = re.sub(r"\\u([0-9A-Fa-f]{4})|\\([\"/])", lambda m: m[2] or chr(int(m[1], 16)), text)
    return text if len(text) > 2 and text[0] == "<" and text[-1] == ">" else ""


def folded(text):
    """Fold each run of white space to a line break if it holds one, else to a space."""
    text = re.sub("[\u200b\ufeff]", "", text)
    return re.sub(r"\s+", lambda m: "\n" if re.search(_BREAK, m[0]) else " ", text).strip()


def fold_fenced(text):
    """Fold white space; text between two fences of as many backticks stays."""
    lines = text.splitlines(keepends=True)
    fences = [_FENCE.fullmatch(line) for line in lines]
    out, at = [], 0
    while at < len(lines):
        out.append(folded(lines[at]))
        fence = fences[at]
        closing = (
            k
            for k in range(at + 1, len(lines))
            if fence and fences[k] and fences[k][1] == fence[1] and not fences[k]["info"].strip()
        )
        if end := next(closing, 0):
            code = "".join(lines[at + 1 : end]).replace("\r\n", "\n").replace("\r", "\n")
            out += [re.sub(rf"\A\s*{_BREAK}", "", code).rstrip(), folded(lines[end])]
            at = end
        at += 1
    return "\n".join(part for part in out if part)
