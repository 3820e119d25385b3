"""Frames: what is being written, one piece within another, on a stack instead of recursion.

What is written lies in the workspace; when a frame ends, brackets or a caret are set around it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.fingerprint.trie import PLANE
from dedup_job.judgment.cells import is_digit, is_digit_point, point_at, skip_blanks, skip_digits
from dedup_job.judgment.forms import FIRST_LETTER, MAX_CHOICES
from dedup_job.judgment.words import NOUGHT, WORD_CHARACTER, Cells, codes, constants
from dedup_job.native.jit import inner, native

_ROUND, _ROUND_END, _DEGREE, _PLUS, _MINUS, _TICK, _CARET, _UNDERLINE, _SLASH = codes("()°+-'^_/")
_DOT, _TIMES, _MU, _SMALL_A, _SMALL_Z, _ONE, _BACKSLASH, _BRACE, _BRACE_END = codes(".·μaz1\\{}")
(_ROOT,) = codes("√")

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
_MAX = 16  # written characters for a cell: 亿 makes eight zeros, and a choice can be an answer
_SPARE = 64


class FormWorkspace(NamedTuple):
    """Where a form is written.

    cells: uint32, of the text; out: uint32, what is written; work: int64, the state, the frames
    from FRAMES on, the rest; key: int64 (FIRST_LETTER + MAX_CHOICES,), see `choices.read_key`;
    cuts: int64, of the choices, see `choices.py`.
    """

    cells: Cells
    out: Cells
    work: NDArray[np.int64]
    key: NDArray[np.int64]
    cuts: NDArray[np.int64]


@native
def make_form_workspace(size: int) -> FormWorkspace:
    """Return a workspace for texts of `size` cells."""
    frames = _STATE + 9 * (size // 2 + _SPARE)
    work = np.empty(frames + 3 * (size + _SPARE), dtype=np.int64)
    work[CLAUSES_AT] = frames
    work[EMPHASES_AT] = frames + size + _SPARE
    work[BRACES_AT] = frames + 2 * (size + _SPARE)
    return FormWorkspace(
        np.empty(size, dtype=np.uint32),
        np.empty(_MAX * size + _SPARE, dtype=np.uint32),
        work,
        np.zeros(FIRST_LETTER + MAX_CHOICES, dtype=np.int64),
        np.zeros(2 * (2 * MAX_CHOICES + 2), dtype=np.int64),
    )


@inner
def frame_at(space: FormWorkspace, what: int) -> int:
    """Return a field of the frame that is being written."""
    value: int = space.work[space.work[CURRENT] + what]
    return value


@inner
def last_of(space: FormWorkspace) -> int:
    """Return the last character that was written in this frame, 0: none was."""
    at = space.work[AT]
    last: int = NOUGHT
    if at > frame_at(space, FLOOR):
        last = space.out[at - 1] + NOUGHT
    return last


@inner
def put(space: FormWorkspace, point: int) -> None:
    """Write a character."""
    space.out[space.work[AT]] = point
    space.work[AT] += 1


@inner
def put_cells(cells: Cells, start: int, stop: int, space: FormWorkspace) -> None:
    """Write the characters of cells[start:stop]."""
    for k in range(start, stop):
        put(space, point_at(cells, k))


@inner
def clause_at(space: FormWorkspace, k: int) -> int:
    """Return where clause k ends."""
    end: int = space.work[space.work[CLAUSES_AT] + k]
    return end


@inner
def end_clause(space: FormWorkspace) -> None:
    """End a clause here, where it has anything in it."""
    work = space.work
    at, count = work[AT], work[CLAUSES]
    if at > (clause_at(space, count - 1) if count > 0 else 0):
        work[work[CLAUSES_AT] + count] = at
        work[CLAUSES] = count + 1


@inner
def note(space: FormWorkspace) -> None:
    """Note that a clause ends here."""
    space.work[space.work[CURRENT] + NOTED] = space.work[AT]
    if space.work[GROUPS] == 0:
        end_clause(space)


MAX_TICKS = 8
_LONGEST_UNIT = 8


@inner
def _number_end(out: Cells, i: int, stop: int) -> int:
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
def _is_simple(out: Cells, start: int, stop: int) -> bool:
    """Tell whether it needs no brackets: a number, a character, nothing."""
    return stop - start <= 1 or _number_end(out, start, stop) == stop


@inner
def _shift(space: FormWorkspace, start: int, by: int) -> None:
    """Move what was written from start on to the left."""
    out, at = space.out, space.work[AT]
    for k in range(start, at):
        out[k - by] = out[k]
    space.work[AT] = at - by


@inner
def finish_wrapped(space: FormWorkspace, hole: int) -> None:
    """Put brackets around out[hole + 1:], where it needs them."""
    if _is_simple(space.out, hole + 1, space.work[AT]):
        _shift(space, hole + 1, 1)
    else:
        space.out[hole] = _ROUND
        put(space, _ROUND_END)


@inner
def finish_exponent(space: FormWorkspace, hole: int) -> None:
    """Set what stands before an exponent, out[hole + 2:]; m·s^-1 is m/s."""
    out, start, at = space.out, hole + 2, space.work[AT]
    if _is_sign(out, start, at):
        _shift(space, start, 2)
        return
    if at - start == 2 and out[start] == _MINUS and is_digit_point(out[start + 1]):
        k = hole
        least = max(frame_at(space, FLOOR), hole - _LONGEST_UNIT)
        while k > least and (_SMALL_A <= out[k - 1] <= _SMALL_Z or out[k - 1] == _MU):
            k -= 1
        if frame_at(space, FLOOR) < k < hole and out[k - 1] == _TIMES:
            out[k - 1] = _SLASH
            out[hole], out[hole + 1] = _CARET, out[start + 1]
            space.work[AT] = hole if out[start + 1] == _ONE else hole + 2
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
        _shift(space, start, 1)
    else:
        out[hole + 1] = _ROUND
        put(space, _ROUND_END)


@inner
def _is_sign(out: Cells, start: int, stop: int) -> bool:
    """Tell whether it is °, +, - or a few ', which need no caret."""
    if stop - start == 1 and (out[start] == _DEGREE or out[start] == _PLUS or out[start] == _MINUS):
        return True
    if stop - start > MAX_TICKS:
        return False
    for k in range(start, stop):  # noqa: SIM110  # numba compiles no generator here
        if out[k] != _TICK:
            return False
    return True


