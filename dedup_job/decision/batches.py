"""The texts of a batch looked up, weighed and decided all at once, as if it were in turn."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.columns import CHANNELS, EXACT, KEPT, NEAR, Fingerprints
from dedup_job.decision import rounds
from dedup_job.decision.compared import PairTexts
from dedup_job.decision.rounds import OpenTexts, Outcome, PairVerdicts, Rules
from dedup_job.documents import Channel, Difference
from dedup_job.index import KeptIndex
from dedup_job.index.candidates import BY_SIMHASH
from dedup_job.index.look_up import LookUp, columns_stored, count_unindexed

_OUTCOMES = np.array([KEPT, EXACT, EXACT, NEAR], dtype=np.uint8)  # of KEPT, TWIN, REPEATED, NEAR
_BY_TEXT = 1 << CHANNELS.index(Channel.TEXT)


class Choices(NamedTuple):
    """The decisions on n texts, kept documents by number.

    outcomes, distances, similarities, channels, kinds, richer, left_out, candidates, differences:
    as in `Decisions`, similarities of compared texts alone. numbers: int64 (n,), of the kept
    document in the pair of a text, -1 where there is none; missing: by row, numbers of kept
    documents that are gone; stored: uint32 (n,), the columns of keys by which a kept text is to be
    found, as bits; unindexed: how many kept texts their fingerprint does not find later.
    """

    outcomes: NDArray[np.uint8]
    numbers: NDArray[np.int64]
    distances: NDArray[np.uint8]
    similarities: NDArray[np.float64]
    channels: NDArray[np.uint8]
    kinds: NDArray[np.uint8]
    richer: NDArray[np.uint8]
    left_out: NDArray[np.uint8]
    candidates: NDArray[np.int64]
    differences: dict[int, tuple[Difference, ...]]
    missing: dict[int, tuple[int, ...]]
    stored: NDArray[np.uint32]
    unindexed: int


class _Batch(NamedTuple):
    """n texts, and what was found for them.

    rows: int64 (c,), of each candidate; hashed: int64 (n,), numbers of kept documents with the
    same hashes, or -1; gone: int64 (g,), numbers of documents that are no more.
    """

    pairs: PairTexts
    found: LookUp
    rows: NDArray[np.int64]
    open: OpenTexts
    hashed: NDArray[np.int64]
    gone: NDArray[np.int64]

    def of(self, places: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return rows and numbers of some candidates."""
        return self.rows[places], self.found.candidates.numbers[places]


def choose(
    kept: KeptIndex,
    pairs: PairTexts,
    rules: Rules,
    least: NDArray[np.int64],
    fingerprints: Fingerprints,
) -> Choices:
    """Decide n texts in their order; what is kept is not added to the index.

    least: int64 (n,), as many bits of its sketch a candidate has equal.
    """
    batch = _looked_up(kept, pairs, rules, least, fingerprints)
    outcome, verdicts = _decided(batch, rules)
    is_kept = outcome.state == rounds.KEPT
    columns_stored(batch.found.turns, is_kept)
    numbers = len(kept) + np.cumsum(is_kept) - 1
    for row in np.flatnonzero(is_kept & (batch.hashed >= 0)).tolist():
        kept.replace(int(batch.hashed[row]), int(numbers[row]))
    exact = np.flatnonzero((outcome.state == rounds.TWIN) | (outcome.state == rounds.REPEATED))
    repeated = outcome.state[exact] == rounds.REPEATED
    originals = batch.open.twins[exact]
    originals[repeated] = numbers[outcome.chosen[exact[repeated]]]
    outcome.totals[exact], outcome.chosen[exact] = 0, -1  # an equal text is found without them
    columns = fingerprints.sketches.channels if fingerprints.sketches else ()
    made = _paired(batch, outcome, numbers, verdicts, columns)
    made.numbers[exact], made.similarities[exact], made.channels[exact] = originals, 1, _BY_TEXT
    return made


def _looked_up(
    kept: KeptIndex,
    pairs: PairTexts,
    rules: Rules,
    least: NDArray[np.int64],
    fingerprints: Fingerprints,
) -> _Batch:
    """Look texts up, and fetch what is found: twins, and candidates of texts without one."""
    twins = kept.equal(fingerprints)
    found = kept.look_up(fingerprints, least)
    rows, numbers = found.candidates.rows, found.candidates.numbers
    best = np.zeros(len(numbers), dtype=np.bool_)
    rounds.best(found, rules, rounds.make_scratch(0, 0, 0), best)
    hashed, own = twins.copy(), np.flatnonzero(twins >= 0)
    compared = np.flatnonzero(best & (twins < 0)[rows])
    gone = pairs.fetch(
        np.concatenate([own, rows[compared]]),
        np.concatenate([twins[own], numbers[compared]]),
        judged=np.arange(len(own) + len(compared)) >= len(own),
    )
    rows_open = np.flatnonzero(~(found.alone & (twins < 0)))
    without = own[~pairs.equal(own, twins[own])]  # its twin is gone, or has another text after all
    if len(without):  # so these are compared after all
        twins[without] = -1
        compared = np.flatnonzero(best & (twins < 0)[rows])
        every = np.ones(len(compared), dtype=np.bool_)
        gone = np.union1d(gone, pairs.fetch(rows[compared], numbers[compared], judged=every))
    open_texts = OpenTexts(rows_open, twins, _alike(pairs, fingerprints, rows_open))
    return _Batch(pairs, found, rows, open_texts, hashed, gone)


