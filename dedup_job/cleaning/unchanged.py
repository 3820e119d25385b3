"""Which texts cleaning leaves as they are, told for many at once.

Most documents are plain text with tidy white space. Whatever cleaning changes needs a character,
or two side by side, that such a text has not; so one look at each character is enough to be sure.
A text of which this is not certain may still come out as it was.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from dedup_job.compiled import native
from dedup_job.packed import Packed

_PLANE = 1 << 16  # no character beyond it is white space or a mark
_PLAIN, _BLANK, _CHANGED, _MARK, _OPEN, _CLOSE, _COLON = range(7)
_AT, _SLASH, _BANG, _QUESTION, _HASH, _A, _Z = map(ord, "@/!?#az")
_LOWER = 32  # makes a letter a small one


def certainly_unchanged(texts: Packed, *, html: bool, css: bool) -> NDArray[np.bool_]:
    """Tell of which of n texts it is certain that cleaning changes nothing, bool (n,).

    html, css: whether markup and style rules are looked for. Of the white space only single
    spaces and line breaks stay, inside the text.
    """
    unchanged = np.empty(len(texts.offsets) - 1, dtype=np.bool_)
    _look(texts.points, texts.offsets, _kinds(), html, css, unchanged)
    return unchanged


@functools.cache
def _kinds() -> NDArray[np.uint8]:
    """Return the kind of each character of the basic plane, uint8 (65536,)."""
    kinds = np.full(_PLANE, _PLAIN, dtype=np.uint8)
    kinds[[point for point in range(_PLANE) if chr(point).isspace()]] = _CHANGED
    kinds[[0x200B, 0xFEFF]] = _CHANGED
    marks = {" \n": _BLANK, "<&": _MARK, "{": _OPEN, "}": _CLOSE, ":": _COLON}
    for characters, kind in marks.items():
        kinds[[ord(character) for character in characters]] = kind
    return kinds


@native
def _look(
    points: NDArray[np.uint32],
    offsets: NDArray[np.int64],
    kinds: NDArray[np.uint8],
    html: bool,
    css: bool,
    unchanged: NDArray[np.bool_],
) -> None:
    for i in range(unchanged.shape[0]):
        unchanged[i] = _stays(points[offsets[i] : offsets[i + 1]], kinds, html, css)


@native
def _stays(text: NDArray[np.uint32], kinds: NDArray[np.uint8], html: bool, css: bool) -> bool:
    """Tell whether a text certainly stays: no blank beside another, no mark that means something.

    A tag is `<` and a letter, `/`, `!` or `?`; a reference `&` and a letter or `#`. A text begins
    with a style rule or a group of such only if it begins with `@`, or if a colon stands between
    its first braces that hold no other.
    """
    end = text.shape[0]
    if end == 0:
        return True
    if css and text[0] == _AT:
        return False
    former, opened, colon, looked = _BLANK, False, False, not css
    for j in range(end):
        kind = kinds[text[j]] if text[j] < _PLANE else _PLAIN
        if kind == _PLAIN:
            former = _PLAIN
            continue
        if kind == _CHANGED or (kind == _BLANK and former == _BLANK):
            return False
        if kind == _MARK and html and j + 1 < end and _may_begin(text[j + 1]):
            return False
        if kind == _OPEN:
            opened, colon = True, False
        elif kind == _COLON:
            colon = True
        elif kind == _CLOSE:
            if opened and colon and not looked:
                return False
            looked = looked or opened
            opened = False
        former = kind
    return former != _BLANK


@native
def _may_begin(point: int) -> bool:
    """Tell whether markup may go on with this character after its first one."""
    letter = _A <= (point | _LOWER) <= _Z
    return letter or point in (_SLASH, _BANG, _QUESTION, _HASH)
