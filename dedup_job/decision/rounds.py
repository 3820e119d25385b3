"""Texts decided in turn, in native code, round by round, by the verdicts so far."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.fingerprint.sketch import BINS
from dedup_job.index.look_up import LookUp, begin, keep
from dedup_job.native.jit import inlined, inner, jit_no_refcount

UNKNOWN, JOINED, REFUSED, VOID = 0, 1, 2, 3
KEPT, TWIN, REPEATED, NEAR = 0, 1, 2, 3
_BITS = 64


class OpenTexts(NamedTuple):
    """The texts of which there is something to decide, of n in all.

    rows: int64 (m,), ascending; twins: int64 (n,), number of the kept document with the same text,
    or -1; alike: int64 (n,), the first row with the same text.
    """

    rows: NDArray[np.int64]
    twins: NDArray[np.int64]
    alike: NDArray[np.int64]


class Rules(NamedTuple):
    """How many candidates of a text are compared; whether of equal costs the nearest is chosen."""

    most: int
    by_distance: bool


class PairVerdicts(NamedTuple):
    """What is known of c pairs of texts.

    verdicts: uint8 (c,), UNKNOWN, JOINED, REFUSED, or VOID where the kept document is gone; cost:
    float64 (c,), of the joined ones the least is chosen, then the least distance where the rules
    say so, then the first. Not used here: kinds: uint8 (c,), code of the class that keeps a pair
    apart; richer: uint8 (c,), what the text of a joined pair has that the other one lacks, as bits;
    left_out: uint8 (c,), the percentage of the text that was not compared.
    """

    verdicts: NDArray[np.uint8]
    cost: NDArray[np.float64]
    kinds: NDArray[np.uint8]
    richer: NDArray[np.uint8]
    left_out: NDArray[np.uint8]

    @classmethod
    def all(cls, verdict: int, count: int) -> PairVerdicts:
        """Return the same verdict so many times."""
        return cls(
            np.full(count, verdict, dtype=np.uint8),
            np.zeros(count),
            *np.zeros((3, count), dtype=np.uint8),
        )

    @property
    def joined(self) -> NDArray[np.bool_]:
        """Which pairs are duplicates, bool (c,)."""
        return np.equal(self.verdicts, JOINED)

    def put(self, places: NDArray[np.int64], known: PairVerdicts) -> None:
        """Enter what is known of some pairs."""
        columns: Iterable[NDArray[Any]] = self
        for column, values in zip(columns, known, strict=True):
            column[places] = values


class Outcome(NamedTuple):
    """The outcome of n texts.

    state: uint8 (n,), KEPT, TWIN of a kept document, REPEATED from an earlier text of the batch, or
    NEAR; chosen: int64 (n,), the earlier row of a repeated text, the pair of a near one, of a kept
    one the pair with the nearest candidate that was compared, or -1; totals: int64 (n,), how many
    candidates there were; voids: bool (c,), compared pairs with a kept document that is gone.
    """

    state: NDArray[np.uint8]
    chosen: NDArray[np.int64]
    totals: NDArray[np.int64]
    voids: NDArray[np.bool_]


class Scratch(NamedTuple):
    """Buffers that are overwritten.

    first: int64 (n,), the kept row of each text; by_agreement: int64 (BINS + 1,); by_distance:
    int64 (65,); needed: int64 (p,), pairs still to be judged.
    """

    first: NDArray[np.int64]
    by_agreement: NDArray[np.int64]
    by_distance: NDArray[np.int64]
    needed: NDArray[np.int64]


class Cut(NamedTuple):
    """Which candidates of a text are compared: those with more equal bits than `agreement`.

    Of those with as many the ones nearer than `distance`, and the first `left` at that distance.
    """

    agreement: np.int64
    distance: np.int64
    left: np.int64


def make_scratch(rows: int, pairs: int, most: int) -> Scratch:
    """Return buffers for n rows with so many pairs; at most `most` a row are compared."""
    return Scratch(
        np.empty(rows, dtype=np.int64),
        np.empty(BINS + 1, dtype=np.int64),
        np.empty(_BITS + 1, dtype=np.int64),
        np.empty(min(rows * most, pairs), dtype=np.int64),
    )


@jit_no_refcount
def decide(
    found: LookUp,
    texts: OpenTexts,
    pairs: PairVerdicts,
    rules: Rules,
    scratch: Scratch,
    outcome: Outcome,
) -> int:
    """Decide the open rows in turn; return the number of pairs still to be judged.

    A pair that is not judged yet counts as refused: most are, so the next time few are needed.
    With none needed the outcome holds.
    """
    begin(found.turns)
    scratch.first[:] = -1
    outcome.voids[:] = False
    needed = 0
    for row in texts.rows:
        same = texts.alike[row]
        if texts.twins[row] >= 0:
            outcome.state[row] = TWIN
        elif scratch.first[same] >= 0:
            outcome.state[row], outcome.chosen[row] = REPEATED, scratch.first[same]
        else:
            needed = _choose(row, found, pairs, rules, scratch, outcome, needed)
            if outcome.state[row] == KEPT:
                keep(found.turns, row)
                scratch.first[same] = row
    return needed


@inlined
def _choose(
    row: int,
    found: LookUp,
    pairs: PairVerdicts,
    rules: Rules,
    scratch: Scratch,
    outcome: Outcome,
    needed: int,
) -> int:
    """Choose what a text is a duplicate of, if of anything; return how many pairs are needed."""
    outcome.totals[row], cut = _cut(row, found, rules.most, scratch)
    left = cut.left
    chosen = refused = np.int64(-1)
    cost, apart, agreement, nearest = np.inf, np.int64(0), np.int64(-1), np.int64(0)
    offsets = found.candidates.offsets
    for pair in range(offsets[row], offsets[row + 1]):
        if not _is_seen(found, pair):
            continue
        passes, left = _passes(found, pair, cut, left)
        if not passes:
            continue
        what = pairs.verdicts[pair]
        own = np.int64(found.candidates.agreements[pair])
        far = np.int64(found.candidates.distances[pair])
        if what == UNKNOWN:
            scratch.needed[needed] = pair
            needed += 1
        elif what == JOINED:
            near = far if rules.by_distance else np.int64(0)
            if pairs.cost[pair] < cost or (pairs.cost[pair] == cost and near < apart):
                chosen, cost, apart = np.int64(pair), pairs.cost[pair], near
        elif what == VOID:
            outcome.voids[pair] = True
        elif own > agreement or (own == agreement and far < nearest):
            refused, agreement, nearest = np.int64(pair), own, far
    outcome.chosen[row] = chosen if chosen >= 0 else refused
    outcome.state[row] = NEAR if chosen >= 0 else KEPT
    return needed


@inner
def _cut(row: int, found: LookUp, most: int, scratch: Scratch) -> tuple[int, Cut]:
    """Count the candidates of a row, and tell which of them are compared."""
    start, stop = found.candidates.offsets[row], found.candidates.offsets[row + 1]
    agreements, distances = found.candidates.agreements, found.candidates.distances
    total = 0
    for pair in range(start, stop):
        total += _is_seen(found, pair)
    if total <= most:
        return total, Cut(np.int64(-1), np.int64(0), np.int64(0))
    scratch.by_agreement[:] = 0
    for pair in range(start, stop):
        scratch.by_agreement[agreements[pair]] += _is_seen(found, pair)
    agreement, left = _edge(scratch.by_agreement, most, -1)
    scratch.by_distance[:] = 0
    for pair in range(start, stop):
        if agreements[pair] == agreement:
            scratch.by_distance[distances[pair]] += _is_seen(found, pair)
    distance, left = _edge(scratch.by_distance, left, 1)
    return total, Cut(agreement, distance, left)


@inlined
def _is_seen(found: LookUp, pair: int) -> bool:
    """Tell whether a text finds the other one of a pair: a kept document, or a text kept by now."""
    row = found.candidates.numbers[pair] - found.held
    return bool(row < 0 or found.candidates.columns[pair] & found.turns.visible[row] != 0)


@inlined
def _passes(found: LookUp, pair: int, cut: Cut, left: np.int64) -> tuple[bool, np.int64]:
    """Tell whether a pair is compared, and how many are left on the edge of the cut after it."""
    own, far = found.candidates.agreements[pair], found.candidates.distances[pair]
    if own != cut.agreement or far != cut.distance:
        return bool(own > cut.agreement or (own == cut.agreement and far < cut.distance)), left
    return bool(left > 0), left - np.int64(left > 0)


@inner
def _edge(counts: NDArray[np.int64], most: int | np.int64, step: int) -> tuple[np.int64, np.int64]:
    """Return the value up to which there are `most`, going up or down, and how many of it."""
    value = np.int64(0) if step > 0 else np.int64(counts.shape[0] - 1)
    left = np.int64(most)
    while counts[value] < left:
        left -= counts[value]
        value += step
    return value, left
