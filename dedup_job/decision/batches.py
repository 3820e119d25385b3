"""The texts of a batch looked up, weighed and decided all at once, as if it were in turn."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import starmap
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.decision import rounds
from dedup_job.decision.rounds import KEPT, NEAR, REPEATED, TWIN, OpenTexts, Outcome, Said
from dedup_job.decision.texts import KeptTexts
from dedup_job.decision.weighing import TextPairs, Weighing, used_texts
from dedup_job.documents import Channel, Fingerprints
from dedup_job.index import KeptIndex
from dedup_job.index.candidates import BY_SIMHASH
from dedup_job.index.look_up import LookUp, count_unindexed
from dedup_job.judgment import names_of_richer


class Chosen(NamedTuple):
    """A pair of a text and a kept one.

    row: of the text; number: of the kept one; kept: its text; distance: in bits; channels: those
    that found the pair; kind: what keeps it apart; richer: names of what the text has that the
    kept one lacks.
    """

    row: int
    number: int
    kept: str
    distance: int
    similarity: float
    channels: tuple[str, ...]
    kind: str
    richer: tuple[str, ...]


class Choices(NamedTuple):
    """The decisions on n texts.

    open: int64 (m,), ascending, the rows of which there is something to say: every other text is
    kept, without a candidate. kept: bool (n,); exact: rows of exact duplicates with the number of
    the kept one; near: the near duplicates; refused: of kept texts the nearest candidates that were
    compared; totals: int64 (n,), candidates there were; missing_originals: by row, numbers of kept
    documents that are gone; unindexed: how many kept texts their fingerprint does not find later.
    """

    open: NDArray[np.int64]
    kept: NDArray[np.bool_]
    exact: dict[int, int]
    near: list[Chosen]
    refused: list[Chosen]
    totals: NDArray[np.int64]
    missing_originals: dict[int, tuple[int, ...]]
    unindexed: int


class _Batch(NamedTuple):
    """n texts, and what was found for them.

    rows: int64 (c,), of each candidate; hashed: by row, numbers of kept documents with the same
    hashes; known: texts by number; gone: int64 (g,), numbers of documents that are no more.
    """

    weighing: Weighing
    texts: Sequence[str]
    found: LookUp
    rows: NDArray[np.int64]
    open: OpenTexts
    hashed: dict[int, int]
    known: dict[int, str]
    gone: NDArray[np.int64]

    def text_of(self, number: int) -> str:
        """Return the text of a candidate's number."""
        held = self.found.held
        return self.known[number] if number < held else self.texts[number - held]

    def pairs(self, places: NDArray[np.int64]) -> TextPairs:
        """Return the texts of some candidates as they are weighed: those used, once each."""
        numbers, others = np.unique(self.found.candidates.numbers[places], return_inverse=True)
        kept = [self.text_of(number) for number in numbers.tolist()]
        return *used_texts(self.texts, self.rows[places]), kept, others


def choose(
    kept: KeptIndex,
    weighing: Weighing,
    known: KeptTexts,
    most: int,
    texts: Sequence[str],
    fingerprints: Fingerprints,
) -> Choices:
    """Decide n texts in their order; `most` candidates of each are compared at most.

    What is kept is not added to the index.
    """
    rules = rounds.Rules(most, weighing.judge is None)
    batch = _looked_up(kept, weighing, known, rules, texts, fingerprints)
    outcome, said = _decided(batch, rules)
    is_kept = outcome.state == KEPT
    numbers = len(kept) + np.cumsum(is_kept) - 1
    exact = {
        row: int(batch.open.twins[row]) for row in np.flatnonzero(outcome.state == TWIN).tolist()
    }
    for row in np.flatnonzero(outcome.state == REPEATED).tolist():
        exact[row] = int(numbers[outcome.chosen[row]])
    for row in batch.hashed.keys() & set(np.flatnonzero(is_kept).tolist()):
        kept.replace(batch.hashed[row], int(numbers[row]))
    rows = batch.open.rows
    near = rows[outcome.state[rows] == NEAR]
    refused = rows[is_kept[rows] & (outcome.refused[rows] >= 0)]
    names = _columns_of(fingerprints.sketches.channels if fingerprints.sketches else ())
    return Choices(
        rows,
        is_kept,
        exact,
        _described(batch, outcome.chosen[near], numbers, said, names),
        _described(batch, outcome.refused[refused], numbers, said, names),
        outcome.totals,
        _void(batch, outcome),
        count_unindexed(batch.found.turns),
    )


