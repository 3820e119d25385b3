"""The texts of a batch looked up, weighed and decided all at once, as if it were in turn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.columns import CHANNELS, Fingerprints, NumberedTexts
from dedup_job.decision import rounds
from dedup_job.decision.rounds import KEPT, NEAR, REPEATED, TWIN, OpenTexts, Outcome, Said
from dedup_job.decision.texts import KeptTexts
from dedup_job.decision.weighing import TextPairs, Weighing, used_texts
from dedup_job.documents import Channel, Differing
from dedup_job.index import KeptIndex
from dedup_job.index.candidates import BY_SIMHASH
from dedup_job.index.look_up import LookUp, columns_stored, count_unindexed
from dedup_job.judgment import ReadTexts
from dedup_job.native.byte_strings import are_equal
from dedup_job.native.code_points import Packed, Texts, pack, packed_of


class Chosen(NamedTuple):
    """c pairs of a text and a kept one.

    rows, numbers: int64 (c,), of the text and of the kept one; distances: uint8 (c,), in bits;
    similarities: float64 (c,); channels: uint8 (c,), those that found the pair, bits for CHANNELS;
    kinds: uint8 (c,), code of what keeps it apart; richer: uint8 (c,), what the text has that the
    kept one lacks, as bits.
    """

    rows: NDArray[np.int64]
    numbers: NDArray[np.int64]
    distances: NDArray[np.uint8]
    similarities: NDArray[np.float64]
    channels: NDArray[np.uint8]
    kinds: NDArray[np.uint8]
    richer: NDArray[np.uint8]


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
    same hashes, or -1; known: texts of kept documents; gone: int64 (g,), numbers of documents that
    are no more; own: the texts as they were read before, None where they were not; judged: kept
    documents that are candidates, and read: their texts, read once.
    """

    weighing: Weighing
    texts: Packed
    found: LookUp
    rows: NDArray[np.int64]
    open: OpenTexts
    hashed: NDArray[np.int64]
    known: NumberedTexts
    gone: NDArray[np.int64]
    own: ReadTexts | None
    judged: NumberedTexts
    read: ReadTexts | None

    def in_parts(self, places: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], TextPairs]]:
        """Yield which of some candidates' pairs are judged together, and their texts."""
        if self.own is None or self.read is None:
            yield np.arange(len(places)), self.pairs(places)
            return
        numbers, rows = self.found.candidates.numbers[places], self.rows[places]
        held = self.found.held
        before, here = np.flatnonzero(numbers < held), np.flatnonzero(numbers >= held)
        yield before, (self.own, rows[before], self.read, self.judged.places(numbers[before]))
        yield here, (self.own, rows[here], self.own, numbers[here] - held)

    def weigh(self, places: NDArray[np.int64], said: Said) -> None:
        """Weigh some candidates and enter what is said of them."""
        for which, pairs in self.in_parts(places):
            weighed, own = self.weighing.weigh(*pairs), places[which]
            said.said[own] = np.where(weighed.joined, rounds.JOINED, rounds.REFUSED)
            said.cost[own] = weighed.cost
            said.kinds[own], said.richer[own] = weighed.kinds, weighed.richer

    def differences(self, places: NDArray[np.int64]) -> list[tuple[Differing, ...]]:
        """Name the differences of some candidates' pairs."""
        named: list[tuple[Differing, ...]] = [()] * len(places)
        for which, pairs in self.in_parts(places):
            found = zip(which.tolist(), self.weighing.differences(pairs), strict=True)
            for place, differences in found:
                named[place] = differences
        return named

    def kept_texts(self, numbers: NDArray[np.int64]) -> Packed:
        """Return the texts of candidates: of the target, or of this batch."""
        here, count = numbers >= self.found.held, len(numbers)
        rows = self.known.places(numbers[~here]), numbers[here] - self.found.held
        before = self.known.texts.strings().take(rows[0]).spread(np.flatnonzero(~here), count)
        own = self.texts.strings().take(rows[1]).spread(np.flatnonzero(here), count)
        return packed_of(before, own)

    def pairs(self, places: NDArray[np.int64]) -> TextPairs:
        """Return the texts of some candidates as they are weighed: those used, once each."""
        numbers, others = np.unique(self.found.candidates.numbers[places], return_inverse=True)
        return *used_texts(self.texts, self.rows[places]), self.kept_texts(numbers), others


def choose(
    kept: KeptIndex,
    weighing: Weighing,
    known: KeptTexts,
    most: int,
    texts: Texts,
    fingerprints: Fingerprints,
) -> Choices:
    """Decide n texts in their order; `most` candidates of each are compared at most.

    What is kept is not added to the index.
    """
    rules = rounds.Rules(most, weighing.judge is None)
    batch = _looked_up(kept, weighing, known, rules, pack(texts), fingerprints)
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
        batch.differences(outcome.chosen[near]),
        _described(batch, outcome.refused[refused], numbers, said, columns),
        outcome.totals,
        _void(batch, outcome),
        batch.found.turns.stored,
        count_unindexed(batch.found.turns),
    )


