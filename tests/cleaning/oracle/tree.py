"""Tokens as a tree: which tag closes what."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tests.cleaning.oracle.escapes import decode
from tests.cleaning.oracle.names import BLOCKS, KNOWN, VOID

_ATTRIBUTE = re.compile(
    r"""([A-Za-z_:@\#*][\w:.@-]*+)(?:\s*+=\s*+(?:(\\?"[^"]*+")|(\\?'[^']*+')|"""
    r"""((?!\\["'])[^\s"'=<>`][^\s"'<>]*+)))?+"""
)
_ROWS = {"tr", "thead", "tbody", "tfoot", "caption", "colgroup"}
_HARD = {"template", "object", "svg"}


@dataclass
class Node:
    """An element, or text; `ended` tells what closed it: own, other or end."""

    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Node] = field(default_factory=list)
    text: str = ""
    ended: str = "end"
    source: str = ""
    start: int = 0
    known: bool = True
    implied: bool = False
    closed: bool = False  # it has a closing tag


def attributes_of(text):
    """Return the attributes with a value, the first of equal names."""
    found = {}
    for match in _ATTRIBUTE.finditer(text):
        quoted, name = match[2] or match[3], match[1].lower()
        if quoted and quoted[0] == "\\":
            found.setdefault(name, quoted[2:-1].removesuffix("\\"))
        elif quoted:
            found.setdefault(name, quoted[1:-1])
        elif match[4] is not None or name == "hidden":
            found.setdefault(name, match[4] or "")
    return found


class Builder:
    """The stack of open elements."""

    def __init__(self, whole):
        self.root = Node("")
        self.stack = [self.root]
        self.whole = whole

    def nearest(self, names):
        """Return the place of the nearest open element of these names, 0 for none."""
        for k in range(len(self.stack) - 1, 0, -1):
            if self.stack[k].name in names:
                return k
        return 0

    def code(self):
        """Return the place of the outermost open code of the current one, 0 for none."""
        return next(
            (k for k, n in enumerate(self.stack) if n.name in {"pre", "listing", "code"}), 0
        )

    def in_code(self, k):
        """Tell whether the element at a place stands within code."""
        return 0 < self.code() < k

    def within(self, names, scope):
        """Return the nearest of these names, outside of code, above the nearest of the scope."""
        for k in range(len(self.stack) - 1, 0, -1):
            if self.in_code(k):
                continue
            if self.stack[k].name in names:
                return k
            if self.stack[k].name in scope:
                return 0
        return 0

    def hard(self):
        """Return the place of the nearest element that nothing outside closes."""
        return self.nearest(_HARD)

    def barrier(self):
        """Return the place of the nearest element that inline tags do not close across."""
        tables = self.within({"table", "td", "th"}, set())
        return max(self.hard(), tables)

    def pop_to(self, k, ended, stop):
        """Close all elements down to a place."""
        while len(self.stack) > k:
            node = self.stack.pop()
            node.ended = ended if len(self.stack) == k else "other" if ended != "end" else "end"
            node.source = self.whole[node.start : stop]

    def add(self, token):
        """Take in a token."""
        top = self.stack[-1]
        if not token.name:
            top.children.append(Node("#", text=token.text))
        elif token.name == "!":
            top.children.append(Node("!"))
        elif token.closes:
            self._close(token)
            if token.name in BLOCKS:
                self.stack[-1].children.append(Node("#break", text=token.name))
        else:
            self._open(token)

    def _close(self, token):
        name = token.name
        k, limit = self.nearest({name}), self.barrier()
        if name == "table" or name in _HARD:
            limit = self.hard()
        elif name in {"td", "th"} | _ROWS:
            if name == "tr" and not self.in_code(k):
                k = self.within({"tr"}, {"table"})
            limit = max(self.within({"table"}, set()), self.hard())
        elif name == "li":
            limit = max(self.within({"ol", "ul", "menu", "dir"}, {"td", "th"}), limit)
        if k and k >= limit:
            self.pop_to(k, "own", token.end)

    def _open(self, token):
        name = token.name
        self._close_before(name, token.start)
        node = Node(name, attributes_of(token.text), start=token.start)
        node.known = name in KNOWN or name == "mjx-container"
        if name == "math" and "</math" not in self.whole[token.end :].lower():
            node.known = False
        formula = (
            token.content is not None and "math/tex" in node.attributes.get("type", "").lower()
        )
        if name in BLOCKS and not formula:
            self.stack[-1].children.append(Node("#break", text=name))
        self.stack[-1].children.append(node)
        if token.content is not None:
            node.text, node.closed = token.content, True
            return
        if name in VOID or (name not in KNOWN and name != "mjx-container"):
            return
        self.stack.append(node)
        if token.itself:
            self.pop_to(len(self.stack) - 1, "own", token.end)

    def _close_before(self, name, stop):
        k = 0
        if name == "li":
            k = self.within({"li"}, {"ol", "ul", "menu", "dir", "td", "th"})
        elif name in _ROWS:
            k = self.within({"tr"}, {"table"})
        elif name in {"td", "th"}:
            k = self.within({"td", "th"}, {"tr", "table"})
        elif name in {"rt", "rp"} and self.stack[-1].name in {"rt", "rp"}:
            k = len(self.stack) - 1
        if k and k >= self.hard():
            self.pop_to(k, "other", stop)
        if name in {"td", "th"} and not self.code() and not self.within({"tr"}, {"table"}):
            row = Node("tr", start=stop, implied=True)
            self.stack[-1].children.append(row)
            self.stack.append(row)


def tree(tokens, whole):
    """Return the tree of a text."""
    builder = Builder(whole)
    for token in tokens:
        builder.add(token)
    builder.pop_to(1, "end", len(whole))
    return builder.root


def value(node, name):
    """Return the value of an attribute, decoded."""
    return parsed(node.attributes.get(name, ""))


def parsed(text, *, decoded=True, twice=False):
    """Return text as a parser gives it; twice: what was escaped once more as well."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = re.sub("[\ud800-\udfff]", "\ufffd", text)
    return (decode(text, twice=twice) if decoded else text).replace("\0", "")
