"""Texts cleaned many at once, in native code: all but the rare ones.

Of a plain text only white space can change: one look at each character makes sure of that, and
folds the white space on the way. Markup is stripped first where there may be some. A text that
may hold style rules, or markup of which nothing is known here, takes the long way.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning.names import PLANE, Tables, tables
from dedup_job.cleaning.stripping import REFERENCES, SHOWS_CODE, TAGS, UNKNOWN, strip
from dedup_job.cleaning.whitespace import INVISIBLE
from dedup_job.compiled import borrowing, native
from dedup_job.packed import pack

STAYS: Final = 0
CLEAN: Final = 1
LEADING_RULES: Final = 2
RULES: Final = 3
OPEN: Final = 4
"""What has become of a text: it stays as it is; is clean; has no markup any more, but may begin
with style rules, or hold some anywhere, and its white space is not folded; is not looked into."""

_PLAIN, _SPACE, _LINE, _INVISIBLE, _MARK, _OPENING, _CLOSING, _COLON = range(8)
_MARKUP, _RULE = 5, 6  # what keeps a text from being folded at once
_NOWHERE, _AT_START, _ANYWHERE = range(3)  # where style rules are looked for
_BLANK, _BREAK, _AT, _SLASH, _BANG, _QUESTION, _HASH, _A, _Z = map(ord, " \n@/!?#az")
_LOWER = 32  # makes a letter a small one


def tidied(texts: Sequence[str], *, html: bool, css: bool) -> tuple[list[str], NDArray[np.uint8]]:
    """Return n texts without markup, their white space folded, and what has become of each, (n,).

    html, css: whether markup and style rules are looked for. A run of white space becomes a line
    break if it holds one, else a space; the zero-width space and the byte order mark vanish.
    """
    points, offsets = pack(texts)
    out = np.empty_like(points)
    bounds = np.zeros(len(texts) + 1, dtype=np.int64)
    found = np.empty(len(texts), dtype=np.uint8)
    _tidy_all(points, offsets, _kinds(), tables(), html, css, out, bounds, found)
    # decoded at once: a call for each text costs more than to take it out of all of them
    written = str(out[: bounds[-1]].data, "utf-32-le", "surrogatepass")
    ends = bounds.tolist()
    tidy = list(texts)
    for row in np.flatnonzero((found != STAYS) & (found != OPEN)).tolist():
        tidy[row] = written[ends[row] : ends[row + 1]]
    return tidy, found


@functools.cache
def _kinds() -> NDArray[np.uint8]:
    """Return the kind of each character of the basic plane, uint8 (65536,)."""
    kinds = np.full(PLANE, _PLAIN, dtype=np.uint8)
    spaces = [point for point in range(PLANE) if chr(point).isspace()]
    kinds[spaces] = _SPACE
    kinds[[point for point in spaces if len(f"a{chr(point)}b".splitlines()) > 1]] = _LINE
    kinds[[ord(character) for character in INVISIBLE]] = _INVISIBLE
    marks = {"<&": _MARK, "{": _OPENING, "}": _CLOSING, ":": _COLON}
    for characters, kind in marks.items():
        kinds[[ord(character) for character in characters]] = kind
    return kinds


@native
def _tidy_all(
    points: NDArray[np.uint32],
    offsets: NDArray[np.int64],
    kinds: NDArray[np.uint8],
    lookup: Tables,
    html: bool,
    css: bool,
    out: NDArray[np.uint32],
    bounds: NDArray[np.int64],
    found: NDArray[np.uint8],
) -> None:
    """Enter what has become of n texts; text i, if it is another now, is out[bounds[i:i + 2]].

    bounds: int64 (n + 1,), of which the first is 0.
    """
    last = np.empty(lookup.roles.shape[0], dtype=np.int64)
    bare = np.empty(np.max(np.diff(offsets)) if found.shape[0] else 0, dtype=np.uint32)
    for i in range(found.shape[0]):
        text = points[offsets[i] : offsets[i + 1]]
        tidy = out[bounds[i] :]
        found[i], length = _fold(text, kinds, html, _AT_START if css else _NOWHERE, tidy)
        if found[i] == _MARKUP:
            found[i], length = _strip(text, kinds, lookup, css, last, bare, tidy)
        elif found[i] == _RULE:
            found[i] = OPEN
        bounds[i + 1] = bounds[i] + (0 if found[i] in (STAYS, OPEN) else length)


@native
def _strip(
    text: NDArray[np.uint32],
    kinds: NDArray[np.uint8],
    lookup: Tables,
    css: bool,
    last: NDArray[np.int64],
    bare: NDArray[np.uint32],
    out: NDArray[np.uint32],
) -> tuple[int, int]:
    """Write a text without its markup; return what has become of it, and its length."""
    length, holds = strip(text, lookup, last, bare)
    if holds & UNKNOWN:
        return OPEN, 0
    if not holds & (TAGS | REFERENCES):
        found, length = _fold(text, kinds, False, _AT_START if css else _NOWHERE, out)
        return OPEN if found == _RULE else found, length
    rules = _NOWHERE if not css else _ANYWHERE if holds & TAGS else _AT_START
    found, folded = _fold(bare[:length], kinds, False, rules, out)
    if found != _RULE:
        return CLEAN, folded
    if holds & SHOWS_CODE:
        return OPEN, 0  # in code a style rule is text
    out[:length] = bare[:length]
    return RULES if holds & TAGS else LEADING_RULES, length


@borrowing
def _fold(
    text: NDArray[np.uint32],
    kinds: NDArray[np.uint8],
    html: bool,
    rules: int,
    out: NDArray[np.uint32],
) -> tuple[int, int]:
    """Write the text with its white space folded; return what became of it, and its length.

    A tag is `<` and a letter, `/`, `!` or `?`; a reference `&` and a letter or `#`. A style rule
    or a group of such begins with `@`, or a colon stands between its braces that hold no others;
    if the text begins with one, these are the first such braces.
    """
    end, at = text.shape[0], 0
    blank = other = np.uint32(0)  # the run of white space that comes before; a character replaced
    opened, colon, looking = False, False, rules != _NOWHERE
    for j in range(end):
        point = text[j]
        kind = kinds[point] if point < PLANE else _PLAIN
        if kind in (_SPACE, _LINE):
            alone = np.uint32(_BREAK if kind == _LINE else _BLANK)
            other |= point ^ alone
            blank = blank if blank == _BREAK else alone
            continue
        if kind == _INVISIBLE:
            continue
        if blank != 0:
            if at > 0:
                out[at] = blank
                at += 1
            blank = np.uint32(0)
        if point == _AT and (rules == _ANYWHERE or (rules == _AT_START and at == 0)):
            return _RULE, 0
        out[at] = point
        at += 1
        if kind == _PLAIN:
            continue
        if kind == _MARK and html and j + 1 < end and _may_begin(text[j + 1]):
            return _MARKUP, 0
        if kind == _OPENING:
            opened, colon = True, False
        elif kind == _COLON:
            colon = True
        elif kind == _CLOSING:
            if opened and colon and looking:
                return _RULE, 0
            looking = looking and (rules == _ANYWHERE or not opened)
            opened = False
    return (STAYS if at == end and other == 0 else CLEAN), at


@borrowing
def _may_begin(point: int) -> bool:
    """Tell whether markup may go on with this character after its first one."""
    letter = _A <= (point | _LOWER) <= _Z
    return letter or point in (_SLASH, _BANG, _QUESTION, _HASH)
