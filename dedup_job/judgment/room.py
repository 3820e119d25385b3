"""The room that the writing of a form takes place in, and what lies where in it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.judgment.alphabet import NOUGHT, constants
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