@inner
def finish_index(space: FormWorkspace, hole: int, tables: Cells) -> None:
    """Set what stands before an index, out[hole + 2:]: nothing, in H₂O."""
    out, start, at = space.out, hole + 2, space.work[AT]
    if at == start:
        space.work[AT] = hole
        return
    last: int = NOUGHT
    if hole > frame_at(space, FLOOR):
        last = out[hole - 1] + NOUGHT
    joined = last >= PLANE or last == _ROUND_END
    if not joined and last > 0:
        word = tables[last] & WORD_CHARACTER != 0 and last != _UNDERLINE
        joined = word and not is_digit_point(last)
    simple = _is_simple(out, start, at)
    if simple and joined:
        _shift(space, start, 2)
        return
    out[hole] = _UNDERLINE
    if simple:
        _shift(space, start, 1)
    else:
        out[hole + 1] = _ROUND
        put(space, _ROUND_END)


@inner
def open_whole(space: FormWorkspace, start: int, stop: int, latex: bool) -> None:
    """Begin to write cells[start:stop]."""
    state = space.work
    state[START], state[STOP], state[MATCHED] = start, stop, 0
    state[CURRENT], state[GROUPS] = FRAMES - FRAME, -1
    push(space, WHOLE, start, stop, stop)
    state[FRAMES + IN_LATEX] = latex