def _looked_up(
    kept: KeptIndex,
    weighing: Weighing,
    known: KeptTexts,
    rules: rounds.Rules,
    texts: Sequence[str],
    fingerprints: Fingerprints,
) -> _Batch:
    """Look texts up, and fetch what is found: twins, and candidates of texts without one."""
    twins = kept.equal(fingerprints)
    found = kept.look_up(fingerprints, weighing.threshold.least_agreement(texts))
    rows, numbers = found.candidates.rows, found.candidates.numbers
    best = np.zeros(len(numbers), dtype=np.bool_)
    rounds.best(found, rules, rounds.make_room(0, 0, 0), best)
    wanted = np.unique(np.concatenate([twins[twins >= 0], numbers[best & (twins < 0)[rows]]]))
    held = known.get(wanted.tolist())
    hashed = {row: int(twins[row]) for row in np.flatnonzero(twins >= 0).tolist()}
    without = [row for row, number in hashed.items() if held.get(number) != texts[row]]
    if without:  # so these are compared after all
        more = np.unique(numbers[best & np.isin(rows, without)]).tolist()
        wanted = np.union1d(wanted, more)
        held |= known.get([number for number in more if number not in held])
    rows_open = np.flatnonzero(~(found.alone & (twins < 0)))
    twins[without] = -1
    gone = np.array([n for n in wanted.tolist() if n not in held], dtype=np.int64)
    open_texts = OpenTexts(rows_open, twins, _alike(texts, rows_open))
    return _Batch(weighing, texts, found, rows, open_texts, hashed, held, gone)


def _alike(texts: Sequence[str], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each of some rows the first one with the same text, int64 (n,)."""
    first: dict[str, int] = {}
    alike = np.arange(len(texts))
    for row in rows.tolist():
        alike[row] = first.setdefault(texts[row], row)
    return alike


def _decided(batch: _Batch, rules: rounds.Rules) -> tuple[Outcome, Said]:
    """Decide in turn, until something is said of every pair that is needed."""
    n, pairs = len(batch.texts), len(batch.rows)
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
        asked = room.needed[:count]
        weighed = batch.weighing.weigh(*batch.pairs(asked))
        said.said[asked] = np.where(weighed.joined, rounds.JOINED, rounds.REFUSED)
        said.cost[asked] = weighed.cost
        said.kinds[asked], said.richer[asked] = weighed.kinds, weighed.richer
    return outcome, said


def _described(
    batch: _Batch,
    places: NDArray[np.int64],
    kept_numbers: NDArray[np.int64],
    said: Said,
    names: Sequence[tuple[str, int]],
) -> list[Chosen]:
    """Say what there is to say of some candidates.

    kept_numbers: int64 (n,), of the texts that are kept; names: channels, with their columns.
    """
    found, weighing = batch.found, batch.weighing
    numbers, columns = found.candidates.numbers[places], found.candidates.columns[places]
    texts = [batch.text_of(number) for number in numbers.tolist()]
    here = np.flatnonzero(numbers >= found.held)
    earlier = numbers[here] - found.held
    columns[here] &= found.turns.visible[earlier]
    numbers[here] = kept_numbers[earlier]
    similarities = weighing.similarities(said.cost[places], batch.pairs(places))
    described = zip(
        batch.rows[places].tolist(),
        numbers.tolist(),
        texts,
        found.candidates.distances[places].tolist(),
        similarities.tolist(),
        (tuple(name for name, own in names if mask & own) for mask in columns.tolist()),
        map(weighing.kind, said.kinds[places].tolist()),
        map(names_of_richer, said.richer[places].tolist()),
        strict=True,
    )
    return list(starmap(Chosen, described))


def _void(batch: _Batch, outcome: Outcome) -> dict[int, tuple[int, ...]]:
    """Return by row the kept documents that were found and are gone, twins first."""
    if not len(batch.gone):
        return {}
    gone = set(batch.gone.tolist())
    found = {row: [number] for row, number in batch.hashed.items() if number in gone}
    places = np.flatnonzero(outcome.voids)
    numbers = batch.found.candidates.numbers[places]
    for row, number in zip(batch.rows[places].tolist(), numbers.tolist(), strict=True):
        found.setdefault(row, []).append(number)
    compared = outcome.state != REPEATED
    return {row: tuple(dict.fromkeys(each)) for row, each in found.items() if compared[row]}


def _columns_of(channels: Sequence[Channel]) -> list[tuple[str, int]]:
    """Return the channels by name, in their order, each with its columns as bits."""
    columns = dict.fromkeys(Channel, 0) | {Channel.SIMHASH: BY_SIMHASH}
    for i, channel in enumerate(channels):
        columns[channel] |= 1 << i
    return [(str(channel), bits) for channel, bits in columns.items()]
