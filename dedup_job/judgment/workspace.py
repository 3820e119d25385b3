"""Where canonical forms are written, and the frames that are open meanwhile."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.fingerprint.trie import PLANE
from dedup_job.judgment.alphabet import NOUGHT, WORD_CHARACTER, codes, constants
from dedup_job.judgment.amounts import is_digit_point
from dedup_job.judgment.scanning import is_digit, point_at, skip_blanks, skip_digits
from dedup_job.native.jit import inner, native

# state
(
    AT,  # where the next character is written
    CLAUSES,  # how many clauses have ended
    EMPHASES,  # how many words were emphasised
    CURRENT,  # where the frame lies that is being written
    GROUPS,  # how many of the frames around it are no emphasis
    MATCHED,  # whether it is known where braces are closed
    START,  # where the part begins in the cells
    STOP,
    CLAUSES_AT,  # where in work the ends of clauses lie
    EMPHASES_AT,  # where beginnings and ends of emphasised words lie
    BRACES_AT,  # where it lies where each brace is closed
) = constants(range(11))
_STATE = 16
# a frame: what is being written, one within the other
(
    BASE,  # where its cells begin
    END,  # and end
    FLOOR,  # what was written before is not looked at
    KIND_OF,
    SINGLE,  # one command is all
    IN_LATEX,
    HOLE,  # where room was left for a mark and a bracket
    RESUME,  # where the next cell lies behind it
    NOTED,  # where a clause or emphasis ended last
    FRAME,  # the size of a frame
) = constants(range(10))
WHOLE, EMPHASIS_OF, TOP, BOTTOM, DEGREE, ROOT, CIRCLED, EXPONENT, INDEX = constants(range(9))
(FRAMES,) = constants([_STATE])
_MOST = 16  # written characters for a cell: 亿 makes eight zeros, and a choice can be an answer
_SPARE = 64


class Room(NamedTuple):
    """out: uint32, what is written; work: int64, the state, the frames from FRAMES on, the rest."""

    out: NDArray[np.uint32]
    work: NDArray[np.int64]


@native
def room_for(cells: int) -> Room:
    """Return room for texts of so many cells."""
    frames = _STATE + 9 * (cells // 2 + _SPARE)
    work = np.empty(frames + 3 * (cells + _SPARE), dtype=np.int64)
    work[CLAUSES_AT] = frames
    work[EMPHASES_AT] = frames + cells + _SPARE
    work[BRACES_AT] = frames + 2 * (cells + _SPARE)
    return Room(np.empty(_MOST * cells + _SPARE, dtype=np.uint32), work)


@inner
def frame_at(room: Room, what: int) -> int:
    """Return a field of the frame that is being written."""
    value: int = room.work[room.work[CURRENT] + what]
    return value


@inner
def last_of(room: Room) -> int:
    """Return the last character that was written in this frame, 0: none was."""
    at = room.work[AT]
    last: int = NOUGHT
    if at > frame_at(room, FLOOR):
        last = room.out[at - 1] + NOUGHT
    return last


@inner
def put(room: Room, point: int) -> None:
    """Write a character."""
    room.out[room.work[AT]] = point
    room.work[AT] += 1


@inner
def clause_at(room: Room, k: int) -> int:
    """Return where clause k ends."""
    end: int = room.work[room.work[CLAUSES_AT] + k]
    return end


@inner
def end_clause(room: Room) -> None:
    """End a clause here, where it has anything in it."""
    work = room.work
    at, count = work[AT], work[CLAUSES]
    if at > (clause_at(room, count - 1) if count > 0 else 0):
        work[work[CLAUSES_AT] + count] = at
        work[CLAUSES] = count + 1


@inner
def note(room: Room) -> None:
    """Note that a clause ends here."""
    room.work[room.work[CURRENT] + NOTED] = room.work[AT]
    if room.work[GROUPS] == 0:
        end_clause(room)


MOST_TICKS = 8
_ROUND, _ROUND_END = codes("()")
_DEGREE, _PLUS, _MINUS, _TICK = codes("°+-'")
_CARET, _UNDERLINE, _SLASH, _DOT, _TIMES, _MU = codes("^_/.·μ")
_SMALL_A, _SMALL_Z, _ONE = codes("az1")
_LONGEST_UNIT = 8


@inner
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


@inner
def _is_simple(out: NDArray[np.uint32], start: int, stop: int) -> bool:
    """Tell whether it needs no brackets: a number, a character, nothing."""
    return stop - start <= 1 or _number_end(out, start, stop) == stop


@inner
def _shift(room: Room, start: int) -> None:
    """Move what was written from start on to the left."""
    out, at = room.out, room.work[AT]
    for k in range(start, at):
        out[k - 1] = out[k]
    room.work[AT] = at - 1


@inner
def _shift_twice(room: Room, start: int) -> None:
    _shift(room, start)
    _shift(room, start - 1)


@inner
def finish_wrapped(room: Room, hole: int) -> None:
    """Put brackets around out[hole + 1:], where it needs them."""
    if _is_simple(room.out, hole + 1, room.work[AT]):
        _shift(room, hole + 1)
    else:
        room.out[hole] = _ROUND
        put(room, _ROUND_END)


@inner
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


@inner
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


@inner
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


_BACKSLASH, _BRACE, _BRACE_END = codes("\\{}")
(_ROOT,) = codes("√")


@inner
def open_whole(room: Room, start: int, stop: int, latex: bool) -> None:
    """Begin to write cells[start:stop]."""
    state = room.work
    state[START], state[STOP], state[MATCHED] = start, stop, 0
    state[CURRENT], state[GROUPS] = FRAMES - FRAME, -1
    push(room, WHOLE, start, stop, stop)
    state[FRAMES + IN_LATEX] = latex


@inner
def push(room: Room, kind: int, base: int, end: int, resume: int) -> None:
    """Begin a frame; what it writes is a piece by itself."""
    frames = room.work
    frames[CURRENT] += FRAME
    frames[GROUPS] += 1
    f = frames[CURRENT]
    frames[f + KIND_OF], frames[f + BASE], frames[f + END] = kind, base, end
    frames[f + RESUME], frames[f + SINGLE], frames[f + IN_LATEX] = resume, 0, 1
    frames[f + FLOOR] = frames[f + HOLE] = frames[AT]
    frames[f + NOTED] = -1


@inner
def open_emphasis(room: Room, base: int, end: int, resume: int) -> None:
    """Begin emphasised words; they are written as a part of what surrounds them."""
    floor, noted = frame_at(room, FLOOR), frame_at(room, NOTED)
    latex = frame_at(room, IN_LATEX)
    push(room, EMPHASIS_OF, base, end, resume)
    room.work[GROUPS] -= 1
    f = room.work[CURRENT]
    room.work[f + FLOOR], room.work[f + NOTED] = floor, noted
    room.work[f + IN_LATEX] = latex


@inner
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
    push(room, kind, base, end, resume)
    f = room.work[CURRENT]
    room.work[f + HOLE], room.work[f + SINGLE] = hole, single
    if not latex and i < stop and is_digit(cells, i):
        end = skip_digits(cells, i, stop)
        for k in range(i, end):
            put(room, point_at(cells, k))
        room.work[f + BASE] = room.work[f + END] = room.work[f + RESUME] = end
        return end
    return base


@inner
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


@inner
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
        finish_wrapped(room, hole)
        if kind == TOP:
            put(room, _SLASH)
            return open_group(cells, resume, BOTTOM, room)
    return resume


@inner
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
