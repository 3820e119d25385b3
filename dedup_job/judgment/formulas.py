"""Formulas and images in their canonical form."""

from __future__ import annotations

import numpy as np

from dedup_job.judgment import frames, words
from dedup_job.judgment.amounts import is_range, put_apart, put_value
from dedup_job.judgment.cells import (
    behind,
    is_blank,
    is_digit,
    is_latin,
    length_of,
    point_at,
    skip_blanks,
    skip_digits,
    skip_latin,
    small_at,
    stands_at,
    value_at,
)
from dedup_job.judgment.forms import IMAGE
from dedup_job.judgment.frames import AT, END, FormWorkspace, frame_at, open_group, put, put_cells
from dedup_job.judgment.words import BEGIN, KIND, RAISED, WORD, Cells, codes, constants
from dedup_job.native.jit import inner

_ROUND, _ROUND_END, _SLASH, _COLON, _QUERY, _DOT, _SMALL_A, _SMALL_F, _BRACE = codes("()/:?.af{")
_BRACE_END, _SQUARE, _SQUARE_END, _PERCENT, _PLUS, _MINUS, _TICK, _TILDE = codes("}[]%+-'~")
_CARET, _UNDERLINE, _ROOT = codes("^_√")

(_TOKEN,) = constants([0xF0000])  # from here on 16 bits of the hash
MIN_DIGITS, MIN_HASH, MIN_MIXED = 5, 4, 8  # characters of a distinctive name

(_IMAGE,) = codes(IMAGE)
_PRIME = np.uint64(0x9E3779B97F4A7C15)
_LINK, _AUDIO, _VIDEO, _DATA = map(codes, ("![](", "![audio](", "![video](", "data:"))


@inner
def write_image(cells: Cells, i: int, stop: int, space: FormWorkspace) -> int:
    """Write IMAGE and a hash for ![](ADDRESS) at i; return its end, i where it is none."""
    start = link_start(cells, i, stop)
    if start == i:
        return i
    end = start
    while end < stop and not is_blank(cells, end):
        point = point_at(cells, end)
        if point == _ROUND:
            return i
        if point == _ROUND_END:
            break
        end += 1
    if end == stop or is_blank(cells, end):
        return i
    first, last = _key(cells, start, end)
    value = np.uint64(0)
    for k in range(first, last):
        value = (value ^ np.uint64(point_at(cells, k))) * _PRIME
        value ^= value >> np.uint64(29)
    put(space, _IMAGE)
    for shift in (0, 16, 32):
        bits = np.int64(value >> np.uint64(shift) & np.uint64(0xFFFF))
        put(space, _TOKEN + bits)  # type: ignore[arg-type]  # to numba it is one
    return end + 1


@inner
def link_start(cells: Cells, i: int, stop: int) -> int:
    """Return where the address of an image, audio or video at i begins, i: there is none."""
    if stands_at(cells, i, stop, _LINK):
        return i + len(_LINK)
    named = stands_at(cells, i, stop, _AUDIO) or stands_at(cells, i, stop, _VIDEO)
    return i + len(_AUDIO) if named else i


@inner
def _key(cells: Cells, start: int, stop: int) -> tuple[int, int]:
    """Return where in an address what names the image begins and ends.

    A distinctive file name names it whatever host and path; else path and query do.
    """
    if stands_at(cells, start, stop, _DATA):
        return start, stop
    path = _path(cells, start, stop)
    query = path
    while query < stop and point_at(cells, query) != _QUERY:
        query += 1
    name = query
    while name > path and point_at(cells, name - 1) != _SLASH:
        name -= 1
    stem = query - 1
    while stem > name and point_at(cells, stem) != _DOT:
        stem -= 1
    if stem < name or point_at(cells, stem) != _DOT:
        stem = query
    k = name
    while k < stem:
        end = k
        while end < stem and (is_latin(cells, end) or is_digit(cells, end)):
            end += 1
        if end > k and _is_distinctive(cells, k, end):
            return name, query
        k = end + 1
    return path, stop


@inner
def _path(cells: Cells, start: int, stop: int) -> int:
    """Return where the path begins, behind scheme and host."""
    k = skip_latin(cells, start, stop)
    if k > start:
        if k >= stop or point_at(cells, k) != _COLON:
            return start
        k += 1
    if k + 1 >= stop or point_at(cells, k) != _SLASH or point_at(cells, k + 1) != _SLASH:
        return start
    k += 2
    while k < stop and point_at(cells, k) != _SLASH:
        k += 1
    return k


@inner
def _is_distinctive(cells: Cells, start: int, stop: int) -> bool:
    """Tell whether a part of a file name is a long number, a hash, or digits among letters."""
    digits = letters = runs = 0
    hexadecimal = True
    for k in range(start, stop):
        if is_digit(cells, k):
            digits += 1
            runs += k == start or not is_digit(cells, k - 1)
        else:
            letters += 1
            hexadecimal &= _SMALL_A <= small_at(cells, k) <= _SMALL_F
    if letters == 0:
        return digits >= MIN_DIGITS
    if digits == 0:
        return False
    if hexadecimal and stop - start >= MIN_HASH:
        return True
    return runs >= 2 and stop - start >= MIN_MIXED


LONGEST_DEGREE = 20
_ENDS_DEGREE = codes("[]\n")


