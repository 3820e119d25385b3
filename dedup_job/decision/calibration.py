"""What distance and what similarity tell of a collection's own pairs of texts. No I/O, no clock."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dedup_job.decision.check import Check
from dedup_job.decision.guards import Guard, Guards, PolarityWords
from dedup_job.decision.settings import Comparing, DecisionSettings
from dedup_job.documents import Channel, Fingerprints
from dedup_job.index import IndexSettings, KeptIndex
from dedup_job.index.proposals import BY_SIMHASH, Proposals

WIDEST = 7  # bits
CHANNELS = (Channel.SIMHASH, Channel.MINHASH)
MOST_OF_A_TEXT = 200  # pairs
EDGES = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)  # of the bands of similarity; the last one is equality
LEAST_EDGE = 0.6  # of less similar pairs the channels find a part only
_CELLS = 4_000_000  # pairs in a block at most
_SAMPLE = 300  # pairs of a band that the guards look at
_Z = 1.959964  # of the normal distribution, 95 % between -z and z
_FEW = 10  # fewer tell nothing
_REFUSED, _PRECISE, _BETTER_THAN_NOT, _LOST = 0.1, 0.9, 0.5, 0.001


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many."""

    part: int
    whole: int

    @property
    def rate(self) -> float:
        """The quotient, nan of none."""
        return self.part / self.whole if self.whole else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """Where the true share lies with 95 %: Wilson's score interval (JASA 22, 1927)."""
        if not self.whole:
            return 0.0, 1.0
        n, p = self.whole, self.rate
        middle = (p + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
        reach = _Z / (1 + _Z**2 / n) * math.sqrt(p * (1 - p) / n + _Z**2 / (4 * n**2))
        return max(middle - reach, 0.0), min(middle + reach, 1.0)


@dataclass(frozen=True, slots=True)
class Pairs:
    """c pairs of texts that are near in some way.

    rows, others: int64 (c,), the later and the earlier text; distances: uint8 (c,), in bits, more
    than WIDEST where simhash does not find the pair; by_minhash, compared, similar: bool (c,),
    whether a band is shared, whether the sketches are alike enough for a run to compare the texts,
    whether these are alike enough; similarities: float64 (c,). cut: texts with more than
    MOST_OF_A_TEXT pairs, of which so many were drawn.
    """

    rows: NDArray[np.int64]
    others: NDArray[np.int64]
    distances: NDArray[np.uint8]
    by_minhash: NDArray[np.bool_]
    compared: NDArray[np.bool_]
    similarities: NDArray[np.float64]
    similar: NDArray[np.bool_]
    cut: int = 0

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.rows)


@dataclass(frozen=True, slots=True)
class Band:
    """The pairs of one distance or of a range of similarities.

    least: lower edge; places: int64, of its pairs, in random order; similar: how many of them are
    alike enough; refused: of a sample, how many each guard refuses.
    """

    name: str
    least: float
    places: NDArray[np.int64]
    similar: Share
    refused: Mapping[str, Share] = field(default_factory=dict)


