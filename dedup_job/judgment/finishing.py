"""What stands before a group and around it: brackets, a caret, nothing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.fingerprint.trie import PLANE
from dedup_job.judgment.alphabet import NOUGHT, WORD_CHARACTER, codes
from dedup_job.judgment.amounts import is_digit_point
from dedup_job.judgment.room import (
    AT,
    FLOOR,
    Room,
    frame_at,
    put,
)
from dedup_job.native.jit import inner

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
