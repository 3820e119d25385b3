"""What distance and what similarity tell of a collection's own pairs of texts. No I/O, no clock."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dedup_job.decision.near_pairs import WIDEST, Pairs
from dedup_job.judgment import CLASSES, Judge
from dedup_job.native.code_points import pack

EDGES = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)  # of the bands of similarity; the last one is equality
LEAST_EDGE = 0.6  # of less similar pairs the channels find a part only
_SAMPLE = 300  # pairs of a band that are judged
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
class Band:
    """The pairs of one distance or of a range of similarities.

    least: lower edge; places: int64, of its pairs, in random order; similar: how many of them are
    alike enough; joined: of a sample, how many the judge takes for the same; apart: how many each
    class of differences keeps apart, the most frequent class first.
    """

    name: str
    least: float
    places: NDArray[np.int64]
    similar: Share
    joined: Share = Share(0, 0)
    apart: Mapping[str, Share] = field(default_factory=dict)


class Bands:
    """The pairs in bands, each with what the judge says of a sample."""

    def __init__(self, texts: Sequence[str], pairs: Pairs, judge: Judge) -> None:
        self._texts, self._pairs, self._judge = texts, pairs, judge
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
        """Return a band; its similar pairs only are judged, or all."""
        places = self._random.permutation(np.flatnonzero(mask))
        alike = self._pairs.similar[places]
        asked = (places[alike] if similar_only else places)[:_SAMPLE]
        used, rows = np.unique(self._pairs.rows[asked], return_inverse=True)
        others, other_rows = np.unique(self._pairs.others[asked], return_inverse=True)
        said = self._judge.judge(
            pack([self._texts[i] for i in used.tolist()]),
            rows,
            pack([self._texts[i] for i in others.tolist()]),
            other_rows,
        )
        counts = Counter(CLASSES[code] for code in said.refused[~said.joined].tolist())
        apart = {str(kind): Share(n, len(asked)) for kind, n in counts.most_common()}
        similar, joined = Share(int(alike.sum()), len(places)), int(said.joined.sum())
        return Band(name, least, places, similar, Share(joined, len(asked)), apart)


def recall(pairs: Pairs, distance: int, *, with_minhash: bool) -> Share:
    """Return how many of the similar pairs are found at a distance, of all that were found here.

    with_minhash: or by a band, where the sketches are alike enough.
    """
    found: NDArray[np.bool_] = pairs.distances <= distance
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

    "Mostly": the lower end of the interval is above one half. A distance of fewer
    than ten pairs tells nothing and is passed over.
    """
    best = None
    for distance, band in enumerate(by_distance[: WIDEST + 1]):
        if band.similar.whole < _FEW:
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
    enough = best - _LOST * best
    distances = [current, *range(WIDEST)]
    found = (d for d in distances if recall(pairs, d, with_minhash=True).part >= enough)
    return next(found, WIDEST)


def threshold_by_judge(by_similarity: Sequence[Band]) -> float | None:
    """Return the lowest edge down to which the judge keeps apart a tenth of a band or less.

    Bands of fewer than ten pairs tell nothing and are passed over. None where no band allows it.
    """
    best = None
    for band in reversed(by_similarity):
        if band.least < LEAST_EDGE:
            break
        if band.joined.whole < _FEW:
            continue
        if 1 - band.joined.rate > _REFUSED:
            break
        if band.least < 1:
            best = band.least
    return best


def threshold_by_person(judged: Mapping[float, Share]) -> float | None:
    """Return the lowest edge down to which a person calls nine in ten of each band duplicates.

    judged: by the band's lower edge. A band is passed over where they are too few for the lower
    end of the interval to be above one half.
    """
    best = None
    for least in sorted(judged, reverse=True):
        share = judged[least]
        if share.whole and share.rate < _PRECISE:
            break
        if least < 1 and share.interval[0] > _BETTER_THAN_NOT:
            best = least
    return best
