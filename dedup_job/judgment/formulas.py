"""Commands of LaTeX, exponents and indices, without recursion: frames lie on a stack."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.compiled import borrowing
from dedup_job.fingerprint.trie import PLANE
from dedup_job.judgment.alphabet import KIND, LOWERED, RAISED, WORD_CHARACTER
from dedup_job.judgment.amounts import is_digit_point, is_range, put_apart, put_value
from dedup_job.judgment.constants import NOUGHT, codes
from dedup_job.judgment.room import (
    AT,
    BASE,
    BOTTOM,
    BRACES_AT,
    CIRCLED,
    CURRENT,
    DEGREE,
    EMPHASES,
    EMPHASES_AT,
    EMPHASIS_OF,
    END,
    EXPONENT,
    FLOOR,
    FRAME,
    FRAMES,
    GROUPS,
    HOLE,
    IN_LATEX,
    INDEX,
    KIND_OF,
    MATCHED,
    NOTED,
    RESUME,
    ROOT,
    SINGLE,
    START,
    STOP,
    TOP,
    WHOLE,
    Room,
    frame_at,
    put,
)
from dedup_job.judgment.tables import (
    BEGIN,
    CIRCLE,
    COMMANDS,
    END_OF,
    FRACTION,
    LOOK_NAME,
    ROOT_NAME,
    SMALL,
    SYMBOL_NAME,
    WORD,
    behind,
    is_digit,
    is_latin,
    length_of,
    point_at,
    skip_blanks,
    skip_digits,
    small_at,
    value_at,
)

LONGEST_DEGREE = 20
MOST_TICKS = 8

_BACKSLASH, _BRACE, _BRACE_END, _SQUARE, _SQUARE_END, _ROUND, _ROUND_END = codes("\\{}[]()")
_NEWLINE, _PERCENT, _DEGREE, _PLUS, _MINUS, _TICK, _TILDE = codes("\n%°+-'~")
_CARET, _UNDERLINE, _SLASH, _ROOT, _DOT, _TIMES, _MU = codes("^_/√.·μ")
_SMALL_A, _SMALL_Z, _ONE = codes("az1")
_LONGEST_UNIT = 8


# --- commands


@borrowing
def _command(cells: NDArray[np.uint32], i: int, end: int, tables: NDArray[np.uint32]) -> int:
    """Return the command whose name cells[i:end] are, 0: none."""
    w = value_at(tables, COMMANDS + point_at(cells, i))
    while tables[w]:
        if length_of(tables, w) == end - i:
            k = 1
            while k < end - i and point_at(cells, i + k) == tables[w + WORD + k]:
                k += 1
            if k == end - i:
                return w
        w = behind(tables, w)
    return 0


@borrowing
def write_command(cells: NDArray[np.uint32], i: int, tables: NDArray[np.uint32], room: Room) -> int:
    """Write a command of LaTeX, or a character behind a backslash; return its end."""
    stop = frame_at(room, END)
    end = i + 1
    while end < stop and is_latin(cells, end):
        end += 1
    if end == i + 1:
        return _escaped(cells, end, stop, room)
    w = _command(cells, i + 1, end, tables)
    of = value_at(tables, w) if w > 0 else NOUGHT
    if of & FRACTION:
        put_apart(room)
        return open_group(cells, end, TOP, room)
    if of & ROOT_NAME:
        put_apart(room)
        return _open_root(cells, end, room)
    if of & CIRCLE:
        return open_group(cells, end, CIRCLED, room)
    if of & (BEGIN | END_OF):
        end = _skip_argument(cells, end, stop)
        return _skip_argument(cells, end, stop) if of & BEGIN else end
    if of & SYMBOL_NAME:
        if tables[w + WORD + length_of(tables, w)] != _TILDE:
            put_value(tables, w, room)
        elif is_range(cells, i, end, room):  # as ~ is
            put(room, _MINUS)
    elif not of & LOOK_NAME:
        for k in range(i + 1, end):
            put(room, small_at(cells, k))
    return end


@borrowing
def _escaped(cells: NDArray[np.uint32], i: int, stop: int, room: Room) -> int:
    """Write the character at i behind a backslash, where it is kept; return its end."""
    if i >= stop:
        return i + 1
    point = point_at(cells, i)
    if point in (_BRACE, _BRACE_END, _PERCENT):
        put(room, point)
    return i if cells[i] & WORD_CHARACTER and point != _UNDERLINE else i + 1


@borrowing
def _skip_argument(cells: NDArray[np.uint32], i: int, stop: int) -> int:
    """Return where {...} without braces inside ends, i where it is not there."""
    k = skip_blanks(cells, i, stop)
    if k == stop or point_at(cells, k) != _BRACE:
        return i
    k += 1
    while k < stop and point_at(cells, k) != _BRACE and point_at(cells, k) != _BRACE_END:
        k += 1
    return k + 1 if k < stop and point_at(cells, k) == _BRACE_END else i


@borrowing
def _open_root(cells: NDArray[np.uint32], i: int, room: Room) -> int:
    stop = frame_at(room, END)
    k = skip_blanks(cells, i, stop)
    if k < stop and point_at(cells, k) == _SQUARE:
        end, last = k + 1, min(stop, k + 2 + LONGEST_DEGREE)
        while end < last and not _ends_degree(point_at(cells, end)):
            end += 1
        if end < last and point_at(cells, end) == _SQUARE_END:
            _push(room, DEGREE, k + 1, end, end + 1)
            return k + 1
    put(room, _ROOT)
    return open_group(cells, i, ROOT, room)


@borrowing
def _ends_degree(point: int) -> bool:
    return point in (_SQUARE, _SQUARE_END, _NEWLINE)


# --- frames


@borrowing
def open_whole(room: Room, start: int, stop: int, latex: bool) -> None:
    """Begin to write cells[start:stop]."""
    state = room.work
    state[START], state[STOP], state[MATCHED] = start, stop, 0
    state[CURRENT], state[GROUPS] = FRAMES - FRAME, -1
    _push(room, WHOLE, start, stop, stop)
    state[FRAMES + IN_LATEX] = latex


@borrowing
def _push(room: Room, kind: int, base: int, end: int, resume: int) -> None:
    """Begin a frame; what it writes is a piece by itself."""
    frames = room.work
    frames[CURRENT] += FRAME
    frames[GROUPS] += 1
    f = frames[CURRENT]
    frames[f + KIND_OF], frames[f + BASE], frames[f + END] = kind, base, end
    frames[f + RESUME], frames[f + SINGLE], frames[f + IN_LATEX] = resume, 0, 1
    frames[f + FLOOR] = frames[f + HOLE] = frames[AT]
    frames[f + NOTED] = -1


@borrowing
def open_emphasis(room: Room, base: int, end: int, resume: int) -> None:
    """Begin emphasised words; they are written as a part of what surrounds them."""
    floor, noted = frame_at(room, FLOOR), frame_at(room, NOTED)
    latex = frame_at(room, IN_LATEX)
    _push(room, EMPHASIS_OF, base, end, resume)
    room.work[GROUPS] -= 1
    f = room.work[CURRENT]
    room.work[f + FLOOR], room.work[f + NOTED] = floor, noted
    room.work[f + IN_LATEX] = latex


@borrowing
def open_group(cells: NDArray[np.uint32], i: int, kind: int, room: Room) -> int:
    """Begin {...}, a command, a character, or the digits at i elsewhere; return where it begins.

    Room is left for what may stand before it.
    """
    stop, latex = frame_at(room, END), frame_at(room, IN_LATEX)
    i = skip_blanks(cells, i, stop)
    holes = 2 if kind in (EXPONENT, INDEX) else 1
    hole = room.work[AT]
    room.work[AT] += holes
    base = end = resume = i
    single = False
    if i < stop:
        point = point_at(cells, i)
        end = resume = i + 1
        if point == _BRACE:
            base = end
            close = _closing(cells, i, room)
            if close < stop:
                end, resume = close, close + 1
        elif point == _BACKSLASH:
            end, single = stop, True
    _push(room, kind, base, end, resume)
    f = room.work[CURRENT]
    room.work[f + HOLE], room.work[f + SINGLE] = hole, single
    if not latex and i < stop and is_digit(cells, i):
        end = skip_digits(cells, i, stop)
        for k in range(i, end):
            put(room, point_at(cells, k))
        room.work[f + BASE] = room.work[f + END] = room.work[f + RESUME] = end
        return end
    return base


@borrowing
def _closing(cells: NDArray[np.uint32], i: int, room: Room) -> int:
    """Return where the brace at i is closed, a large number where it is not.

    All braces are matched at once; those that are open form a chain meanwhile.
    """
    state = room.work
    start, stop, braces = state[START], state[STOP], state[BRACES_AT]
    if not state[MATCHED]:
        state[MATCHED] = 1
        top = start - 1
        for k in range(start, stop):
            point = point_at(cells, k)
            if point != _BRACE and point != _BRACE_END:
                continue
            if k > start and point_at(cells, k - 1) == _BACKSLASH:
                continue
            if point == _BRACE:
                state[braces + k] = top
                top = k
            elif top >= start:
                former = state[braces + top]
                state[braces + top] = k
                top = former
    close: int = state[braces + i]
    return close if close > i else stop + 1


@borrowing
def close_frame(cells: NDArray[np.uint32], i: int, tables: NDArray[np.uint32], room: Room) -> int:
    """End a frame; return where the cells go on behind it."""
    state, kind = room.work, frame_at(room, KIND_OF)
    hole, floor, noted = frame_at(room, HOLE), frame_at(room, FLOOR), frame_at(room, NOTED)
    resume = frame_at(room, RESUME)
    if frame_at(room, SINGLE):
        resume = min(i, frame_at(room, END))
    state[CURRENT] -= FRAME
    if kind == EMPHASIS_OF:
        _finish_emphasis(room, hole, noted)
        return resume
    state[GROUPS] -= 1
    if kind == DEGREE:
        put(room, _ROOT)
        return open_group(cells, resume, ROOT, room)
    if kind == EXPONENT:
        finish_exponent(room, hole)
    elif kind == INDEX:
        finish_index(room, hole, tables)
    elif kind == CIRCLED:
        if state[AT] == floor:
            state[AT] = hole
        else:
            room.out[hole] = _ROUND
            put(room, _ROUND_END)
    else:
        _finish_wrapped(room, hole)
        if kind == TOP:
            put(room, _SLASH)
            return open_group(cells, resume, BOTTOM, room)
    return resume


@borrowing
def _finish_emphasis(room: Room, start: int, noted: int) -> None:
    at, state = room.work[AT], room.work
    if at > start:
        noted = at
        if state[GROUPS] == 0:
            count = state[EMPHASES]
            mark = state[EMPHASES_AT] + 2 * count
            state[mark], state[mark + 1] = start, at
            state[EMPHASES] = count + 1
    state[state[CURRENT] + NOTED] = noted


# --- what stands before a group and around it


@borrowing
def _number_end(out: NDArray[np.uint32], i: int, stop: int) -> int:
    """Return where 12.5 ends, i where no digit stands."""
    k = i
    while k < stop and is_digit_point(out[k]):
        k += 1
    if k > i and k + 1 < stop and out[k] == _DOT and is_digit_point(out[k + 1]):
        k += 1
        while k < stop and is_digit_point(out[k]):
            k += 1
    return k


@borrowing
def _is_simple(out: NDArray[np.uint32], start: int, stop: int) -> bool:
    """Tell whether it needs no brackets: a number, a character, nothing."""
    return stop - start <= 1 or _number_end(out, start, stop) == stop


@borrowing
def _shift(room: Room, start: int) -> None:
    """Move what was written from start on to the left."""
    out, at = room.out, room.work[AT]
    for k in range(start, at):
        out[k - 1] = out[k]
    room.work[AT] = at - 1


@borrowing
def _shift_twice(room: Room, start: int) -> None:
    _shift(room, start)
    _shift(room, start - 1)


@borrowing
def _finish_wrapped(room: Room, hole: int) -> None:
    if _is_simple(room.out, hole + 1, room.work[AT]):
        _shift(room, hole + 1)
    else:
        room.out[hole] = _ROUND
        put(room, _ROUND_END)


@borrowing
def finish_exponent(room: Room, hole: int) -> None:
    """Set what stands before an exponent, out[hole + 2:]; m·s^-1 is m/s."""
    out, start, at = room.out, hole + 2, room.work[AT]
    if _is_sign(out, start, at):
        _shift_twice(room, start)
        return
    if at - start == 2 and out[start] == _MINUS and is_digit_point(out[start + 1]):
        k = hole
        least = max(frame_at(room, FLOOR), hole - _LONGEST_UNIT)
        while k > least and (_SMALL_A <= out[k - 1] <= _SMALL_Z or out[k - 1] == _MU):
            k -= 1
        if frame_at(room, FLOOR) < k < hole and out[k - 1] == _TIMES:
            out[k - 1] = _SLASH
            out[hole], out[hole + 1] = _CARET, out[start + 1]
            room.work[AT] = hole if out[start + 1] == _ONE else hole + 2
            return
    out[hole] = _CARET
    signed = start + 1 if out[start] == _MINUS else start
    end = _number_end(out, signed, at)
    plain = at - start == 1 or (end == at and end > signed)
    if not plain and end + 1 == at and signed == start and end > start:
        charge = out[end] == _PLUS or out[end] == _MINUS
        for k in range(start, end):
            charge &= out[k] != _DOT
        plain = charge
    if plain:
        _shift(room, start)
    else:
        out[hole + 1] = _ROUND
        put(room, _ROUND_END)


@borrowing
def _is_sign(out: NDArray[np.uint32], start: int, stop: int) -> bool:
    """Tell whether it is °, +, - or a few ', which need no caret."""
    if stop - start == 1 and (out[start] == _DEGREE or out[start] == _PLUS or out[start] == _MINUS):
        return True
    if stop - start > MOST_TICKS:
        return False
    for k in range(start, stop):  # noqa: SIM110  # numba compiles no generator here
        if out[k] != _TICK:
            return False
    return True


