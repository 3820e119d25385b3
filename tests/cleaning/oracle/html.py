"""The parser call: from prepared markup to text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser

from tests.cleaning.oracle.markup import CODE, Prepared

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text, and whether it is the text of a pre or code element."""

    text: str
    code: bool


def read(prepared: Prepared) -> list[Piece]:
    """Parse prepared markup; the joined pieces are its text."""
    tree = LexborHTMLParser(_encodable(prepared.html))
    if tree.root is None:
        return []
    if not prepared.code or tree.body is None:
        return [Piece(tree.root.text(), code=False)]
    # The guard lets code elements through without nesting: all stand right in the body.
    return [Piece(node.text(), code=node.tag == CODE) for node in tree.body.iter(include_text=True)]


def _encodable(markup: str) -> str:
    # The parser works on UTF-8, in which a lone surrogate has no form.
    try:
        markup.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", markup)
    return markup