def _alike(pairs: PairTexts, prints: Fingerprints, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each of some rows the first one with the same text, int64 (n,)."""
    alike = np.arange(len(prints))
    _, first, groups = np.unique(prints.digests[rows], return_index=True, return_inverse=True)
    earliest = rows[first[groups]]
    rows, earliest = rows[rows != earliest], earliest[rows != earliest]
    same = pairs.equal(rows, pairs.held + earliest)
    alike[rows[same]] = earliest[same]
    odd = rows[~same]  # of equal digests and other texts, which chance does not give
    for place, row in enumerate(odd.tolist()):
        before = odd[:place]
        equal = before[pairs.equal(np.full(place, row), pairs.held + before)]
        alike[row] = equal[0] if len(equal) else row
    return alike


def _decided(batch: _Batch, rules: Rules) -> tuple[Outcome, PairVerdicts]:
    """Decide in turn, until every pair that is needed is judged."""
    n, count = len(batch.hashed), len(batch.rows)
    verdicts = PairVerdicts.unknown(count)
    if len(batch.gone):
        verdicts.verdicts[np.isin(batch.found.candidates.numbers, batch.gone)] = rounds.VOID
    outcome = Outcome(
        np.full(n, rounds.KEPT, dtype=np.uint8),
        np.full(n, -1, dtype=np.int64),
        np.zeros(n, dtype=np.int64),
        np.zeros(count, dtype=np.bool_),
    )
    scratch = rounds.make_scratch(n, count, rules.most)
    while needed := rounds.decide(batch.found, batch.open, verdicts, rules, scratch, outcome):
        places = scratch.needed[:needed]
        verdicts.put(places, batch.pairs.verdicts(*batch.of(places)))
    return outcome, verdicts


def _paired(
    batch: _Batch,
    outcome: Outcome,
    kept_numbers: NDArray[np.int64],
    verdicts: PairVerdicts,
    channels: tuple[Channel, ...],
) -> Choices:
    """Return what is known of the pair that was chosen for each text, where there is one.

    kept_numbers: int64 (n,), of the texts that are kept; channels: of each column of keys.
    """
    found, n = batch.found, len(kept_numbers)
    rows, near = np.flatnonzero(outcome.chosen >= 0), np.flatnonzero(outcome.state == rounds.NEAR)
    places = outcome.chosen[rows]
    numbers, columns = found.candidates.numbers[places], found.candidates.columns[places]
    here = np.flatnonzero(numbers >= found.held)
    earlier = numbers[here] - found.held
    columns[here] &= found.turns.visible[earlier]
    numbers[here] = kept_numbers[earlier]
    named = batch.pairs.differences(*batch.of(outcome.chosen[near]))

    def spread(values: NDArray[Any], nothing: int = 0) -> NDArray[Any]:
        column = np.full(n, nothing, dtype=values.dtype)
        column[rows] = values
        return column

    return Choices(
        _OUTCOMES[outcome.state],
        spread(numbers, nothing=-1),
        spread(found.candidates.distances[places]),
        spread(batch.pairs.similarities(*batch.of(places), verdicts.cost[places])),
        spread(_channels_of(columns, channels)),
        spread(verdicts.kinds[places]),
        spread(verdicts.richer[places]),
        spread(verdicts.left_out[places]),
        outcome.totals,
        dict(zip(near.tolist(), named, strict=True)),
        _missing(batch, outcome),
        found.turns.stored,
        count_unindexed(found.turns),
    )


def _missing(batch: _Batch, outcome: Outcome) -> dict[int, tuple[int, ...]]:
    """Return by row the kept documents that were found and are gone, twins first."""
    if not len(batch.gone):
        return {}
    hashed = np.flatnonzero(np.isin(batch.hashed, batch.gone)).tolist()
    found = {row: [int(batch.hashed[row])] for row in hashed}
    places = np.flatnonzero(outcome.voids)
    numbers = batch.found.candidates.numbers[places]
    for row, number in zip(batch.rows[places].tolist(), numbers.tolist(), strict=True):
        found.setdefault(row, []).append(number)
    compared = outcome.state != rounds.REPEATED
    return {row: tuple(dict.fromkeys(each)) for row, each in found.items() if compared[row]}


def _channels_of(columns: NDArray[np.uint32], channels: tuple[Channel, ...]) -> NDArray[np.uint8]:
    """Return the channels whose columns a pair shares, as bits for CHANNELS."""
    masks = dict.fromkeys(CHANNELS, 0) | {str(Channel.SIMHASH): BY_SIMHASH}
    for i, channel in enumerate(channels):
        masks[str(channel)] |= 1 << i
    shared = np.zeros(len(columns), dtype=np.uint8)
    for bit, mask in enumerate(masks.values()):
        shared |= ((columns & np.uint32(mask)) != 0).astype(np.uint8) << np.uint8(bit)
    return shared