def find_pairs(
    texts: Sequence[str],
    fingerprints: Fingerprints,
    settings: DecisionSettings,
    advance: Callable[[int], None] = lambda _: None,
) -> Pairs:
    """Find the pairs among n texts, all unlike, that are within WIDEST bits or share a band.

    fingerprints: with the sketches of CHANNELS. Where the settings compare nothing, the measure is
    Jaccard's. advance is told how many texts are done.
    """
    if settings.compare is Comparing.NONE:
        settings = settings.model_copy(update={"compare": Comparing.JACCARD})
    check, random = Check(settings), np.random.default_rng(0)
    index = KeptIndex(IndexSettings(distance=WIDEST, channels=CHANNELS))
    block = max(16, min(1024, _CELLS // max(len(texts), 1)))
    parts: list[Pairs] = []
    for start in range(0, len(texts), block):
        rows = slice(start, min(start + block, len(texts)))
        some = fingerprints[rows]
        found = index.look_up(some, np.zeros(len(some), dtype=np.int64))
        parts.append(_compared(texts, start, (found.before, found.within), some, check, random))
        index.add([i.to_bytes(8) for i in range(rows.start, rows.stop)], some)
        advance(rows.stop)
    return _together(parts)


def _compared(
    texts: Sequence[str],
    start: int,
    found: tuple[Proposals, Proposals],
    some: Fingerprints,
    check: Check,
    random: np.random.Generator,
) -> Pairs:
    """Compare the texts from `start` on with what was found before them and among themselves."""
    before, within = found
    rows = np.concatenate([before.rows, within.rows])
    others = np.concatenate([before.numbers, within.numbers + start])
    distances = np.concatenate([before.distances, within.distances])
    columns = np.concatenate([before.columns, within.columns])
    agreements = np.concatenate([before.agreements, within.agreements])
    chosen, cut = _drawn(rows, len(some), random)
    rows, others, columns = rows[chosen], others[chosen], columns[chosen]
    distances = np.where(columns & BY_SIMHASH, distances[chosen], np.uint8(64))
    own = list(texts[start : start + len(some)])
    used, places = np.unique(others, return_inverse=True)
    verdict = check.compare(own, rows, [texts[i] for i in used.tolist()], places)
    return Pairs(
        rows + start,
        others,
        distances,
        (columns & ~np.uint32(BY_SIMHASH)) != 0,
        agreements[chosen] >= check.least_agreement(own)[rows],
        verdict.similarities,
        verdict.agree,
        cut,
    )


def _drawn(
    rows: NDArray[np.int64], count: int, random: np.random.Generator
) -> tuple[NDArray[np.int64], int]:
    """Draw MOST_OF_A_TEXT pairs of each text, in order of the texts; count those with more."""
    order = np.lexsort((random.random(len(rows)), rows))
    totals = np.bincount(rows, minlength=count)
    starts = np.cumsum(totals) - totals
    rank = np.arange(len(rows)) - starts[rows[order]]
    return order[rank < MOST_OF_A_TEXT], int((totals > MOST_OF_A_TEXT).sum())


def _together(parts: Sequence[Pairs]) -> Pairs:
    def joined(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(part, name) for part in parts])

    names = [name for name in Pairs.__slots__ if name != "cut"]
    return Pairs(**{name: joined(name) for name in names}, cut=sum(part.cut for part in parts))


class Bands:
    """The pairs in bands, each with what the guards say of a sample."""

    def __init__(self, texts: Sequence[str], pairs: Pairs, settings: DecisionSettings) -> None:
        words = PolarityWords.load(settings.polarity_words)
        self._guards = {guard: Guards((guard,), words) for guard in Guard}
        self._texts, self._pairs = texts, pairs
        self._random = np.random.default_rng(1)
        self.by_distance = [
            *(
                self._band(f"{d}", d, pairs.distances == d, similar_only=True)
                for d in range(WIDEST + 1)
            ),
            self._band("more, by minhash", WIDEST + 1, pairs.distances > WIDEST, similar_only=True),
        ]
        ends = [*EDGES[1:], math.inf]
        self.by_similarity = [
            self._band(
                f"{least:.1f} to {end:.1f}" if end <= 1 else "1",
                least,
                (pairs.similarities >= least) & (pairs.similarities < end),
                similar_only=False,
            )
            for least, end in zip(EDGES, ends, strict=True)
        ]

    def _band(
        self, name: str, least: float, mask: NDArray[np.bool_], *, similar_only: bool
    ) -> Band:
        """Return a band; the guards look at its similar pairs only, or at all."""
        places = self._random.permutation(np.flatnonzero(mask))
        alike = self._pairs.similar[places]
        asked = (places[alike] if similar_only else places)[:_SAMPLE]
        verdicts = [self._refusals(place) for place in asked.tolist()]
        refused = {
            str(guard): Share(sum(guard in verdict for verdict in verdicts), len(verdicts))
            for guard in Guard
        }
        return Band(name, least, places, Share(int(alike.sum()), len(places)), refused)

    def _refusals(self, place: int) -> set[Guard]:
        row, other = int(self._pairs.rows[place]), int(self._pairs.others[place])
        text, earlier = self._texts[row], self._texts[other]
        return {guard for guard, own in self._guards.items() if own.refuses(text, earlier)}


def recall(pairs: Pairs, distance: int, *, with_minhash: bool) -> Share:
    """Return how many of the similar pairs are found at a distance, of all that were found here.

    with_minhash: or by a band, where the sketches are alike enough.
    """
    found = pairs.distances <= distance
    if with_minhash:
        found = (found | pairs.by_minhash) & pairs.compared
    return Share(int(np.sum(found & pairs.similar)), int(np.sum(pairs.similar)))


def candidates_per_similar(pairs: Pairs, distance: int) -> float:
    """Return how many pairs within a distance there are for each similar one; nan for none."""
    within = pairs.distances <= distance
    similar = int((within & pairs.similar).sum())
    return int(within.sum()) / similar if similar else math.nan


def precise_distance(by_distance: Sequence[Band]) -> int | None:
    """Return the largest distance up to which the pairs of each are mostly similar, None if none.

    "Mostly": the lower end of the interval is above one half. A distance without pairs tells
    nothing and ends the row unless one beyond it is mostly similar.
    """
    best = None
    for distance, band in enumerate(by_distance[: WIDEST + 1]):
        if not band.similar.whole:
            continue
        if band.similar.interval[0] <= _BETTER_THAN_NOT:
            break
        best = distance
    return best


def sufficient_distance(pairs: Pairs, current: int) -> int:
    """Return a distance that finds all but a thousandth of the similar pairs, minhash beside it.

    The current one if it does, else the least that does.
    """
    best = recall(pairs, WIDEST, with_minhash=True).part
    for distance in (current, *range(WIDEST)):
        lost = best - recall(pairs, distance, with_minhash=True).part
        if lost <= _LOST * best:
            return distance
    return WIDEST


def threshold_by_guards(by_similarity: Sequence[Band]) -> float | None:
    """Return the lowest edge down to which numbers and polarity refuse a tenth of a band or less.

    Bands of fewer than ten pairs tell nothing and are passed over. None where no band allows it.
    """
    best = None
    for band in reversed(by_similarity):
        if band.least < LEAST_EDGE:
            break
        words = (band.refused[str(guard)] for guard in (Guard.NUMBERS, Guard.POLARITY))
        shares = [share for share in words if share.whole >= _FEW]
        if any(share.rate > _REFUSED for share in shares):
            break
        if shares and band.least < 1:
            best = band.least
    return best


def threshold_by_person(judged: Mapping[float, Share]) -> float | None:
    """Return the lowest edge down to which a person calls nine in ten of each band duplicates.

    judged: by the band's lower edge. The lower end of the interval must be above one half, too.
    """
    best = None
    for least in sorted(judged, reverse=True):
        share = judged[least]
        if not share.whole:
            continue
        if share.rate < _PRECISE or share.interval[0] <= _BETTER_THAN_NOT:
            break
        if least < 1:
            best = least
    return best
