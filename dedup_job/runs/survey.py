"""Pairs, groups and counts for pages: a survey of a target, and the review of single pairs."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain, groupby, zip_longest
from typing import TypeVar

from dedup_job.messages import Message
from dedup_job.runs.decided import KEPT, Counts, DecidedDocument
from dedup_job.runs.run_record import About, Run

_Z = 1.959964  # of the normal distribution, 95 % between -z and z


@dataclass(frozen=True, slots=True)
class Proportion:
    """A proportion: `part` of `whole`."""

    part: int
    whole: int

    @property
    def rate(self) -> float:
        """The quotient, nan if `whole` is 0."""
        return self.part / self.whole if self.whole else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval: Wilson's score interval (JASA 22, 1927)."""
        if not self.whole:
            return 0.0, 1.0
        n, p = self.whole, self.rate
        middle = (p + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
        reach = _Z / (1 + _Z**2 / n) * math.sqrt(p * (1 - p) / n + _Z**2 / (4 * n**2))
        return max(middle - reach, 0.0), min(middle + reach, 1.0)


class Label(StrEnum):
    """Whether a person would keep only one of two documents."""

    SAME = Message("same")
    DIFFERENT = Message("different")
    UNSURE = Message("unsure")


@dataclass(frozen=True, slots=True)
class AskedPair:
    """A pair of a review. number: in the sample, 1-based; 0 for an earlier pair outside of it."""

    key: str
    number: int
    document: DecidedDocument
    label: Label | None


@dataclass(frozen=True, slots=True)
class ReviewProgress:
    """The progress of one reviewer, and the precision and recall that the labels show.

    answered, total: pairs of the sample; precision: share of the joined pairs labelled the same;
    recall: share of the pairs labelled the same that were joined; unsure counts for neither.
    """

    answered: int
    total: int
    precision: Proportion
    recall: Proportion
    unsure: int


BINS = 100
"""Bins of a histogram of probabilities or similarities; the last one includes 1."""
BY_THRESHOLD = ("unlikely", "similarity")
"""The reasons of pairs that another threshold may join; others are kept apart at any threshold."""
EXTREME, RANDOM, OTHERS = 12, 300, 4
"""Sizes of the samples of a page: of each extreme, at random, of each reason without a pair."""
FIRST = 10
"""Pairs that a page shows before all others."""


class Stratum(StrEnum):
    """A group of pairs; a page shows a sample of each."""

    LEAST_SIMILAR = "least_similar"  # near duplicates that were dropped
    MOST_SIMILAR = "most_similar"  # kept documents that nearly were duplicates
    CLASS = "class"  # near duplicates with a difference of this class
    KEPT_APART = "kept_apart"  # kept documents, by the class that keeps them apart
    RICHER = "richer"  # near duplicates with content that the kept document lacks
    RANDOM = "random"
    EXACT = "exact"
    WITHOUT_TEXT = "without_text"  # skipped and quarantined documents, by reason


@dataclass(frozen=True, slots=True)
class PairSample:
    """A sample of the near duplicates or of the refused pairs; bins: a histogram of all of them.

    extreme: the pairs nearest to the opposite decision, nearest first; random: further pairs, in
    random order; by_class: one for each class of difference. Refused pairs are in `bins` and
    `extreme` only if a threshold may join them.
    """

    bins: Sequence[int] = (0,) * BINS
    extreme: Sequence[DecidedDocument] = ()
    random: Sequence[DecidedDocument] = ()
    by_class: Sequence[DecidedDocument] = ()

    @property
    def pairs(self) -> list[DecidedDocument]:
        """All pairs of the sample, random ones first, some several times."""
        return [*self.random, *self.extreme, *self.by_class]

    def without_changed(self, found: Mapping[bytes, DecidedDocument]) -> "PairSample":
        """Return the sample without pairs that are missing in `found`, or decided otherwise."""

        def unchanged(pairs: Sequence[DecidedDocument]) -> list[DecidedDocument]:
            now = ((found.get(one.key), one.decision) for one in pairs)
            return [one for one, decision in now if one and one.decision == decision]

        return PairSample(self.bins, *map(unchanged, (self.extreme, self.random, self.by_class)))


def review_sample(near: PairSample, refused: PairSample, number: int) -> list[DecidedDocument]:
    """Return up to `number` pairs, near duplicates and refused pairs by turns.

    Half of each are nearest to the threshold, where the judge is least sure; a quarter are one of
    each class of difference or guard; the others are random. If there are few of one kind, there
    are more of the other.
    """
    sizes = [len({pair.keys for pair in d.pairs}) for d in (near, refused)]
    of_near = max(number - number // 2, number - sizes[1])
    of_refused = number - min(of_near, sizes[0])
    return _by_turns(_some(near, of_near), _some(refused, of_refused))


def _some(sample: PairSample, number: int) -> list[DecidedDocument]:
    first = sample.extreme[: number - number // 2]
    chosen = [*first, *sample.by_class[: number // 4], *sample.pairs]
    return [*{pair.keys: pair for pair in chosen}.values()][:number]


@dataclass(frozen=True, slots=True)
class Layer:
    """A sample of one stratum. name: the class or reason that its pairs have in common, or ""."""

    stratum: Stratum
    name: str
    pairs: Sequence[DecidedDocument]


@dataclass(frozen=True, slots=True)
class Group:
    """A kept document, and some of its duplicates."""

    kept: DecidedDocument
    members: Sequence[DecidedDocument]


@dataclass(frozen=True, slots=True)
class Survey:
    """The content of a page on a target.

    about: settings and versions of the last run. counts: of all decided documents, or of those that
    a dry run would add. restored: documents that a person put back. threshold: of the probability
    if the model decides (judged), else of the similarity. source_gone: the source has no documents.
    near, refused: near duplicates, and kept documents with a candidate; unjudged: exact duplicates,
    and documents without a text. runs: the last ones; runs_left_out: the number of earlier ones.
    """

    about: About
    counts: Counts
    restored: int = 0
    threshold: float | None = None
    judged: bool = False
    source_gone: bool = False
    near: PairSample = PairSample()
    refused: PairSample = PairSample()
    unjudged: Sequence[DecidedDocument] = ()
    groups: Sequence[Group] = ()
    runs: Sequence[Run] = ()
    runs_left_out: int = 0

    @property
    def first(self) -> list[Layer]:
        """The most informative pairs, a layer each: near the threshold, then one of each kind."""
        single: dict[Stratum, list[Layer]] = {stratum: [] for stratum in Stratum}
        for layer in self.layers:
            single[layer.stratum] += [replace(layer, pairs=[one]) for one in layer.pairs]
        nearest = _by_turns(single[Stratum.LEAST_SIMILAR], single[Stratum.MOST_SIMILAR])
        kinds = _by_turns(*(single[s] for s in (Stratum.CLASS, Stratum.KEPT_APART, Stratum.RICHER)))
        chosen, shown = dict[tuple[bytes, bytes], Layer](), set[tuple[Stratum, str]]()
        for one in [*nearest[:4], *kinds, *nearest[4:]]:
            (pair,) = one.pairs
            if pair.keys not in chosen and (one.stratum, one.name) not in shown:
                chosen[pair.keys] = one
                shown |= _kinds(pair)
        return [*chosen.values()][:FIRST]

    @property
    def others_by_stratum(self) -> list[tuple[Stratum, list[Layer]]]:
        """The pairs of all layers but `first`, each once, by stratum."""
        seen = {pair.keys for layer in self.first for pair in layer.pairs}
        layers = []
        for layer in self.layers:
            pairs = [pair for pair in layer.pairs if pair.keys not in seen]
            seen.update(pair.keys for pair in pairs)
            if pairs:
                layers.append(replace(layer, pairs=pairs))
        return [(key, [*group]) for key, group in groupby(layers, key=lambda one: one.stratum)]

    @property
    def layers(self) -> list[Layer]:
        """Samples of all strata, in the order of a page; a pair may be in several."""
        some = [*self.near.random, *self.near.by_class]
        apart = [*self.refused.random, *self.refused.by_class]
        exact = [one for one in self.unjudged if one.reason == "exact"]
        without_text = [one for one in self.unjudged if not one.of]
        parts: list[tuple[Stratum, Mapping[str, Sequence[DecidedDocument]]]] = [
            (Stratum.LEAST_SIMILAR, {"": self.near.extreme}),
            (Stratum.MOST_SIMILAR, {"": self.refused.extreme}),
            (Stratum.CLASS, _by(some, lambda one: [each.kind for each in one.pair.differences])),
            (Stratum.KEPT_APART, _by(apart, lambda one: [one.reason])),
            (Stratum.RICHER, _by(some, lambda one: one.pair.richer)),
            (Stratum.RANDOM, {"": self.near.random[-_AT_RANDOM:]}),
            (Stratum.EXACT, {"": exact[:_EACH]}),
            (Stratum.WITHOUT_TEXT, _by(without_text, lambda one: [one.reason])),
        ]
        return [
            Layer(stratum, name, found)
            for stratum, groups in parts
            for name, found in groups.items()
            if found
        ]


_EACH, _AT_RANDOM = 3, 12  # of a stratum
_Some = TypeVar("_Some")


def _by_turns(*lists: Sequence[_Some]) -> list[_Some]:
    turns = chain.from_iterable(zip_longest(*lists))
    return [one for one in turns if one is not None]


def _kinds(one: DecidedDocument) -> set[tuple[Stratum, str]]:
    if one.decision == KEPT:
        return {(Stratum.KEPT_APART, one.reason)}
    differences = {(Stratum.CLASS, each.kind) for each in one.pair.differences}
    return differences | {(Stratum.RICHER, name) for name in one.pair.richer}


def _by(
    pairs: Sequence[DecidedDocument], names_of: Callable[[DecidedDocument], Iterable[str]]
) -> dict[str, list[DecidedDocument]]:
    found: dict[str, list[DecidedDocument]] = {}
    for one in pairs:
        for name in dict.fromkeys(names_of(one)):
            group = found.setdefault(name, [])
            if len(group) < _EACH:
                group.append(one)
    return found
