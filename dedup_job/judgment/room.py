"""The room that the writing of a form takes place in, and what lies where in it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.compiled import inlined

# state
AT, CLAUSES, EMPHASES, DEPTH, GROUPS, BRACES, LATEX, START, STOP = range(9)
STATE = 9
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
) = range(9)
FRAME = 9
WHOLE, EMPHASIS_OF, TOP, BOTTOM, DEGREE, ROOT, CIRCLED, EXPONENT, INDEX = range(9)


class Room(NamedTuple):
    """out: uint32, what is written; clauses: int32, where clauses end in it; emphases: int32,
    where emphasised words begin and end; frames: int64, frames within frames, FRAME for each;
    braces: int32, where each brace is closed; state: int64 (STATE,).
    """

    out: NDArray[np.uint32]
    clauses: NDArray[np.int32]
    emphases: NDArray[np.int32]
    frames: NDArray[np.int64]
    braces: NDArray[np.int32]
    state: NDArray[np.int64]


@inlined
def frame_at(room: Room, what: int) -> int:
    """Return a field of the frame that is being written."""
    value: int = room.frames[FRAME * room.state[DEPTH] + what]
    return value


@inlined
def last_of(room: Room) -> int:
    """Return the last character that was written in this frame, 0: none was."""
    at = room.state[AT]
    return room.out[at - 1] if at > frame_at(room, FLOOR) else 0  # type: ignore[no-any-return]


@inlined
def put(room: Room, point: int) -> None:
    """Write a character."""
    room.out[room.state[AT]] = point
    room.state[AT] += 1


@inlined
def note(room: Room) -> None:
    """Note that a clause ends here."""
    at = room.state[AT]
    room.frames[FRAME * room.state[DEPTH] + NOTED] = at
    if room.state[GROUPS] == 0:
        count = room.state[CLAUSES]
        if at > (room.clauses[count - 1] if count > 0 else 0):
            room.clauses[count] = at
            room.state[CLAUSES] = count + 1
