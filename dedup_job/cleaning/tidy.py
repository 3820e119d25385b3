"""Plain texts cleaned many at once: of these only white space can change.

Whatever else cleaning changes needs a character, or two side by side, that most texts have not; so
one look at each character is enough to be sure of that, and to fold the white space on the way.
A text of which it is not certain takes the long way.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning.whitespace import INVISIBLE
from dedup_job.compiled import native
from dedup_job.packed import pack

_PLANE = 1 << 16  # no character beyond it is white space or a mark
_PLAIN, _SPACE, _LINE, _INVISIBLE, _MARK, _OPEN, _CLOSE, _COLON = range(8)
_STAYS, _FOLDED, _OPEN_QUESTION = range(3)
_BLANK, _BREAK, _AT, _SLASH, _BANG, _QUESTION, _HASH, _A, _Z = map(ord, " \n@/!?#az")
_LOWER = 32  # makes a letter a small one


def tidied(texts: Sequence[str], *, html: bool, css: bool) -> list[str | None]:
    """Return texts with their white space folded, None for those that may hold more to clean.

    html, css: whether markup and style rules are looked for. A run of white space becomes a line
    break if it holds one, else a space; the zero-width space and the byte order mark vanish.
    """
    points, offsets = pack(texts)
    out = np.empty_like(points)
    stops = np.empty(len(texts), dtype=np.int64)
    found = np.empty(len(texts), dtype=np.uint8)
    _tidy_all(points, offsets, _kinds(), html, css, out, stops, found)
    clean: list[str | None] = list(texts)
    for row in np.flatnonzero(found == _FOLDED).tolist():
        folded = out[offsets[row] : stops[row]].tobytes()
        clean[row] = folded.decode("utf-32-le", "surrogatepass")
    for row in np.flatnonzero(found == _OPEN_QUESTION).tolist():
        clean[row] = None
    return clean


@functools.cache
def _kinds() -> NDArray[np.uint8]:
    """Return the kind of each character of the basic plane, uint8 (65536,)."""
    kinds = np.full(_PLANE, _PLAIN, dtype=np.uint8)
    spaces = [point for point in range(_PLANE) if chr(point).isspace()]
    kinds[spaces] = _SPACE
    kinds[[point for point in spaces if len(f"a{chr(point)}b".splitlines()) > 1]] = _LINE
    kinds[[ord(character) for character in INVISIBLE]] = _INVISIBLE
    marks = {"<&": _MARK, "{": _OPEN, "}": _CLOSE, ":": _COLON}
    for characters, kind in marks.items():
        kinds[[ord(character) for character in characters]] = kind
    return kinds


@native
def _tidy_all(
    points: NDArray[np.uint32],
    offsets: NDArray[np.int64],
    kinds: NDArray[np.uint8],
    html: bool,
    css: bool,
    out: NDArray[np.uint32],
    stops: NDArray[np.int64],
    found: NDArray[np.uint8],
) -> None:
    for i in range(found.shape[0]):
        text = points[offsets[i] : offsets[i + 1]]
        folded = out[offsets[i] : offsets[i + 1]]
        found[i], length = _tidy(text, kinds, html, css, folded)
        stops[i] = offsets[i] + length


@native
def _tidy(
    text: NDArray[np.uint32],
    kinds: NDArray[np.uint8],
    html: bool,
    css: bool,
    out: NDArray[np.uint32],
) -> tuple[int, int]:
    """Write the text with its white space folded; return what became of it, and its length.

    A tag is `<` and a letter, `/`, `!` or `?`; a reference `&` and a letter or `#`. A text begins
    with a style rule or a group of such only if it begins with `@`, or if a colon stands between
    its first braces that hold no other.
    """
    end, at = text.shape[0], 0
    blank = other = np.uint32(0)  # the run of white space that comes before; a character replaced
    opened, colon, looked = False, False, not css
    for j in range(end):
        point = text[j]
        kind = kinds[point] if point < _PLANE else _PLAIN
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
        if at == 0 and css and point == _AT:
            return _OPEN_QUESTION, 0
        out[at] = point
        at += 1
        if kind == _PLAIN:
            continue
        if kind == _MARK and html and j + 1 < end and _may_begin(text[j + 1]):
            return _OPEN_QUESTION, 0
        if kind == _OPEN:
            opened, colon = True, False
        elif kind == _COLON:
            colon = True
        elif kind == _CLOSE:
            if opened and colon and not looked:
                return _OPEN_QUESTION, 0
            looked = looked or opened
            opened = False
    return (_STAYS if at == end and other == 0 else _FOLDED), at


@native
def _may_begin(point: int) -> bool:
    """Tell whether markup may go on with this character after its first one."""
    letter = _A <= (point | _LOWER) <= _Z
    return letter or point in (_SLASH, _BANG, _QUESTION, _HASH)