@inner
def _command(cells: Cells, i: int, end: int, tables: Cells) -> int:
    """Return the command whose name cells[i:end] are, 0: none."""
    w = value_at(tables, words.COMMANDS + point_at(cells, i))
    while tables[w]:
        if length_of(tables, w) == end - i:
            k = 1
            while k < end - i and point_at(cells, i + k) == tables[w + WORD + k]:
                k += 1
            if k == end - i:
                return w
        w = behind(tables, w)
    return 0


@inner
def write_command(cells: Cells, i: int, tables: Cells, space: FormWorkspace) -> int:
    """Write a command of LaTeX, or a character behind a backslash; return its end."""
    stop = frame_at(space, END)
    end = skip_latin(cells, i + 1, stop)
    if end == i + 1:
        return _escaped(cells, end, stop, space)
    w = _command(cells, i + 1, end, tables)
    of = value_at(tables, w) if w > 0 else words.NOUGHT
    if of & words.FRACTION:
        put_apart(space)
        return open_group(cells, end, frames.TOP, space)
    if of & words.ROOT_NAME:
        put_apart(space)
        return _open_root(cells, end, space)
    if of & words.CIRCLE:
        return open_group(cells, end, frames.CIRCLED, space)
    if of & (BEGIN | words.END_OF):
        end = _skip_argument(cells, end, stop)
        return _skip_argument(cells, end, stop) if of & BEGIN else end
    if of & words.SYMBOL_NAME:
        if tables[w + WORD + length_of(tables, w)] != _TILDE:
            put_value(tables, w, space)
        elif is_range(cells, i, end, space):  # as ~ is
            put(space, _MINUS)
    elif not of & words.LOOK_NAME:
        for k in range(i + 1, end):
            put(space, small_at(cells, k))
    return end


@inner
def _escaped(cells: Cells, i: int, stop: int, space: FormWorkspace) -> int:
    """Write the character at i behind a backslash, where it is kept; return its end."""
    if i >= stop:
        return i + 1
    point = point_at(cells, i)
    if point in (_BRACE, _BRACE_END, _PERCENT):
        put(space, point)
    return i if cells[i] & words.WORD_CHARACTER and point != _UNDERLINE else i + 1


@inner
def _skip_argument(cells: Cells, i: int, stop: int) -> int:
    """Return where {...} without braces inside ends, i where it is not there."""
    k = skip_blanks(cells, i, stop)
    if k == stop or point_at(cells, k) != _BRACE:
        return i
    k += 1
    while k < stop and point_at(cells, k) != _BRACE and point_at(cells, k) != _BRACE_END:
        k += 1
    return k + 1 if k < stop and point_at(cells, k) == _BRACE_END else i


@inner
def _open_root(cells: Cells, i: int, space: FormWorkspace) -> int:
    stop = frame_at(space, END)
    k = skip_blanks(cells, i, stop)
    if k < stop and point_at(cells, k) == _SQUARE:
        end, last = k + 1, min(stop, k + 2 + LONGEST_DEGREE)
        while end < last and point_at(cells, end) not in _ENDS_DEGREE:
            end += 1
        if end < last and point_at(cells, end) == _SQUARE_END:
            frames.push(space, frames.DEGREE, k + 1, end, end + 1)
            return k + 1
    put(space, _ROOT)
    return open_group(cells, i, frames.ROOT, space)


@inner
def write_script(cells: Cells, i: int, tables: Cells, space: FormWorkspace) -> int:
    """Write the exponent or index at i; return its end, or where its group begins."""
    stop, kind, hole = frame_at(space, END), cells[i] >> KIND, space.work[AT]
    exponent = kind == RAISED or point_at(cells, i) == _CARET
    end = i + 1
    if kind in (RAISED, words.LOWERED):
        space.work[AT] += 2
        end = i
        while end < stop and cells[end] >> KIND == kind:
            put(space, value_at(tables, words.SMALL + point_at(cells, end)))
            end += 1
    else:
        after = skip_blanks(cells, i + 1, stop)
        if exponent and after < stop and point_at(cells, after) == _ROUND:
            put(space, _CARET)
            return i + 1
        space.work[AT] += 2
        end = _plain_script(cells, i + 1, stop, space)
        if end == i + 1:
            space.work[AT] = hole
            return open_group(cells, i + 1, frames.EXPONENT if exponent else frames.INDEX, space)
    if exponent:
        frames.finish_exponent(space, hole)
    else:
        frames.finish_index(space, hole, tables)
    return end


@inner
def _plain_script(cells: Cells, i: int, stop: int, space: FormWorkspace) -> int:
    """Write -2, a sign, or a sign in braces; return the end, i where none stands there."""
    minus = i < stop and point_at(cells, i) == _MINUS
    first = i + 1 if minus else i
    end = skip_digits(cells, first, stop)
    if end > first and (minus or not frame_at(space, frames.IN_LATEX)):
        put_cells(cells, i, end, space)
        return end
    k = skip_blanks(cells, i, stop)
    braced = k < stop and point_at(cells, k) == _BRACE
    if braced:
        k = skip_blanks(cells, k + 1, stop)
    if k == stop:
        return i
    sign = point_at(cells, k)
    if sign != _PLUS and sign != _MINUS and sign != _TICK:
        return i
    end = k + 1
    while braced and end < stop and point_at(cells, end) == sign:
        end += 1
    count = end - k
    if braced:
        end = skip_blanks(cells, end, stop)
        closed = end < stop and point_at(cells, end) == _BRACE_END
        most = 1 if sign == _PLUS else frames.MAX_TICKS
        if not closed or count > most:
            return i
        end += 1
    for _ in range(count if sign == _TICK else 1):
        put(space, sign)
    return end
