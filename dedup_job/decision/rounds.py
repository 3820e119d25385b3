"""Texts decided in turn, round by round, by the verdicts so far."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job import _core
from dedup_job.index.look_up import LookUp

KEPT, TWIN, REPEATED, NEAR = 0, 1, 2, 3


class OpenTexts(NamedTuple):
    """The texts that are not decided yet, of n in all.

    rows: int64 (m,), ascending; twins: int64 (n,), number of the kept document with the same text,
    or -1; alike: int64 (n,), the first row with the same text.
    """

    rows: NDArray[np.int64]
    twins: NDArray[np.int64]
    alike: NDArray[np.int64]


class Better(NamedTuple):
    """Which of two copies is the better one; without elements where the first one stays.

    places: int64 (n,), of each text among all, the better copy last; beats: bool (n,), whether a
    text is a better copy than its twin; pair_beats: bool (c,), than the other one of a pair.
    """

    places: NDArray[np.int64]
    beats: NDArray[np.bool_]
    pair_beats: NDArray[np.bool_]


class Rules(NamedTuple):
    """How many candidates of a text are compared; whether of equal costs the nearest is chosen."""

    most: int
    by_distance: bool


class Outcome(NamedTuple):
    """The outcome of n texts.

    state: uint8 (n,), KEPT, TWIN of a kept document, REPEATED from an earlier text of the batch, or
    NEAR; chosen: int64 (n,), the other row of a repeated text, the pair of a near one, of a kept
    one the pair with the nearest candidate that was compared, or -1; totals: int64 (n,), how many
    candidates there were; replaced: int64 (n,), the number of what a text takes the place of, or
    -1: it is a better copy; by: int64 (n,), the pair of both, -1 where their texts are equal. A row
    that is replaced is a repeated one of the text that replaced it, or a near one by the pair of
    that text; voids: bool (c,), compared pairs with a kept document that is gone.
    """

    state: NDArray[np.uint8]
    chosen: NDArray[np.int64]
    totals: NDArray[np.int64]
    replaced: NDArray[np.int64]
    by: NDArray[np.int64]
    voids: NDArray[np.bool_]


def decide(
    found: LookUp,
    texts: OpenTexts,
    verdicts: NDArray[np.uint8],
    cost: NDArray[np.float64],
    better: Better,
    rules: Rules,
    outcome: Outcome,
) -> NDArray[np.int64]:
    """Decide the open rows in turn; return the pairs still to be judged, int64 (p,).

    verdicts: uint8 (c,), UNKNOWN, JOINED, REFUSED, or GONE where the kept document is gone; cost:
    float64 (c,), of the joined pairs the least is chosen, then the least distance where the rules
    say so, then the first. A pair that is not judged yet counts as refused: most are, so the next
    time few are needed. With none needed the outcome holds.
    """
    candidates = found.candidates
    return _core.decide(
        visibility=found.turns,
        held=found.held,
        offsets=candidates.offsets,
        numbers=candidates.numbers,
        columns=candidates.columns,
        distances=candidates.distances,
        agreements=candidates.agreements,
        **texts._asdict(),
        verdicts=verdicts,
        cost=cost,
        **better._asdict(),
        **rules._asdict(),
        **outcome._asdict(),
    )
