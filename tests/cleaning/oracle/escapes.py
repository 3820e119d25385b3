"""Character references: which `&` starts one, and the escape of all that does not."""

from __future__ import annotations

import html
import re
from html.entities import html5

_FORM = r"#[0-9]{1,7};|#[xX][0-9A-Fa-f]{1,6};|[A-Za-z][A-Za-z0-9]{1,31};"
_REFERENCE = re.compile(rf"&({_FORM})")
_AMPERSANDS = re.compile(rf"(&++)({_FORM})?+")
# Only with its semicolon: `?a=1&para=2&copy=3` is an address, not a paragraph sign.
_NAMED = frozenset(name for name in html5 if name.endswith(";"))


def holds_reference(text: str) -> bool:
    """Tell whether any `&` of the text starts a character reference."""
    return any(_is_known(match[1]) for match in _REFERENCE.finditer(text))


def escape(text: str) -> str:
    """Escape each `<`, and each `&` that starts no character reference."""
    if "&" in text:
        text = _AMPERSANDS.sub(_escape_ampersands, text)
    return text.replace("<", "&lt;") if "<" in text else text


def escape_all(text: str) -> str:
    """Escape each `<` and each `&`."""
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _is_known(form: str) -> bool:
    return form[0] == "#" or form in _NAMED


def _escape_ampersands(match: re.Match[str]) -> str:
    ampersands, form = match.groups()
    if form is None:
        return "&amp;" * len(ampersands)
    if _is_known(form):
        return "&amp;" * (len(ampersands) - 1) + "&" + form
    return "&amp;" * len(ampersands) + form


def decode(text: str) -> str:
    """Return a text with its character references decoded, each once."""
    return _REFERENCE.sub(lambda m: html.unescape(m[0]) if _is_known(m[1]) else m[0], text)


def escape_again(text: str) -> str:
    """Return a text that comes out of a second cleaning as it went into the first."""
    text = _REFERENCE.sub(lambda m: f"&amp;{m[1]}" if _is_known(m[1]) else m[0], text)
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", text)
