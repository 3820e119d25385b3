"""Character references: which `&` starts one, what they mean, and the escape of a cleaned text."""

from __future__ import annotations

import html
import re
from html.entities import html5

_FORM = r"#[0-9]{1,7};|#[xX][0-9A-Fa-f]{1,6};|[A-Za-z][A-Za-z0-9]{1,31};"
_REFERENCE = re.compile(rf"&({_FORM})")
# Only with its semicolon: `?a=1&para=2&copy=3` is an address, not a paragraph sign.
_NAMED = frozenset(name for name in html5 if name.endswith(";"))


def holds_reference(text: str) -> bool:
    """Tell whether any `&` of the text starts a character reference."""
    return any(_is_known(match[1]) for match in _REFERENCE.finditer(text))


def _is_known(form: str) -> bool:
    return form[0] == "#" or form in _NAMED


def decode(text: str) -> str:
    """Return a text with its character references decoded, each once."""
    return _REFERENCE.sub(lambda m: _meaning(m[1]) if _is_known(m[1]) else m[0], text)


def _meaning(form: str) -> str:
    if form[0] != "#":
        return html5[form]
    number = int(form[2:-1], 16) if form[1] in "xX" else int(form[1:-1])
    if 0x80 <= number <= 0x9F:
        return html.unescape(f"&{form}")
    is_none = number == 0 or number > 0x10FFFF or 0xD800 <= number <= 0xDFFF
    return "\ufffd" if is_none else chr(number)  # html.unescape leaves more of them out


def escape_again(text: str) -> str:
    """Return a text that comes out of a second cleaning as it went into the first."""
    text = _REFERENCE.sub(lambda m: f"&amp;{m[1]}" if _is_known(m[1]) else m[0], text)
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", text)
