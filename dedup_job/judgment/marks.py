"""Marks of the notation and links in their canonical form."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.judgment.alphabet import WORD_CHARACTER, codes
from dedup_job.judgment.amounts import is_range, write_number
from dedup_job.judgment.formulas import write_command, write_image, write_script
from dedup_job.judgment.frames import open_emphasis
from dedup_job.judgment.room import (
    AT,
    BASE,
    END,
    IN_LATEX,
    NOTED,
    Room,
    frame_at,
    last_of,
    note,
    put,
)
from dedup_job.judgment.scanning import (
    before,
    is_blank,
    is_digit,
    is_han,
    is_latin,
    point_at,
    skip_blanks,
)
from dedup_job.native.jit import inner

_SQUARE, _SQUARE_END, _ROUND, _ROUND_END, _BANG, _HASH, _SLASH = codes("[]()!#/")
_SCHEME = codes("http")


@inner
def opens_link(cells: NDArray[np.uint32], i: int, base: int, stop: int) -> bool:
    """Tell whether the [ at i opens the words of a link."""
    if i > base and point_at(cells, i - 1) == _BANG:  # an image
        return False
    k = i + 1
    while k < stop and point_at(cells, k) != _SQUARE and point_at(cells, k) != _SQUARE_END:
        k += 1
    return k < stop and point_at(cells, k) == _SQUARE_END and _target_end(cells, k, stop) > k


@inner
def link_end(cells: NDArray[np.uint32], i: int, base: int, stop: int) -> int:
    """Return where the link ends whose words the ] at i closes, i where it closes none."""
    end = _target_end(cells, i, stop)
    if end == i:
        return i
    k = i - 1
    while k >= base and point_at(cells, k) != _SQUARE and point_at(cells, k) != _SQUARE_END:
        k -= 1
    opened = k >= base and point_at(cells, k) == _SQUARE
    return end if opened and opens_link(cells, k, base, stop) else i


@inner
def _target_end(cells: NDArray[np.uint32], i: int, stop: int) -> int:
    """Return where the (target) behind i ends, i where there is none.

    A target is a URL, a path from / on or a place in the page: (x) stays a formula.
    """
    if i + 3 >= stop or point_at(cells, i + 1) != _ROUND or not _begins(cells, i + 2, stop):
        return i
    k = i + 2
    while k < stop and not is_blank(cells, k):
        if point_at(cells, k) == _ROUND:
            return i
        if point_at(cells, k) == _ROUND_END:
            return k + 1
        k += 1
    return i


@inner
def _begins(cells: NDArray[np.uint32], i: int, stop: int) -> bool:
    if point_at(cells, i) == _HASH:
        return True
    if point_at(cells, i) == _SLASH:
        return is_latin(cells, i + 1)
    if i + len(_SCHEME) >= stop:
        return False
    for k in range(len(_SCHEME)):  # noqa: SIM110  # numba compiles no generator here
        if point_at(cells, i + k) != _SCHEME[k]:
            return False
    return True


(
    _BACKSLASH,
    _MINUS,
    _TILDE,
    _DASH,
    _LESS,
    _GREATER,
    _STAR,
    _BRACE,
    _BRACE_END,
    _AND,
    _BAR,
    _CENTRE,
    _TICK,
    _DOT,
    _CARET,
    _UNDERLINE,
) = codes("\\-~—<>*{}&|·'.^_")
_TIMES, _SPACE, _NEWLINE, _ALPHA, _OMEGA = codes("× \nαω")
_QUOTES, _QUOTES_END = codes('“"《'), codes('”"》')
_BEFORE_POINT = codes("=+-×÷<>(,$~/|")
_AFTER_BANG = codes("=+-×÷/*)")
_STYLES = ("underline", "dots", "bold", "italic")
_STYLE_POINTS = tuple(map(ord, "".join(_STYLES)))
_STYLE_LENGTHS = tuple(map(len, _STYLES))
_STYLE_STARTS = tuple(sum(_STYLE_LENGTHS[:k]) for k in range(len(_STYLES)))


@inner
def write_mark(cells: NDArray[np.uint32], i: int, tables: NDArray[np.uint32], room: Room) -> int:
    """Write the mark at i where it means something; return where the next cell lies."""
    point, stop = point_at(cells, i), frame_at(room, END)
    if point == _BACKSLASH:
        return write_command(cells, i, tables, room)
    if point == _CARET or (point == _UNDERLINE and _is_index(cells, i, room)):
        return write_script(cells, i, tables, room)
    if point == _DOT:
        return _write_dot(cells, i, tables, room)
    if point in (_ROUND, _SQUARE):
        return _open_bracket(cells, i, room)
    if point == _MINUS:
        return _write_dash(cells, i, room)
    if point == _BANG:
        end = write_image(cells, i, stop, room)
        return end if end > i else _write_bang(cells, i, room)
    if point in (_TILDE, _DASH):
        end = i + 1
        while end < stop and (point_at(cells, end) == _TILDE or point_at(cells, end) == _DASH):
            end += 1
        if is_range(cells, i, end, room):
            put(room, _MINUS)
        return end
    if point in (_LESS, _GREATER, _STAR):
        return _write_pair(cells, i, room)
    if point in (_ROUND_END, _SQUARE_END):
        return _close_bracket(cells, i, room)
    if _is_kept(cells, i, room):
        put(room, point)
    return i + 1


@inner
def _is_index(cells: NDArray[np.uint32], i: int, room: Room) -> bool:
    """Tell whether the _ at i stands within something."""
    if i <= frame_at(room, BASE) or i + 1 >= frame_at(room, END):
        return False
    return not (_parts(point_at(cells, i - 1)) or _parts(point_at(cells, i + 1)))


@inner
def _parts(point: int) -> bool:
    return point in (_UNDERLINE, _SPACE, _NEWLINE)


@inner
def _write_dot(cells: NDArray[np.uint32], i: int, tables: NDArray[np.uint32], room: Room) -> int:
    """Write .5, or note the end of a sentence."""
    base, stop = frame_at(room, BASE), frame_at(room, END)
    if i + 1 < stop and is_digit(cells, i + 1):
        if i == base or is_blank(cells, i - 1) or point_at(cells, i - 1) in _BEFORE_POINT:
            return write_number(cells, i, tables, room)
    elif i > base and not is_digit(cells, i - 1) and (i + 1 == stop or is_blank(cells, i + 1)):
        note(room)
    return i + 1


@inner
def _open_bracket(cells: NDArray[np.uint32], i: int, room: Room) -> int:
    """Write an opening bracket before a formula; a blank goes, emphasised words begin."""
    base, stop = frame_at(room, BASE), frame_at(room, END)
    if point_at(cells, i) == _SQUARE:
        if opens_link(cells, i, base, stop):
            return i + 1
        end = _emphasis_end(cells, i, stop)
        if end > i:
            close = end - 1
            while point_at(cells, close) != _SQUARE_END:
                close -= 1
            open_emphasis(room, i + 1, close, end)
            return i + 1
    end = i + 1
    while end < stop and (is_blank(cells, end) or point_at(cells, end) == _UNDERLINE):
        end += 1
    if end < stop and (point_at(cells, end) == _ROUND_END or point_at(cells, end) == _SQUARE_END):
        return end + 1
    after = skip_blanks(cells, i + 1, stop)
    if after < stop and not is_han(cells, after) and point_at(cells, after) not in _QUOTES:
        put(room, point_at(cells, i))
    return i + 1


@inner
def _emphasis_end(cells: NDArray[np.uint32], i: int, stop: int) -> int:
    """Return where [words]{.underline} and the like at i end, i where they are not there."""
    k = i + 1
    while k < stop and point_at(cells, k) != _SQUARE and point_at(cells, k) != _SQUARE_END:
        k += 1
    if k + 3 > stop or point_at(cells, k) != _SQUARE_END:
        return i
    if point_at(cells, k + 1) != _BRACE or point_at(cells, k + 2) != _DOT:
        return i
    k += 3
    for style in range(len(_STYLE_LENGTHS)):
        length, first = _STYLE_LENGTHS[style], _STYLE_STARTS[style]
        end = k + length
        if end < stop and point_at(cells, end) == _BRACE_END:
            same = True
            for m in range(length):
                same &= point_at(cells, k + m) == _STYLE_POINTS[first + m]
            if same:
                return end + 1
    return i


@inner
def _close_bracket(cells: NDArray[np.uint32], i: int, room: Room) -> int:
    """Write a closing bracket behind a formula; a pair with nothing in it, a link's target goes."""
    base, point = frame_at(room, BASE), point_at(cells, i)
    if point == _SQUARE_END:
        end = link_end(cells, i, base, frame_at(room, END))
        if end > i:
            return end
    k = before(cells, i, base)
    if k < base or is_han(cells, k) or point_at(cells, k) in _QUOTES_END:
        return i + 1
    opening = _ROUND if point == _ROUND_END else _SQUARE
    if last_of(room) == opening and frame_at(room, NOTED) != room.work[AT]:
        room.work[AT] -= 1
    else:
        put(room, point)
    return i + 1


