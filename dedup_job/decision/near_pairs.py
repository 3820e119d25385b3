"""The near pairs among some texts, and what thresholds do with them."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.columns import Fingerprints
from dedup_job.decision.settings import Comparing, DecisionSettings, Judging
from dedup_job.decision.weighing import SimilarityThreshold, used_texts
from dedup_job.documents import Channel
from dedup_job.index import IndexSettings, KeptIndex
from dedup_job.index.candidates import BY_SIMHASH
from dedup_job.judgment import CLASSES, Judge
from dedup_job.native.code_points import pack

WIDEST = 7  # bits
CHANNELS = (Channel.SIMHASH, Channel.MINHASH)
MOST_OF_A_TEXT = 50  # pairs
_BLOCK = 256  # texts looked up at once
_LEAST_OF_A_BLOCK = 10
_MOST_FOUND = 10_000_000  # pairs, before some are drawn
_AT_ONCE = 100_000  # pairs compared at once


@dataclass(frozen=True, slots=True)
class Pairs:
    """c pairs of texts that are near in some way.

    rows, others: int64 (c,), the later and the earlier text; distances: uint8 (c,), in bits, more
    than WIDEST where simhash does not find the pair; by_minhash, compared, similar: bool (c,),
    whether a band is shared, whether the sketches are alike enough for a run to compare the texts,
    whether these are alike enough; similarities: float64 (c,). asked: so many texts were looked
    up; cut: of them those with more than MOST_OF_A_TEXT pairs, of which so many were drawn.
    """

    rows: NDArray[np.int64]
    others: NDArray[np.int64]
    distances: NDArray[np.uint8]
    by_minhash: NDArray[np.bool_]
    compared: NDArray[np.bool_]
    similarities: NDArray[np.float64]
    similar: NDArray[np.bool_]
    asked: int = 0
    cut: int = 0

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.rows)


def find_pairs(
    texts: Sequence[str],
    fingerprints: Fingerprints,
    settings: DecisionSettings,
    advance: Callable[[int], None] = lambda _: None,
) -> Pairs:
    """Find the pairs among n texts, all unlike, that are within WIDEST bits or share a band.

    fingerprints: with the sketches of CHANNELS. Where the settings compare nothing, the measure is
    Jaccard's. Where texts have very many pairs, as those of one template, some texts are drawn and
    some of their pairs. advance takes the number of texts that are done.
    """
    if settings.compare is Comparing.NONE:
        similarity = {"compare": Comparing.JACCARD, "judge": Judging.SIMILARITY}
        settings = settings.model_copy(update=similarity)
    random = np.random.default_rng(0)
    index = KeptIndex(IndexSettings(distance=WIDEST, channels=CHANNELS))
    found, asked, cut = [np.empty(0, dtype=_FOUND)], 0, 0
    total, each = 0, 0.0  # pairs so far, and of a text of the block before
    for start in range(0, len(texts), _BLOCK):
        stop = min(start + _BLOCK, len(texts))
        allowed = (_MOST_FOUND * stop / len(texts) - total) / max(each, 1.0)
        count = int(np.clip(allowed, min(_LEAST_OF_A_BLOCK, stop - start), stop - start))
        rows = np.sort(random.permutation(stop - start)[:count]) + start
        part = _look_up(index, fingerprints, rows, start, stop)
        total, each = total + len(part), len(part) / count
        part, more = _drawn(part, random)
        found.append(part)
        asked, cut = asked + count, cut + more
        index.add([i.to_bytes(8, "big") for i in range(start, stop)], fingerprints[start:stop])
        advance(stop)
    return _compared(texts, np.concatenate(found), SimilarityThreshold(settings), asked, cut)


_FOUND = np.dtype(  # a pair before the texts are compared; as in Pairs
    [("row", "i8"), ("other", "i8"), ("distance", "u1"), ("by_minhash", "?"), ("agreement", "u1")]
)


def _drawn(found: NDArray[np.void], random: np.random.Generator) -> tuple[NDArray[np.void], int]:
    """Draw MOST_OF_A_TEXT pairs of each text, text by text; count the texts with more."""
    order = np.lexsort((random.random(len(found)), found["row"]))
    _, starts, totals = np.unique(found["row"][order], return_index=True, return_counts=True)
    rank = np.arange(len(order)) - np.repeat(starts, totals)
    return found[order[rank < MOST_OF_A_TEXT]], int(np.sum(totals > MOST_OF_A_TEXT))


def _look_up(
    index: KeptIndex, prints: Fingerprints, rows: NDArray[np.int64], start: int, stop: int
) -> NDArray[np.void]:
    """Find the pairs of some texts with the texts before `start`, and with those from there on.

    The texts up to `stop` are looked up with them: earlier ones that were not drawn are found so.
    """
    own = KeptIndex(IndexSettings(distance=WIDEST, channels=CHANNELS))
    own.add([i.to_bytes(8, "big") for i in range(start, stop)], prints[start:stop])
    parts = []
    for held, first in ((index, 0), (own, start)):
        found = held.look_up(prints[rows], np.zeros(len(rows), dtype=np.int64)).candidates
        mask = found.numbers < len(held)
        mask &= found.numbers + first < rows[found.rows]
        found = found.chosen(mask)
        part = np.empty(len(found.numbers), dtype=_FOUND)
        part["row"], part["other"] = rows[found.rows], found.numbers + first
        part["distance"] = np.where(found.columns & BY_SIMHASH, found.distances, np.uint8(64))
        part["by_minhash"] = (found.columns & ~np.uint32(BY_SIMHASH)) != 0
        part["agreement"] = found.agreements
        parts.append(part)
    return np.concatenate(parts)


def _compared(
    texts: Sequence[str],
    found: NDArray[np.void],
    threshold: SimilarityThreshold,
    asked: int,
    cut: int,
) -> Pairs:
    """Compare the texts of all pairs."""
    count = len(found)
    similarities, similar = np.zeros(count), np.zeros(count, dtype=np.bool_)
    compared = np.zeros(count, dtype=np.bool_)
    for start in range(0, count, _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        own, rows = used_texts(texts, found["row"][some])
        alike = threshold.compare(own, rows, *used_texts(texts, found["other"][some]))
        similarities[some], similar[some] = alike
        compared[some] = found["agreement"][some] >= threshold.least_agreement(own.lengths)[rows]
    return Pairs(
        found["row"],
        found["other"],
        found["distance"],
        found["by_minhash"],
        compared,
        similarities,
        similar,
        asked,
        cut,
    )


EDGES = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)  # of the bands of similarity; the last one is equality
LEAST_EDGE = 0.6  # of less similar pairs the channels find a part only
_SAMPLE = 300  # pairs of a band that are judged
_Z = 1.959964  # of the normal distribution, 95 % between -z and z
_FEW = 10  # fewer tell nothing
_REFUSED, _PRECISE, _BETTER_THAN_NOT, _LOST = 0.1, 0.9, 0.5, 0.001


@dataclass(frozen=True, slots=True)
class Share:
    """A proportion: `part` of `whole`."""

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


class Bands(NamedTuple):
    """The pairs in bands, by distance and by similarity."""

    by_distance: list[Band]
    by_similarity: list[Band]


def judged_bands(texts: Sequence[str], pairs: Pairs, judge: Judge) -> Bands:
    """Put pairs in bands, each with what the judge says of a sample."""
    random = np.random.default_rng(1)

    def band(name: str, least: float, mask: NDArray[np.bool_], *, similar_only: bool) -> Band:
        places = random.permutation(np.flatnonzero(mask))
        alike = pairs.similar[places]
        asked = (places[alike] if similar_only else places)[:_SAMPLE]
        own, rows = used_texts(texts, pairs.rows[asked])
        others, other_rows = used_texts(texts, pairs.others[asked])
        said = judge.judge(pack(own), rows, pack(others), other_rows)
        counts = Counter(CLASSES[code] for code in said.refused[~said.joined].tolist())
        apart = {str(kind): Share(n, len(asked)) for kind, n in counts.most_common()}
        similar, joined = Share(int(alike.sum()), len(places)), int(said.joined.sum())
        return Band(name, least, places, similar, Share(joined, len(asked)), apart)

    far = pairs.distances > WIDEST
    by_distance = [
        *(band(f"{d}", d, pairs.distances == d, similar_only=True) for d in range(WIDEST + 1)),
        band("more, by minhash", WIDEST + 1, far, similar_only=True),
    ]
    by_similarity = []
    for least, end in pairwise((*EDGES, math.inf)):
        mask = (pairs.similarities >= least) & (pairs.similarities < end)
        name = f"{least:.1f} to {end:.1f}" if end <= 1 else "1"
        by_similarity.append(band(name, least, mask, similar_only=False))
    return Bands(by_distance, by_similarity)


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


def shares_by_band(answers: Iterable[tuple[float, bool]]) -> dict[float, Share]:
    """Count what people said of pairs by the lower edge of their band of similarities.

    answers: the similarity of a pair, and whether it is a duplicate to the person.
    """
    said: dict[float, list[bool]] = {}
    for similarity, same in answers:
        said.setdefault(EDGES[bisect_right(EDGES, similarity) - 1], []).append(same)
    return {least: Share(sum(given), len(given)) for least, given in sorted(said.items())}


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