def _looked_up(
    kept: KeptIndex,
    weighing: Weighing,
    known: KeptTexts,
    rules: rounds.Rules,
    texts: Packed,
    fingerprints: Fingerprints,
) -> _Batch:
    """Look texts up, and fetch what is found: twins, and candidates of texts without one."""
    twins = kept.equal(fingerprints)
    found = kept.look_up(fingerprints, weighing.threshold.least_agreement(texts))
    rows, numbers = found.candidates.rows, found.candidates.numbers
    best = np.zeros(len(numbers), dtype=np.bool_)
    rounds.best(found, rules, rounds.make_room(0, 0, 0), best)
    wanted = np.unique(np.concatenate([twins[twins >= 0], numbers[best & (twins < 0)[rows]]]))
    held, hashed = known.get(wanted), twins.copy()
    without = _unlike(texts, np.flatnonzero(twins >= 0), twins, held)
    if len(without):  # so these are compared after all
        more = np.setdiff1d(numbers[best & np.isin(rows, without)], wanted)
        wanted = np.union1d(wanted, more)
        held = held.joined(known.get(more))
    rows_open = np.flatnonzero(~(found.alone & (twins < 0)))
    twins[without] = -1
    gone = np.setdiff1d(wanted, held.numbers)
    open_texts = OpenTexts(rows_open, twins, _alike(texts, fingerprints, rows_open))
    own = fingerprints.sketches.read if fingerprints.sketches else None
    judged, read = held, None
    if own is not None and weighing.judge is not None:
        candidates = np.isin(held.numbers, numbers[best & (twins < 0)[rows]])
        judged = NumberedTexts(held.numbers[candidates], held.texts.take(candidates))
        read = weighing.judge.read(judged.texts)
    return _Batch(weighing, texts, found, rows, open_texts, hashed, held, gone, own, judged, read)


def _unlike(
    texts: Packed, rows: NDArray[np.int64], twins: NDArray[np.int64], held: NumberedTexts
) -> NDArray[np.int64]:
    """Return those rows whose twin by its hashes is gone, or has another text after all."""
    places = held.places(twins[rows])
    there = places >= 0
    own, other = texts.strings().take(rows[there]), held.texts.strings().take(places[there])
    there[there] = are_equal(own, other)
    return rows[~there]


def _alike(texts: Packed, prints: Fingerprints, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each of some rows the first one with the same text, int64 (n,)."""
    alike = np.arange(len(prints))
    _, first, groups = np.unique(prints.digests[rows], return_index=True, return_inverse=True)
    earliest = rows[first[groups]]
    strings = texts.strings()
    same = are_equal(strings.take(rows), strings.take(earliest))
    alike[rows[same]] = earliest[same]
    seen: dict[str, int] = {}
    for row in rows[~same].tolist():  # of equal digests and other texts, which chance does not give
        alike[row] = seen.setdefault(texts.text(row), row)
    return alike


def _decided(batch: _Batch, rules: rounds.Rules) -> tuple[Outcome, Said]:
    """Decide in turn, until something is said of every pair that is needed."""
    n, pairs = len(batch.hashed), len(batch.rows)
    said = Said(
        np.zeros(pairs, dtype=np.uint8), np.empty(pairs), *np.zeros((2, pairs), dtype=np.uint8)
    )
    if len(batch.gone):
        said.said[np.isin(batch.found.candidates.numbers, batch.gone)] = rounds.VOID
    outcome = Outcome(
        np.full(n, KEPT, dtype=np.uint8),
        np.full(n, -1, dtype=np.int64),
        np.full(n, -1, dtype=np.int64),
        np.zeros(n, dtype=np.int64),
        np.zeros(pairs, dtype=np.bool_),
    )
    room = rounds.make_room(n, pairs, rules.most)
    while count := rounds.decide(batch.found, batch.open, said, rules, room, outcome):
        batch.weigh(room.needed[:count], said)
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
    found, weighing = batch.found, batch.weighing
    numbers, columns = found.candidates.numbers[places], found.candidates.columns[places]
    here = np.flatnonzero(numbers >= found.held)
    earlier = numbers[here] - found.held
    columns[here] &= found.turns.visible[earlier]
    numbers[here] = kept_numbers[earlier]
    return Chosen(
        batch.rows[places],
        numbers,
        found.candidates.distances[places],
        weighing.similarities(said.cost[places], batch.pairs(places)),
        _channels_of(columns, channels),
        said.kinds[places],
        said.richer[places],
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