@inner
def _write_dash(cells: NDArray[np.uint32], i: int, room: Room) -> int:
    """Write a minus; a dash between words goes."""
    base, stop = frame_at(room, BASE), frame_at(room, END)
    k = before(cells, i, base)
    end = i + 1
    while end < stop and point_at(cells, end) == _MINUS:
        end += 1
    if end - i > 2:
        return end
    if end - i == 2:
        after = skip_blanks(cells, end, stop)
        if after == stop or is_han(cells, after) or (k >= base and is_han(cells, k)):
            return end
        if not cells[after] & WORD_CHARACTER and point_at(cells, after) != _ROUND:
            return end
    elif i - base >= 2 and i + 2 < stop:
        words = is_latin(cells, i - 1) and is_latin(cells, i - 2)
        if words and is_latin(cells, i + 1) and is_latin(cells, i + 2):
            return i + 1
    after = skip_blanks(cells, i + 1, stop)
    alone = k < base and after == stop
    if alone or not (_is_text(cells, k, base, stop) and _is_text(cells, after, base, stop)):
        put(room, _MINUS)
    return i + 1


@inner
def _is_text(cells: NDArray[np.uint32], i: int, base: int, stop: int) -> bool:
    """Tell whether it is a Chinese character or none at all."""
    return i < base or i >= stop or is_han(cells, i)


