"""Texts decided in turn, in native code, round by round, by what is said of their pairs so far."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.fingerprint.sketch import BINS
from dedup_job.index.look_up import Turns, begin, keep
from dedup_job.index.proposals import Proposals
from dedup_job.native.jit import borrowing, inner

UNKNOWN, JOINED, REFUSED, VOID = 0, 1, 2, 3
KEPT, TWIN, REPEATED, NEAR = 0, 1, 2, 3
_BITS = 64


class Said(NamedTuple):
    """What is said of c pairs, those with kept documents first, then those within the batch.

    said: uint8 (c,), UNKNOWN, JOINED, REFUSED, or VOID where the kept document is gone; cost:
    float64 (c,), of the joined ones the least is chosen, then the least distance where limits say
    so, then the first.
    """

    said: NDArray[np.uint8]
    cost: NDArray[np.float64]


class Outcome(NamedTuple):
    """The outcome of n texts.

    state: uint8 (n,), KEPT, TWIN of a kept document, REPEATED from an earlier text of the batch, or
    NEAR; chosen: int64 (n,), the earlier row of a repeated text, the pair of a near one; refused:
    int64 (n,), of a kept text the pair of the nearest candidate that was compared, or -1; totals:
    int64 (n,), how many candidates there were.
    """

    state: NDArray[np.uint8]
    chosen: NDArray[np.int64]
    refused: NDArray[np.int64]
    totals: NDArray[np.int64]


class Room(NamedTuple):
    """What is overwritten.

    first: int64 (n,), the kept row of each text; by_agreement: int64 (BINS + 1,); by_distance:
    int64 (65,); needed: int64 (p,), pairs of which nothing is said; voids: bool (c,) or of no
    length, pairs compared of which the kept document is gone.
    """

    first: NDArray[np.int64]
    by_agreement: NDArray[np.int64]
    by_distance: NDArray[np.int64]
    needed: NDArray[np.int64]
    voids: NDArray[np.bool_]


class Cut(NamedTuple):
    """Which candidates of a text are compared: those with more equal bits than `agreement`.

    Of those with as many the ones nearer than `distance`, and the first `left` at that distance.
    """

    agreement: np.int64
    distance: np.int64
    left: np.int64


def make_room(rows: int, pairs: int, most: int, *, with_voids: bool) -> Room:
    """Make room for n rows with so many pairs, of which `most` a row are compared."""
    return Room(
        np.empty(rows, dtype=np.int64),
        np.empty(BINS + 1, dtype=np.int64),
        np.empty(_BITS + 1, dtype=np.int64),
        np.empty(min(rows * most, pairs), dtype=np.int64),
        np.zeros(pairs if with_voids else 0, dtype=np.bool_),
    )


@borrowing
def decide(
    open_rows: NDArray[np.int64],
    twins: NDArray[np.int64],
    alike: NDArray[np.int64],
    before: Proposals,
    within: Proposals,
    turns: Turns,
    said: Said,
    most: int,
    by_distance: bool,
    room: Room,
    outcome: Outcome,
) -> int:
    """Decide the open rows in turn; return how many pairs are needed of which nothing is said.

    twins: int64 (n,), number of the kept document with the same text, or -1; alike: int64 (n,),
    the first row with the same text. As long as nothing is said of a pair it is taken for refused:
    most are, so the next time few are still needed. With none needed the outcome holds.
    """
    begin(turns)
    room.first[:] = -1
    room.voids[:] = False
    needed = 0
    for row in open_rows:
        if twins[row] >= 0:
            outcome.state[row] = TWIN
        elif room.first[alike[row]] >= 0:
            outcome.state[row], outcome.chosen[row] = REPEATED, room.first[alike[row]]
        else:
            needed = _choose(
                row, before, within, turns, said, most, by_distance, room, outcome, needed
            )
            if outcome.state[row] == KEPT:
                keep(turns, row)
                room.first[alike[row]] = row
    return needed


@borrowing
def best(before: Proposals, most: int, room: Room, chosen: NDArray[np.bool_]) -> None:
    """Choose of the kept documents found for each text those that are compared; bool (c,)."""
    for row in range(before.offsets.shape[0] - 1):
        start, stop = before.offsets[row], before.offsets[row + 1]
        if stop - start <= most:
            chosen[start:stop] = True
            continue
        room.by_agreement[:] = 0
        for pair in range(start, stop):
            room.by_agreement[before.agreements[pair]] += 1
        agreement, left = _edge(room.by_agreement, most, -1)
        room.by_distance[:] = 0
        for pair in range(start, stop):
            if before.agreements[pair] == agreement:
                room.by_distance[before.distances[pair]] += 1
        distance, left = _edge(room.by_distance, left, 1)
        for pair in range(start, stop):
            own = np.int64(before.agreements[pair])
            apart = np.int64(before.distances[pair])
            on_edge = own == agreement and apart == distance
            if own > agreement or (own == agreement and apart < distance) or (on_edge and left > 0):
                chosen[pair] = True
                left -= on_edge


@inner
def _choose(
    row: int,
    before: Proposals,
    within: Proposals,
    turns: Turns,
    said: Said,
    most: int,
    by_distance: bool,
    room: Room,
    outcome: Outcome,
    needed: int,
) -> int:
    """Choose what a text is a duplicate of, if of anything; return how many pairs are needed."""
    cut = _cut(row, before, within, turns, most, room, outcome)
    left = cut.left
    chosen = refused = np.int64(-1)
    cost, apart, agreement, nearest = np.inf, np.int64(0), np.int64(-1), np.int64(0)
    shift = before.numbers.shape[0]
    for part in range(2):
        found = before if part == 0 else within
        base = np.int64(0) if part == 0 else np.int64(shift)
        for place in range(found.offsets[row], found.offsets[row + 1]):
            if part == 1 and found.columns[place] & turns.visible[found.numbers[place]] == 0:
                continue
            own, far = np.int64(found.agreements[place]), np.int64(found.distances[place])
            if own < cut.agreement or (own == cut.agreement and far > cut.distance):
                continue
            if own == cut.agreement and far == cut.distance:
                if left == 0:
                    continue
                left -= 1
            pair = base + place
            what = said.said[pair]
            if what == UNKNOWN:
                room.needed[needed] = pair
                needed += 1
            elif what == JOINED:
                near = far if by_distance else np.int64(0)
                if said.cost[pair] < cost or (said.cost[pair] == cost and near < apart):
                    chosen, cost, apart = pair, said.cost[pair], near
            elif what == REFUSED:
                if own > agreement or (own == agreement and far < nearest):
                    refused, agreement, nearest = pair, own, far
            elif what == VOID:
                room.voids[pair] = True
    outcome.chosen[row], outcome.refused[row] = chosen, refused
    outcome.state[row] = NEAR if chosen >= 0 else KEPT
    return needed


@inner
def _cut(
    row: int,
    before: Proposals,
    within: Proposals,
    turns: Turns,
    most: int,
    room: Room,
    outcome: Outcome,
) -> Cut:
    """Count the candidates of a row, and tell which of them are compared."""
    total = before.offsets[row + 1] - before.offsets[row]
    for place in range(within.offsets[row], within.offsets[row + 1]):
        total += within.columns[place] & turns.visible[within.numbers[place]] != 0
    outcome.totals[row] = total
    if total <= most:
        return Cut(np.int64(-1), np.int64(0), np.int64(0))
    room.by_agreement[:] = 0
    for place in range(before.offsets[row], before.offsets[row + 1]):
        room.by_agreement[before.agreements[place]] += 1
    for place in range(within.offsets[row], within.offsets[row + 1]):
        if within.columns[place] & turns.visible[within.numbers[place]] != 0:
            room.by_agreement[within.agreements[place]] += 1
    agreement, left = _edge(room.by_agreement, most, -1)
    room.by_distance[:] = 0
    for place in range(before.offsets[row], before.offsets[row + 1]):
        if before.agreements[place] == agreement:
            room.by_distance[before.distances[place]] += 1
    for place in range(within.offsets[row], within.offsets[row + 1]):
        seen = within.columns[place] & turns.visible[within.numbers[place]] != 0
        if seen and within.agreements[place] == agreement:
            room.by_distance[within.distances[place]] += 1
    distance, left = _edge(room.by_distance, left, 1)
    return Cut(agreement, distance, left)


@inner
def _edge(counts: NDArray[np.int64], most: int | np.int64, step: int) -> tuple[np.int64, np.int64]:
    """Return the value up to which there are `most`, going up or down, and how many of it."""
    value = np.int64(0) if step > 0 else np.int64(counts.shape[0] - 1)
    left = np.int64(most)
    while counts[value] < left:
        left -= counts[value]
        value += step
    return value, left
