"""The texts of a batch looked up, weighed and decided all at once, as if it were in turn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.columns import CHANNELS, Fingerprints
from dedup_job.decision import rounds
from dedup_job.decision.compared import PairTexts
from dedup_job.decision.rounds import KEPT, NEAR, REPEATED, TWIN, OpenTexts, Outcome, Rules, Said
from dedup_job.documents import Channel, Differing
from dedup_job.index import KeptIndex
from dedup_job.index.candidates import BY_SIMHASH
from dedup_job.index.look_up import LookUp, columns_stored, count_unindexed


class Chosen(NamedTuple):
    """c pairs of a text and a kept one.

    rows, numbers: int64 (c,), of the text and of the kept one; distances: uint8 (c,), in bits;
    similarities: float64 (c,); channels: uint8 (c,), those that found the pair, bits for CHANNELS;
    kinds: uint8 (c,), code of what keeps it apart; richer, left_out: uint8 (c,), what the text has
    that the kept one lacks, as bits, and the percentage of it that was not compared.
    """

    rows: NDArray[np.int64]
    numbers: NDArray[np.int64]
    distances: NDArray[np.uint8]
    similarities: NDArray[np.float64]
    channels: NDArray[np.uint8]
    kinds: NDArray[np.uint8]
    richer: NDArray[np.uint8]
    left_out: NDArray[np.uint8]


class Choices(NamedTuple):
    """The decisions on n texts.

    kept: bool (n,); exact, originals: int64 (e,), ascending, rows of exact duplicates, with the
    numbers of the kept ones; near: the near duplicates, differences: of each, by what it differs
    from the kept one; refused: of kept texts the nearest
    candidates that were compared; candidates: int64 (n,), how many there were of a text that has
    no equal; missing_originals: by row, numbers of kept documents that are gone; stored: uint32
    (n,), the columns of keys by which a kept text is to be found, as bits; unindexed: how many kept
    texts their fingerprint does not find later.
    """

    kept: NDArray[np.bool_]
    exact: NDArray[np.int64]
    originals: NDArray[np.int64]
    near: Chosen
    differences: list[tuple[Differing, ...]]
    refused: Chosen
    candidates: NDArray[np.int64]
    missing_originals: dict[int, tuple[int, ...]]
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
    outcome, said = _decided(batch, rules)
    is_kept = outcome.state == KEPT
    columns_stored(batch.found.turns, is_kept)
    numbers = len(kept) + np.cumsum(is_kept) - 1
    exact = np.flatnonzero((outcome.state == TWIN) | (outcome.state == REPEATED))
    originals = batch.open.twins[exact]
    repeated = outcome.state[exact] == REPEATED
    originals[repeated] = numbers[outcome.chosen[exact[repeated]]]
    for row in np.flatnonzero(is_kept & (batch.hashed >= 0)).tolist():
        kept.replace(int(batch.hashed[row]), int(numbers[row]))
    near = np.flatnonzero(outcome.state == NEAR)
    refused = np.flatnonzero(is_kept & (outcome.refused >= 0))
    columns = fingerprints.sketches.channels if fingerprints.sketches else ()
    outcome.totals[exact] = 0  # an equal text is found without them
    return Choices(
        is_kept,
        exact,
        originals,
        _described(batch, outcome.chosen[near], numbers, said, columns),
        pairs.differences(*batch.of(outcome.chosen[near])),
        _described(batch, outcome.refused[refused], numbers, said, columns),
        outcome.totals,
        _void(batch, outcome),
        batch.found.turns.stored,
        count_unindexed(batch.found.turns),
    )


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
    rounds.best(found, rules, rounds.make_room(0, 0, 0), best)
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


def _decided(batch: _Batch, rules: Rules) -> tuple[Outcome, Said]:
    """Decide in turn, until something is said of every pair that is needed."""
    n, count = len(batch.hashed), len(batch.rows)
    said = Said(
        np.zeros(count, dtype=np.uint8), np.empty(count), *np.zeros((3, count), dtype=np.uint8)
    )
    if len(batch.gone):
        said.said[np.isin(batch.found.candidates.numbers, batch.gone)] = rounds.VOID
    outcome = Outcome(
        np.full(n, KEPT, dtype=np.uint8),
        np.full(n, -1, dtype=np.int64),
        np.full(n, -1, dtype=np.int64),
        np.zeros(n, dtype=np.int64),
        np.zeros(count, dtype=np.bool_),
    )
    room = rounds.make_room(n, count, rules.most)
    while needed := rounds.decide(batch.found, batch.open, said, rules, room, outcome):
        places = room.needed[:needed]
        weighed = batch.pairs.weigh(*batch.of(places))
        said.said[places] = np.where(weighed.joined, rounds.JOINED, rounds.REFUSED)
        said.cost[places] = weighed.cost
        said.kinds[places], said.richer[places] = weighed.kinds, weighed.richer
        said.left_out[places] = weighed.left_out
    return outcome, said


def _described(
    batch: _Batch,
    places: NDArray[np.int64],
    kept_numbers: NDArray[np.int64],
    said: Said,
    channels: tuple[Channel, ...],
) -> Chosen:
    """Say what there is to say of some candidates.

    kept_numbers: int64 (n,), of the texts that are kept; channels: of each column of keys.
    """
    found = batch.found
    numbers, columns = found.candidates.numbers[places], found.candidates.columns[places]
    here = np.flatnonzero(numbers >= found.held)
    earlier = numbers[here] - found.held
    columns[here] &= found.turns.visible[earlier]
    numbers[here] = kept_numbers[earlier]
    return Chosen(
        batch.rows[places],
        numbers,
        found.candidates.distances[places],
        batch.pairs.similarities(*batch.of(places), said.cost[places]),
        _channels_of(columns, channels),
        said.kinds[places],
        said.richer[places],
        said.left_out[places],
    )


def _void(batch: _Batch, outcome: Outcome) -> dict[int, tuple[int, ...]]:
    """Return by row the kept documents that were found and are gone, twins first."""
    if not len(batch.gone):
        return {}
    hashed = np.flatnonzero(np.isin(batch.hashed, batch.gone)).tolist()
    found = {row: [int(batch.hashed[row])] for row in hashed}
    places = np.flatnonzero(outcome.voids)
    numbers = batch.found.candidates.numbers[places]
    for row, number in zip(batch.rows[places].tolist(), numbers.tolist(), strict=True):
        found.setdefault(row, []).append(number)
    compared = outcome.state != REPEATED
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