@borrowing
def finish_index(room: Room, hole: int, tables: NDArray[np.uint32]) -> None:
    """Set what stands before an index, out[hole + 2:]: nothing, in H₂O."""
    out, start, at = room.out, hole + 2, room.work[AT]
    if at == start:
        room.work[AT] = hole
        return
    last: int = NOUGHT
    if hole > frame_at(room, FLOOR):
        last = out[hole - 1] + NOUGHT
    joined = last >= PLANE or last == _ROUND_END
    if not joined and last > 0:
        word = tables[last] & WORD_CHARACTER != 0 and last != _UNDERLINE
        joined = word and not is_digit_point(last)
    simple = _is_simple(out, start, at)
    if simple and joined:
        _shift_twice(room, start)
        return
    out[hole] = _UNDERLINE
    if simple:
        _shift(room, start)
    else:
        out[hole + 1] = _ROUND
        put(room, _ROUND_END)


@borrowing
def write_script(cells: NDArray[np.uint32], i: int, tables: NDArray[np.uint32], room: Room) -> int:
    """Write the exponent or index at i; return its end, or where its group begins."""
    stop, kind, hole = frame_at(room, END), cells[i] >> KIND, room.work[AT]
    exponent = kind == RAISED or point_at(cells, i) == _CARET
    end = i + 1
    if kind in (RAISED, LOWERED):
        room.work[AT] += 2
        end = i
        while end < stop and cells[end] >> KIND == kind:
            put(room, value_at(tables, SMALL + point_at(cells, end)))
            end += 1
    else:
        after = skip_blanks(cells, i + 1, stop)
        if exponent and after < stop and point_at(cells, after) == _ROUND:
            put(room, _CARET)
            return i + 1
        room.work[AT] += 2
        end = _plain_script(cells, i + 1, stop, room)
        if end == i + 1:
            room.work[AT] = hole
            return open_group(cells, i + 1, EXPONENT if exponent else INDEX, room)
    if exponent:
        finish_exponent(room, hole)
    else:
        finish_index(room, hole, tables)
    return end


@borrowing
def _plain_script(cells: NDArray[np.uint32], i: int, stop: int, room: Room) -> int:
    """Write -2, a sign, or a sign in braces; return the end, i where none stands there."""
    minus = i < stop and point_at(cells, i) == _MINUS
    first = i + 1 if minus else i
    end = skip_digits(cells, first, stop)
    if end > first and (minus or not frame_at(room, IN_LATEX)):
        for k in range(i, end):
            put(room, point_at(cells, k))
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
        most = 1 if sign == _PLUS else MOST_TICKS
        if not closed or count > most:
            return i
        end += 1
    for _ in range(count if sign == _TICK else 1):
        put(room, sign)
    return end