@inner
def push(space: FormWorkspace, kind: int, base: int, end: int, resume: int) -> None:
    """Begin a frame; what it writes is a piece by itself."""
    frames = space.work
    frames[CURRENT] += FRAME
    frames[GROUPS] += 1
    f = frames[CURRENT]
    frames[f + KIND_OF], frames[f + BASE], frames[f + END] = kind, base, end
    frames[f + RESUME], frames[f + SINGLE], frames[f + IN_LATEX] = resume, 0, 1
    frames[f + FLOOR] = frames[f + HOLE] = frames[AT]
    frames[f + NOTED] = -1


@inner
def open_emphasis(space: FormWorkspace, base: int, end: int, resume: int) -> None:
    """Begin emphasised words; they are written as a part of what surrounds them."""
    floor, noted = frame_at(space, FLOOR), frame_at(space, NOTED)
    latex = frame_at(space, IN_LATEX)
    push(space, EMPHASIS_OF, base, end, resume)
    space.work[GROUPS] -= 1
    f = space.work[CURRENT]
    space.work[f + FLOOR], space.work[f + NOTED] = floor, noted
    space.work[f + IN_LATEX] = latex


@inner
def open_group(cells: Cells, i: int, kind: int, space: FormWorkspace) -> int:
    """Begin {...}, a command, a character, or the digits at i elsewhere; return where it begins.

    FormWorkspace is left for what may stand before it.
    """
    stop, latex = frame_at(space, END), frame_at(space, IN_LATEX)
    i = skip_blanks(cells, i, stop)
    holes = 2 if kind in (EXPONENT, INDEX) else 1
    hole = space.work[AT]
    space.work[AT] += holes
    base = end = resume = i
    single = False
    if i < stop:
        point = point_at(cells, i)
        end = resume = i + 1
        if point == _BRACE:
            base = end
            close = _closing(cells, i, space)
            if close < stop:
                end, resume = close, close + 1
        elif point == _BACKSLASH:
            end, single = stop, True
    push(space, kind, base, end, resume)
    f = space.work[CURRENT]
    space.work[f + HOLE], space.work[f + SINGLE] = hole, single
    if not latex and i < stop and is_digit(cells, i):
        end = skip_digits(cells, i, stop)
        put_cells(cells, i, end, space)
        space.work[f + BASE] = space.work[f + END] = space.work[f + RESUME] = end
        return end
    return base


@inner
def _closing(cells: Cells, i: int, space: FormWorkspace) -> int:
    """Return where the brace at i is closed, a large number where it is not.

    All braces are matched at once; those that are open form a chain meanwhile.
    """
    state = space.work
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
def close_frame(cells: Cells, i: int, tables: Cells, space: FormWorkspace) -> int:
    """End a frame; return where the cells go on behind it."""
    state, kind = space.work, frame_at(space, KIND_OF)
    hole, floor, noted = frame_at(space, HOLE), frame_at(space, FLOOR), frame_at(space, NOTED)
    resume = frame_at(space, RESUME)
    if frame_at(space, SINGLE):
        resume = min(i, frame_at(space, END))
    state[CURRENT] -= FRAME
    if kind == EMPHASIS_OF:
        _finish_emphasis(space, hole, noted)
        return resume
    state[GROUPS] -= 1
    if kind == DEGREE:
        put(space, _ROOT)
        return open_group(cells, resume, ROOT, space)
    if kind == EXPONENT:
        finish_exponent(space, hole)
    elif kind == INDEX:
        finish_index(space, hole, tables)
    elif kind == CIRCLED:
        if state[AT] == floor:
            state[AT] = hole
        else:
            space.out[hole] = _ROUND
            put(space, _ROUND_END)
    else:
        finish_wrapped(space, hole)
        if kind == TOP:
            put(space, _SLASH)
            return open_group(cells, resume, BOTTOM, space)
    return resume


@inner
def _finish_emphasis(space: FormWorkspace, start: int, noted: int) -> None:
    at, state = space.work[AT], space.work
    if at > start:
        noted = at
        if state[GROUPS] == 0:
            count = state[EMPHASES]
            mark = state[EMPHASES_AT] + 2 * count
            state[mark], state[mark + 1] = start, at
            state[EMPHASES] = count + 1
    state[state[CURRENT] + NOTED] = noted
