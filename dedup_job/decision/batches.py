"""The texts of a batch looked up, weighed and decided all at once, as if it were in turn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.columns import CHANNELS, EXACT, KEPT, NEAR, Decisions, Fingerprints
from dedup_job.decision import rounds
from dedup_job.decision.compared import PairTexts
from dedup_job.decision.rounds import JOINED, UNKNOWN, VOID, OpenTexts, Outcome, PairVerdicts, Rules
from dedup_job.documents import Channel, Difference
from dedup_job.index import KeptIndex
from dedup_job.index.candidates import BY_SIMHASH
from dedup_job.index.look_up import LookUp, count_unindexed

_OUTCOMES = np.array([KEPT, EXACT, EXACT, NEAR], dtype=np.uint8)  # of KEPT, TWIN, REPEATED, NEAR
_BY_TEXT = 1 << CHANNELS.index(Channel.TEXT)


class Choices(NamedTuple):
    """What is known of n decided texts besides their decisions, kept documents by number.

    numbers: int64 (n,), of the kept document in the pair of a text, -1 where there is none;
    differences: by row; missing: by row, numbers of kept documents that are gone; stored: uint32
    (n,), the columns of keys by which a kept text is to be found, as bits; unindexed: how many
    kept texts their fingerprint does not find later.
    """

    numbers: NDArray[np.int64]
    differences: dict[int, tuple[Difference, ...]]
    missing: dict[int, tuple[int, ...]]
    stored: NDArray[np.uint32]
    unindexed: int


def choose(
    kept: KeptIndex,
    pairs: PairTexts,
    rules: Rules,
    least: NDArray[np.int64],
    fingerprints: Fingerprints,
    decisions: Decisions,
) -> Choices:
    """Decide n texts in their order; what is kept is not added to the index.

    least: int64 (n,), as many bits of its sketch a candidate has equal; decisions: of n texts,
    filled but for `of`, `clusters`, `cut` and what is there by row.
    """
    hashed, found = kept.equal(fingerprints), kept.look_up(fingerprints, least)
    own = np.flatnonzero(hashed >= 0)
    said = pairs.equal(own, hashed[own])
    twins = hashed.copy()
    twins[own[said != JOINED]] = -1  # gone, or it has another text after all
    rows = np.flatnonzero(~found.alone | (hashed >= 0))
    texts = OpenTexts(rows, twins, _alike(pairs, fingerprints, rows))
    outcome, verdicts = _decided(found, texts, pairs, rules)
    is_kept = outcome.state == rounds.KEPT
    found.turns.store_columns(is_kept)
    numbers = len(kept) + np.cumsum(is_kept) - 1
    for row in np.flatnonzero(is_kept & (hashed >= 0)).tolist():
        kept.replace(int(hashed[row]), int(numbers[row]))
    exact = np.flatnonzero((outcome.state == rounds.TWIN) | (outcome.state == rounds.REPEATED))
    repeated = outcome.state[exact] == rounds.REPEATED
    originals = twins[exact]
    originals[repeated] = numbers[outcome.chosen[exact[repeated]]]
    outcome.totals[exact], outcome.chosen[exact] = 0, -1  # an equal text is found without them
    columns = fingerprints.sketches.channels if fingerprints.sketches else ()
    of = _enter_pairs(found, pairs, outcome, numbers, verdicts, columns, decisions)
    of[exact], decisions.similarities[exact], decisions.channels[exact] = originals, 1, _BY_TEXT
    decisions.probabilities[exact] = np.nan
    near = np.flatnonzero(outcome.state == rounds.NEAR)
    named = pairs.differences(near, found.candidates.numbers[outcome.chosen[near]])
    differences = dict(zip(near.tolist(), named, strict=True))
    missing = _missing(found, outcome, hashed, own[said == VOID])
    return Choices(of, differences, missing, found.turns.stored, count_unindexed(found.turns))


def _alike(pairs: PairTexts, prints: Fingerprints, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each of some rows the first one with the same text, int64 (n,)."""
    alike = np.arange(len(prints))
    _, first, groups = np.unique(prints.digests[rows], return_index=True, return_inverse=True)
    earliest = rows[first[groups]]
    rows, earliest = rows[rows != earliest], earliest[rows != earliest]
    same = pairs.equal(rows, pairs.held + earliest) == JOINED
    alike[rows[same]] = earliest[same]
    odd = rows[~same]  # of equal digests and other texts, which chance does not give
    for place, row in enumerate(odd.tolist()):
        before = odd[:place]
        equal = before[pairs.equal(np.full(place, row), pairs.held + before) == JOINED]
        alike[row] = equal[0] if len(equal) else row
    return alike