@inner
def _write_bang(cells: NDArray[np.uint32], i: int, room: Room) -> int:
    """Write a factorial, or that of !=; else note the end of a sentence."""
    base, stop = frame_at(room, BASE), frame_at(room, END)
    k = before(cells, i, base)
    kept = i + 1 < stop and point_at(cells, i + 1) == ord("=")
    variable = i > base and is_latin(cells, i - 1)
    variable &= not (i - 2 >= base and is_latin(cells, i - 2))
    if variable or (k >= base and is_digit(cells, k)):
        after = skip_blanks(cells, i + 1, stop)
        kept = after < stop and (is_digit(cells, after) or point_at(cells, after) in _AFTER_BANG)
    if kept:
        put(room, _BANG)
    else:
        note(room)
    return i + 1


@inner
def _write_pair(cells: NDArray[np.uint32], i: int, room: Room) -> int:
    """Write < > * but not <<, >>, ** that are quotes or emphasis."""
    base, stop, point = frame_at(room, BASE), frame_at(room, END), point_at(cells, i)
    k, after = before(cells, i, base), skip_blanks(cells, i + 1, stop)
    double = i + 1 < stop and point_at(cells, i + 1) == point
    if point == _LESS:
        if double and i + 2 < stop and is_han(cells, i + 2):
            return i + 2
    elif point == _GREATER:
        if double and k >= base and is_han(cells, k):
            return i + 2
    elif double:
        return i + 2
    else:
        if k < base:
            return i + 1
        meant = point_at(cells, k) == _ROUND_END
        if point_at(cells, i - 1) == _NEWLINE and i + 1 < stop and is_blank(cells, i + 1):
            meant = False  # the mark of an item of a list
        elif _is_letter(cells, k) and after < stop:
            meant |= _is_letter(cells, after) or point_at(cells, after) == _ROUND
        point = _TIMES if meant else 0
    if point:
        put(room, point)
    return i + 1


@inner
def _is_letter(cells: NDArray[np.uint32], i: int) -> bool:
    return cells[i] & WORD_CHARACTER != 0 and point_at(cells, i) != _UNDERLINE


@inner
def _is_kept(cells: NDArray[np.uint32], i: int, room: Room) -> bool:
    """Tell whether one of { } & | / · ' _ means something."""
    base, stop, point = frame_at(room, BASE), frame_at(room, END), point_at(cells, i)
    if point in (_BRACE, _BRACE_END, _AND):
        return not frame_at(room, IN_LATEX)
    if point == _BAR:  # between cells
        left = i == base or is_blank(cells, i - 1)
        return not (left and (i + 1 == stop or is_blank(cells, i + 1)))
    k, after = before(cells, i, base), skip_blanks(cells, i + 1, stop)
    if point == _SLASH:
        return not (_is_text(cells, k, base, stop) and _is_text(cells, after, base, stop))
    if point == _CENTRE:
        return k >= base and after < stop and not is_han(cells, k) and not is_han(cells, after)
    if point != _TICK or k < base:
        return False
    mark = point_at(cells, k)
    variable = is_latin(cells, k) or is_digit(cells, k) or mark == _ROUND_END
    variable |= _ALPHA <= mark <= _OMEGA or (mark == _TICK and last_of(room) == _TICK)
    if not variable or (i + 1 < stop and is_latin(cells, i + 1)):
        return False
    return not (is_latin(cells, k) and k - 1 >= base and is_latin(cells, k - 1))
