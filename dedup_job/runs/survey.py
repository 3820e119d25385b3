"""Pairs, groups and counts as pages show them: to be read, or to be labelled one by one."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain, groupby, zip_longest
from typing import TypeVar

from dedup_job.messages import Message
from dedup_job.runs.decided import KEPT, Counts, DecidedDocument
from dedup_job.runs.run import About, Run

_Z = 1.959964  # of the normal distribution, 95 % between -z and z


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
    """A pair as it is shown; number: in the sample, from 1 on, 0 for an earlier one not in it."""

    key: str
    number: int
    document: DecidedDocument
    label: Label | None


@dataclass(frozen=True, slots=True)
class ReviewProgress:
    """What one person has said so far.

    answered: of the sample; precision: of the joined pairs, those that are the same; recall: of
    the pairs that are the same, those that were joined; unsure counts for neither.
    """

    answered: int
    total: int
    precision: Share
    recall: Share
    unsure: int


BINS = 100
"""Bins of a histogram of probabilities or similarities: the last one holds 1 as well."""
BY_THRESHOLD = ("unlikely", "similarity")
"""What keeps pairs apart that another threshold may join; others are kept apart at any."""
EXTREME, RANDOM, OTHERS = 12, 300, 4
"""How many are drawn for a page: of each end, at random, and of each reason without a pair."""
FIRST = 10
"""How many pairs a page shows before all others."""


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
class Drawn:
    """Near duplicates or refused pairs that were drawn; `BINS` counts of all by their measure.

    extreme: those nearest to the other decision, the nearest first; random: others, in random
    order; by_class: one for each class of difference. Refused pairs are in `bins` and `extreme` if
    a threshold may join them.
    """

    bins: Sequence[int] = (0,) * BINS
    extreme: Sequence[DecidedDocument] = ()
    random: Sequence[DecidedDocument] = ()
    by_class: Sequence[DecidedDocument] = ()

    @property
    def pairs(self) -> list[DecidedDocument]:
        """All that were drawn, some of them several times, random ones first."""
        return [*self.random, *self.extreme, *self.by_class]

    def changed(self, found: Mapping[bytes, DecidedDocument]) -> "Drawn":
        """Return what is found by key and decided the same since; others are left out."""

        def there(part: Sequence[DecidedDocument]) -> list[DecidedDocument]:
            now = ((found.get(one.key), one.decision) for one in part)
            return [one for one, decision in now if one and one.decision == decision]

        parts = map(there, (self.extreme, self.random, self.by_class))
        return Drawn(self.bins, *parts)


def review_sample(near: Drawn, refused: Drawn, number: int) -> list[DecidedDocument]:
    """Return up to `number` pairs, near duplicates and pairs that were kept apart by turns.

    Half of each are the pairs nearest to the threshold, where the judge is least sure; a
    quarter one of each class of difference or guard; the others random ones. What one kind lacks,
    the other has more.
    """
    sizes = [len({pair.keys for pair in d.pairs}) for d in (near, refused)]
    of_near = max(number - number // 2, number - sizes[1])
    of_refused = number - min(of_near, sizes[0])
    return _by_turns(_some(near, of_near), _some(refused, of_refused))


def _some(drawn: Drawn, number: int) -> list[DecidedDocument]:
    first = drawn.extreme[: number - number // 2]
    chosen = [*first, *drawn.by_class[: number // 4], *drawn.pairs]
    return [*{pair.keys: pair for pair in chosen}.values()][:number]


@dataclass(frozen=True, slots=True)
class Layer:
    """A sample of one stratum. name: of the class, reason or size that its documents share."""

    stratum: Stratum
    name: str
    pairs: Sequence[DecidedDocument]


@dataclass(frozen=True, slots=True)
class Group:
    """A kept document, which says how many duplicates it has, and some of them."""

    kept: DecidedDocument
    members: Sequence[DecidedDocument]


@dataclass(frozen=True, slots=True)
class Survey:
    """What a page says of a target.

    about: with settings and versions of the last run.
    counts: of what target and ledger hold; of a dry run what they would hold more. restored:
    documents that a person put back. threshold: of the similarity, or where the model decides
    (judged) of the probability. source_gone: nothing could be read from the source.
    near, refused: near duplicates, and kept documents that had a candidate; others: exact
    duplicates, and documents without a text. runs: the last ones; runs_left_out: how many there
    are before.
    """

    about: About
    counts: Counts
    restored: int = 0
    threshold: float | None = None
    judged: bool = False
    source_gone: bool = False
    near: Drawn = Drawn()
    refused: Drawn = Drawn()
    others: Sequence[DecidedDocument] = ()
    groups: Sequence[Group] = ()
    runs: Sequence[Run] = ()
    runs_left_out: int = 0

    @property
    def first(self) -> list[Layer]:
        """The pairs that tell most, each once, with the stratum that it stands for.

        Those are the nearest ones to the other decision on both sides, one of each other kind, and
        more of the nearest.
        """
        of: dict[Stratum, list[Layer]] = {stratum: [] for stratum in Stratum}
        for layer in self.layers:
            of[layer.stratum] += [replace(layer, pairs=[one]) for one in layer.pairs]
        nearest = _by_turns(of[Stratum.LEAST_SIMILAR], of[Stratum.MOST_SIMILAR])
        kinds = _by_turns(of[Stratum.CLASS], of[Stratum.KEPT_APART], of[Stratum.RICHER])
        chosen, shown = dict[tuple[bytes, bytes], Layer](), set[tuple[Stratum, str]]()
        for one in [*nearest[:4], *kinds, *nearest[4:]]:
            (pair,) = one.pairs
            if pair.keys not in chosen and (one.stratum, one.name) not in shown:
                chosen[pair.keys] = one
                shown |= _kinds(pair)
        return [*chosen.values()][:FIRST]

    @property
    def others_by_stratum(self) -> list[tuple[Stratum, list[Layer]]]:
        """All pairs but the first ones, each once, by stratum."""
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
        """Pairs that may be shown, by stratum, a few of each; some are in several."""
        some = [*self.near.random, *self.near.by_class]
        apart = [*self.refused.random, *self.refused.by_class]
        exact = [one for one in self.others if one.reason == "exact"]
        without_text = [one for one in self.others if not one.of]
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


def _by_turns(*some: Sequence[_Some]) -> list[_Some]:
    turns = chain.from_iterable(zip_longest(*some))
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
