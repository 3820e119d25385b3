"""Character references: which `&` starts one, and what they mean."""

import html
import re
from html.entities import html5

_FORM = r"#[0-9]{1,7};|#[xX][0-9A-Fa-f]{1,6};|[A-Za-z][A-Za-z0-9]{1,31};"
_REFERENCE = re.compile(rf"&({_FORM})")
_TWICE = re.compile(
    rf"&((?:(?:amp|AMP|\#0{{0,5}}38|\#[xX]0{{0,4}}26);)*)({_FORM})"
    r"|\\n(?=[\u2e80-\U0010ffff]|\\n|[A-Za-z0-9][.)、．])|\\n\Z"
)
_ESCAPES = re.compile("标签|标记|实体|转义|换行|字符|代码|HTML|html")
# Only with its semicolon: `?a=1&para=2&copy=3` is an address, not a paragraph sign.
_NAMED = frozenset(name for name in html5 if name.endswith(";"))


def holds_reference(text):
    """Tell whether any `&` of the text starts a character reference."""
    return any(_is_known(match[1]) for match in _REFERENCE.finditer(text))


def _is_known(form):
    return form[0] == "#" or form in _NAMED


def decode(text, *, twice=False):
    """Return a text with its references decoded, each once; twice: and what was escaped again."""
    if twice:
        return _TWICE.sub(_meaning_twice, text)
    return _REFERENCE.sub(lambda m: _meaning(m[1]) if _is_known(m[1]) else m[0], text)


def _meaning_twice(match):
    again, form = match[1], match[2]
    if form is None:
        return match[0] if match.string == match[0] else "\n"
    if _is_known(form):
        return _meaning(form)
    return f"&{form}" if again else match[0]


def speaks_of_escapes(text):
    """Tell whether a text is about markup, so that what looks escaped once more is meant."""
    return bool(_ESCAPES.search(text))


def unescaped(text):
    """Return a text whose markup was escaped once more as a whole without that escape, or ""."""
    text = text.strip()
    if text[:1] not in ("&", "\\") or "<" in text or ">" in text:
        return ""
    if text[0] == "&":
        text = decode(text, twice=text.lower().startswith("&amp;"))
    else:
        text = re.sub(r"\\u([0-9A-Fa-f]{4})|\\([\"/])", lambda m: m[2] or chr(int(m[1], 16)), text)
    return text if len(text) > 2 and text[0] == "<" and text[-1] == ">" else ""


def _meaning(form):
    if form[0] != "#":
        return html5[form]
    number = int(form[2:-1], 16) if form[1] in "xX" else int(form[1:-1])
    if 0x80 <= number <= 0x9F:
        return html.unescape(f"&{form}")
    is_none = number == 0 or number > 0x10FFFF or 0xD800 <= number <= 0xDFFF
    return "\ufffd" if is_none else chr(number)  # html.unescape leaves more of them out