def _decided(
    found: LookUp, texts: OpenTexts, pairs: PairTexts, rules: Rules
) -> tuple[Outcome, PairVerdicts]:
    """Decide in turn, until every pair that is needed is judged."""
    n, rows, numbers = len(texts.twins), found.candidates.rows, found.candidates.numbers
    verdicts = PairVerdicts.all(UNKNOWN, len(numbers))
    outcome = Outcome(
        np.full(n, rounds.KEPT, dtype=np.uint8),
        np.full(n, -1, dtype=np.int64),
        np.zeros(n, dtype=np.int64),
        np.zeros(len(numbers), dtype=np.bool_),
    )
    while len(places := rounds.decide(found, texts, verdicts, rules, outcome)):
        verdicts.put(places, pairs.verdicts(rows[places], numbers[places]))
    return outcome, verdicts


def _enter_pairs(
    found: LookUp,
    pairs: PairTexts,
    outcome: Outcome,
    kept_numbers: NDArray[np.int64],
    verdicts: PairVerdicts,
    channels: tuple[Channel, ...],
    decisions: Decisions,
) -> NDArray[np.int64]:
    """Enter what is known of the pair that was chosen for each text, where there is one.

    kept_numbers: int64 (n,), of the texts that are kept; channels: of each column of keys. Return
    the number of the kept document in each pair, -1 where there is none; int64 (n,).
    """
    rows = np.flatnonzero(outcome.chosen >= 0)
    places = outcome.chosen[rows]
    numbers, columns = found.candidates.numbers[places], found.candidates.columns[places]
    decisions.outcomes[:], decisions.candidates[:] = _OUTCOMES[outcome.state], outcome.totals
    decisions.distances[rows] = found.candidates.distances[places]
    decisions.similarities[rows] = pairs.similarities(rows, numbers, verdicts.cost[places])
    decisions.probabilities[rows] = -verdicts.cost[places]
    decisions.kinds[rows] = verdicts.kinds[places]
    decisions.richer[rows] = verdicts.richer[places]
    decisions.left_out[rows] = verdicts.left_out[places]
    here = np.flatnonzero(numbers >= found.held)
    earlier = numbers[here] - found.held
    columns[here] &= found.turns.visible[earlier]
    numbers[here] = kept_numbers[earlier]
    decisions.channels[rows] = _channels_of(columns, channels)
    of = np.full(len(kept_numbers), -1, dtype=np.int64)
    of[rows] = numbers
    return of


def _missing(
    found: LookUp, outcome: Outcome, hashed: NDArray[np.int64], rows: NDArray[np.int64]
) -> dict[int, tuple[int, ...]]:
    """Return by row the kept documents that were found and are gone.

    First those with the same hashes, of some rows; hashed: int64 (n,), their numbers.
    """
    gone = {row: [int(hashed[row])] for row in rows.tolist()}
    places = np.flatnonzero(outcome.voids)
    numbers = found.candidates.numbers[places]
    for row, number in zip(found.candidates.rows[places].tolist(), numbers.tolist(), strict=True):
        gone.setdefault(row, []).append(number)
    compared = outcome.state != rounds.REPEATED
    return {row: tuple(dict.fromkeys(each)) for row, each in gone.items() if compared[row]}


def _channels_of(columns: NDArray[np.uint32], channels: tuple[Channel, ...]) -> NDArray[np.uint8]:
    """Return the channels whose columns a pair shares, as bits for CHANNELS."""
    masks = dict.fromkeys(CHANNELS, 0) | {str(Channel.SIMHASH): BY_SIMHASH}
    for i, channel in enumerate(channels):
        masks[str(channel)] |= 1 << i
    shared = np.zeros(len(columns), dtype=np.uint8)
    for bit, mask in enumerate(masks.values()):
        shared |= ((columns & np.uint32(mask)) != 0).astype(np.uint8) << np.uint8(bit)
    return shared
