"""The texts of a batch looked up, weighed and decided all at once, as if it were in turn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.columns import CHANNELS, EXACT, KEPT, NEAR, Decisions, Fingerprints, Replaced
from dedup_job.decision import rounds
from dedup_job.decision.compared import PairTexts
from dedup_job.decision.groups import Groups
from dedup_job.decision.ranks import PartRanks
from dedup_job.decision.rounds import (
    Better,
    OpenTexts,
    Outcome,
    Rules,
)
from dedup_job.documents import Channel, Difference
from dedup_job.index import KeptIndex
from dedup_job.index.candidates import BY_SIMHASH
from dedup_job.index.look_up import LookUp, count_unindexed
from dedup_job.judgment import GONE, JOINED, UNKNOWN, Verdicts, unknown_verdicts

_OUTCOMES = np.array([KEPT, EXACT, EXACT, NEAR], dtype=np.uint8)  # of KEPT, TWIN, REPEATED, NEAR
_BY_TEXT = 1 << CHANNELS.index(Channel.TEXT)


class Choices(NamedTuple):
    """What is known of n decided texts besides their decisions, kept documents by number.

    added: bool (n,), which texts are kept, or were until a better copy came; they get the next
    numbers. of: int64 (n,), number of the other document in the pair of a text, -1 where there is
    none; replaced: by row of a kept text, what it takes the place of; differences: by row; missing:
    by row, numbers of kept documents that are gone; stored: uint32 (n,), the columns of keys by
    which an added text is to be found, as bits; unindexed: how many of these their fingerprint does
    not find later.
    """

    added: NDArray[np.bool_]
    of: NDArray[np.int64]
    replaced: list[tuple[int, Taken]]
    differences: dict[int, tuple[Difference, ...]]
    missing: dict[int, tuple[int, ...]]
    stored: NDArray[np.uint32]
    unindexed: int


class Taken(NamedTuple):
    """Whose place a text takes: a kept document, by number, and what it is a duplicate by.

    row: its own, where it is of the same batch and part, and its own decision tells the rest.
    """

    number: int
    row: int
    pair: Replaced


def choose(
    kept: KeptIndex,
    pairs: PairTexts,
    ranks: PartRanks,
    rules: Rules,
    least: NDArray[np.int64],
    fingerprints: Fingerprints,
    decisions: Decisions,
) -> Choices:
    """Decide n texts in their order; what is kept is not added to the index.

    least: int64 (n,), as many bits of its sketch a candidate has equal; decisions: of n texts,
    filled except for `of`, `cut` and the mappings by row.
    """
    hashed, found = kept.equal(fingerprints), kept.look_up(fingerprints, least)
    twins = np.where(kept.is_forgotten(hashed), -1, hashed)
    own = np.flatnonzero(twins >= 0)
    said = pairs.equal(own, twins[own])
    twins[own[said != JOINED]] = -1  # gone, or it has another text after all
    rows = np.flatnonzero(~found.alone | (hashed >= 0))
    texts = OpenTexts(rows, twins, _alike(pairs, fingerprints, rows))
    outcome, judged = _decided(found, texts, pairs, ranks, rules)
    added = outcome.state == rounds.KEPT
    here = outcome.replaced[outcome.replaced >= found.held] - found.held
    added[here] = True
    found.turns.store_columns(added)
    numbers = len(kept) + np.cumsum(added) - 1
    for row in np.flatnonzero(added & (hashed >= 0)).tolist():
        kept.replace(int(hashed[row]), int(numbers[row]))
    if len(here):
        _name_heirs(kept, texts.alike, added, numbers)
    exact = np.flatnonzero((outcome.state == rounds.TWIN) | (outcome.state == rounds.REPEATED))
    repeated = outcome.state[exact] == rounds.REPEATED
    originals = twins[exact]
    originals[repeated] = numbers[outcome.chosen[exact[repeated]]]
    outcome.totals[exact], outcome.chosen[exact] = 0, -1  # an equal text is found without them
    columns = fingerprints.sketches.channels if fingerprints.sketches else ()
    _unhide(found, fingerprints.short)
    of = _enter_pairs(found, pairs, outcome, judged, numbers, columns, decisions)
    of[exact], decisions.similarities[exact], decisions.channels[exact] = originals, 1, _BY_TEXT
    decisions.probabilities[exact] = np.nan
    near = np.flatnonzero(outcome.state == rounds.NEAR)
    places = outcome.chosen[near]
    named = _differences(found, pairs, places, turned=found.candidates.rows[places] != near)
    differences = dict(zip(near.tolist(), named, strict=True))
    replaced = _replaced(found, pairs, outcome, judged, numbers, columns)
    missing = _missing(found, outcome, hashed, own[said == GONE])
    unindexed = count_unindexed(found.turns)
    return Choices(added, of, replaced, differences, missing, found.turns.stored, unindexed)


def _unhide(found: LookUp, short: NDArray[np.bool_]) -> None:
    """Let each pair name the simhash if it is near, also if an equal one hid it from the text.

    What hides depends on documents that gave way, which an index that is read anew does not know.
    """
    candidates = found.candidates
    near = (candidates.distances <= found.distance) & ~short[candidates.rows]
    candidates.columns[near] |= np.uint32(BY_SIMHASH)


def _name_heirs(
    kept: KeptIndex,
    alike: NDArray[np.int64],
    added: NDArray[np.bool_],
    numbers: NDArray[np.int64],
) -> None:
    """Let the last one added of each text stand in for those before it."""
    last = dict[int, int]()
    for row in np.flatnonzero(added).tolist():
        number, text = int(numbers[row]), int(alike[row])
        if text in last:
            kept.replace(last[text], number)
        last[text] = number


def _differences(
    found: LookUp,
    pairs: PairTexts,
    places: NDArray[np.int64],
    turned: NDArray[np.bool_],
) -> list[tuple[Difference, ...]]:
    """Name the differences of some pairs; turned: bool (c,), as told of the other text."""
    rows, numbers = found.candidates.rows[places], found.candidates.numbers[places]
    named = zip(pairs.differences(rows, numbers), turned.tolist(), strict=True)
    return [tuple(one.turned() for one in each) if turn else each for each, turn in named]


def _replaced(
    found: LookUp,
    pairs: PairTexts,
    outcome: Outcome,
    said: Verdicts,
    added: NDArray[np.int64],
    channels: tuple[Channel, ...],
) -> list[tuple[int, Taken]]:
    """Return which documents replace others, in turn; see `_enter_pairs`."""
    rows = np.flatnonzero(outcome.replaced >= 0)
    others = outcome.replaced[rows]
    here = others >= found.held
    numbers = others.copy()
    numbers[here] = added[others[here] - found.held]
    told = np.flatnonzero(~here & (outcome.by[rows] >= 0))
    places = outcome.by[rows[told]]
    similarities = pairs.similarities(rows[told], others[told])
    shared = _channels_of(found.candidates.columns[places], channels)
    named = _differences(found, pairs, places, np.ones(len(places), dtype=np.bool_))
    replaced = [
        Taken(number, max(other - found.held, -1), Replaced(is_exact=pair < 0, channels=_BY_TEXT))
        for number, other, pair in zip(
            numbers.tolist(), others.tolist(), outcome.by[rows].tolist(), strict=True
        )
    ]
    for i, place in enumerate(places.tolist()):
        pair = Replaced(
            is_exact=False,
            distance=int(found.candidates.distances[place]),
            similarity=float(similarities[i]),
            channels=int(shared[i]),
            left_out=int(said["left_out"][place]),
            probability=float(said["probability"][place]),
            differences=named[i],
        )
        at = int(told[i])
        replaced[at] = replaced[at]._replace(pair=pair)
    return [*zip(rows.tolist(), replaced, strict=True)]


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
    found: LookUp, texts: OpenTexts, pairs: PairTexts, ranks: PartRanks, rules: Rules
) -> tuple[Outcome, Verdicts]:
    """Decide in turn, until every pair that is needed is judged; return the verdicts as well."""
    n, rows, numbers = len(texts.twins), found.candidates.rows, found.candidates.numbers
    codes, said = np.full(len(numbers), UNKNOWN, dtype=np.uint8), unknown_verdicts(len(numbers))
    cost, ranked = np.zeros(len(numbers)), bool(ranks.own)
    outcome = Outcome(
        np.full(n, rounds.KEPT, dtype=np.uint8),
        np.full(n, -1, dtype=np.int64),
        np.zeros(n, dtype=np.int64),
        np.full(n, -1, dtype=np.int64),
        np.full(n, -1, dtype=np.int64),
        np.zeros(len(numbers), dtype=np.bool_),
    )
    order = ranks.places()
    beats, pair_beats = (np.zeros(ranked * size, dtype=np.bool_) for size in (n, len(numbers)))
    if ranked:
        same = np.flatnonzero(texts.twins >= 0)
        beats[same] = ranks.beats(same, texts.twins[same])
        here = np.flatnonzero(numbers >= found.held)
        pair_beats[here] = order[rows[here]] > order[numbers[here] - found.held]
    better, groups = Better(order, beats, pair_beats), Groups(found, pairs, ranks.kept, rules.most)
    while True:
        while len(places := rounds.decide(found, texts, codes, cost, better, rules, outcome)):
            codes[places], known = pairs.verdicts(rows[places], numbers[places])
            said[places] = known
            likely, alike = known["probability"], known["similarity"]
            cost[places] = -np.where(np.isnan(likely), alike, likely)
            if ranked:
                some = places[(known["state"] == JOINED) & (numbers[places] < found.held)]
                pair_beats[some] = ranks.beats(rows[some], numbers[some])
        unlike = groups.first_unlike(outcome) if ranked else -1
        if unlike < 0:
            return outcome, said
        pair_beats[unlike] = False


def _enter_pairs(
    found: LookUp,
    pairs: PairTexts,
    outcome: Outcome,
    said: Verdicts,
    added: NDArray[np.int64],
    channels: tuple[Channel, ...],
    decisions: Decisions,
) -> NDArray[np.int64]:
    """Enter what is known of the pair that was chosen for each text, where there is one.

    added: int64 (n,), numbers of the texts that are added; channels: of each column of keys.
    Return the number of the other document in each pair, -1 where there is none; int64 (n,).
    """
    rows = np.flatnonzero(outcome.chosen >= 0)
    places = outcome.chosen[rows]
    numbers, columns = found.candidates.numbers[places], found.candidates.columns[places]
    owners = found.candidates.rows[places]  # another one of a row that was replaced
    decisions.outcomes[:], decisions.candidates[:] = _OUTCOMES[outcome.state], outcome.totals
    decisions.distances[rows] = found.candidates.distances[places]
    decisions.similarities[rows] = pairs.similarities(owners, numbers)
    decisions.probabilities[rows] = said["probability"][places]
    decisions.kinds[rows] = said["apart"][places]
    decisions.richer[rows] = np.where(owners == rows, said["richer"][places], np.uint8(0))
    decisions.left_out[rows] = said["left_out"][places]
    here = np.flatnonzero(numbers >= found.held)
    earlier = numbers[here] - found.held
    columns[here] &= found.turns.visible[earlier] | np.uint32(BY_SIMHASH)
    numbers[here] = added[earlier]
    decisions.channels[rows] = _channels_of(columns, channels)
    of = np.full(len(added), -1, dtype=np.int64)
    of[rows] = np.where(owners == rows, numbers, added[owners])
    return of


def _missing(
    found: LookUp, outcome: Outcome, hashed: NDArray[np.int64], rows: NDArray[np.int64]
) -> dict[int, tuple[int, ...]]:
    gone = {row: [int(hashed[row])] for row in rows.tolist()}
    places = np.flatnonzero(outcome.voids)
    numbers = found.candidates.numbers[places]
    for row, number in zip(found.candidates.rows[places].tolist(), numbers.tolist(), strict=True):
        gone.setdefault(row, []).append(number)
    compared = outcome.state != rounds.REPEATED
    return {row: tuple(dict.fromkeys(each)) for row, each in gone.items() if compared[row]}


def _channels_of(columns: NDArray[np.uint32], channels: tuple[Channel, ...]) -> NDArray[np.uint8]:
    masks = dict.fromkeys(CHANNELS, 0) | {str(Channel.SIMHASH): BY_SIMHASH}
    for i, channel in enumerate(channels):
        masks[str(channel)] |= 1 << i
    shared = np.zeros(len(columns), dtype=np.uint8)
    for bit, mask in enumerate(masks.values()):
        shared |= ((columns & np.uint32(mask)) != 0).astype(np.uint8) << np.uint8(bit)
    return shared
