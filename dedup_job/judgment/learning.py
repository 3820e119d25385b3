"""A model for one collection: the one that ships, and what labels of the collection say.

The scores of the model that ships are calibrated anew. With enough labels, further trees are grown
upon them. A guard is switched off if the labels call most of its pairs the same. Both are done only
where cross-validation shows that they help.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.judgment.guards import GUARDS
from dedup_job.judgment.model import Joined, Model, document_of, model_of, shipped_model
from dedup_job.judgment.training import calibration, grow, logistic, nodes_of, sigmoid

LEAST: Final = 20
"""Labels of each class from which trees are grown.

Pairs labelled the same that a guard keeps apart do not count.
"""
FOLDS: Final = 10
_ROUNDS = 150
_GAIN = 0.05  # by which trees lower the loss at least; less may be chance
_PRIOR = 50.0  # labels that the pairs which the shipped model was calibrated on count for
_OFF_FROM, _OFF_SHARE = 20, 2 / 3  # labelled pairs of a guard, and the same ones of them
_SURE = 0.01  # how likely a pair that a guard keeps apart is the same, for a comparison
_WRONG = 0.005  # different pairs that may be joined
_FALLS_FROM = 200  # different pairs from which the confidence may fall
_LOWEST, _STEPS = 0.5, 1000  # of a confidence
_LEFT_OUT = 10_000  # probabilities of each class in a file


class Labels(NamedTuple):
    """n labelled pairs, and what the judge says of them.

    features: float64 (n, f); guards: uint32 (n,), bits for GUARDS; equals: bool (n,), nothing
    differs; same: bool (n,), whether they are labelled the same; groups: int64 (n,), those of
    one number are left out together.
    """

    features: NDArray[np.float64]
    guards: NDArray[np.uint32]
    equals: NDArray[np.bool_]
    same: NDArray[np.bool_]
    groups: NDArray[np.int64]

    def where(self, rows: NDArray[np.bool_]) -> Labels:
        """Return some of them."""
        features, guards, equals, same, groups = self
        return Labels(features[rows], guards[rows], equals[rows], same[rows], groups[rows])

    def kept_apart(self, off: int) -> NDArray[np.bool_]:
        """Tell which are kept apart by a guard that is not switched off, bool (n,)."""
        apart: NDArray[np.bool_] = self.guards & np.uint32(_ALL & ~off) != 0
        return apart


class Figures(NamedTuple):
    """Of labelled pairs, how many are joined at a confidence."""

    confidence: float
    different: Joined
    same: Joined


class Learnt(NamedTuple):
    """What labels led to.

    document: the model's file. grown: trees were added, not only the calibration made anew;
    too_few: there were not enough labels for that. shipped, shipped_best: of the model that ships,
    at the confidence of now and at the best; own: of this model, by cross-validation. off: guards
    that are switched off; refused: labelled the same, and kept apart by this guard all the same.
    """

    document: Mapping[str, Any]
    confidence: float
    grown: bool
    too_few: bool
    shipped: Figures
    shipped_best: Figures
    own: Figures
    off: Sequence[str]
    refused: Mapping[str, int]


def learn(labels: Labels, confidence: float, sources: object, *, grows: bool = True) -> Learnt:
    """Return a model that fits n labels; confidence: of now; grows: LightGBM is there.

    sources: what the file says of the labels.
    """
    file = json.loads(shipped_model())
    shipped = model_of(shipped_model(), "that ships")
    scores, probabilities = shipped.trees.evaluate(np.ascontiguousarray(labels.features).ravel())
    prior = _prior(shipped, file["calibration"])
    tried = [
        _Folds.of(labels, scores, prior, heeds=heeds, grown=grown)
        for heeds in (True, False)[: 1 + bool(_guards_off(labels))]
        for grown in (False, True)[: 1 + (grows and _is_enough(labels, heeds=heeds))]
    ]
    left_out = min(tried, key=lambda one: one.loss(labels) * (1 + _GAIN * (one.prior is None)))
    grown, off = left_out.prior is None, 0 if left_out.heeds else _guards_off(labels)
    nodes = file["trees"]
    if grown:
        slope, shift = _start(labels, scores, off, prior)
        trees = _grown(labels, slope * scores + shift, off)
        nodes = _joined(_moved(nodes, slope, shift), nodes_of(trees))
    reach = np.concatenate([left_out.scores, *([] if grown else [file["calibration"]["scores"]])])
    points = calibration(*left_out.curve(labels), reach)
    by_points = np.interp(left_out.scores, points["scores"], points["probabilities"])
    said = left_out.judged(labels, by_points)
    now = np.where(labels.kept_apart(0), 0, np.where(labels.equals, 1, probabilities))
    dial = _dial(said, labels, confidence)
    own = _figures(said, labels.same, dial)
    before = _figures(now, labels.same, confidence)
    best = _figures(now, labels.same, _dial(now, labels, confidence))
    names = [guard.name for k, guard in enumerate(GUARDS) if off >> k & 1]
    told = {"labels": sources, "same": own.same._asdict(), "different": own.different._asdict()}
    document = document_of(
        {**nodes, **points},
        {
            name: _thinned(np.sort(np.round(said[labels.same == alike], 6))).tolist()
            for name, alike in (("different", False), ("same", True))
        },
        [*file["sources"], {**told, "confidence": dial, "trees": grown}],
        names,
    )
    too_few = not _is_enough(labels, heeds=left_out.heeds)
    return Learnt(document, dial, grown, too_few, before, best, own, names, _refused(labels, off))


class _Folds(NamedTuple):
    """What is said of each labelled pair by a model of the others.

    scores: float64 (n,), log odds or those of the model that ships; apart: bool (n,), kept apart by
    a guard; prior: of a model without trees of its own; heeds: all guards, else those that the
    others do not switch off.
    """

    scores: NDArray[np.float64]
    apart: NDArray[np.bool_]
    prior: _Prior | None
    heeds: bool

    @classmethod
    def of(
        cls,
        labels: Labels,
        shipped: NDArray[np.float64],
        prior: _Prior,
        *,
        heeds: bool,
        grown: bool,
    ) -> _Folds:
        """Leave a part of the labels out after the other."""
        scores, apart = shipped.copy(), np.zeros(len(shipped), dtype=np.bool_)
        for fold in range(FOLDS):
            out = labels.groups % FOLDS == fold
            others = labels.where(~out)
            off = 0 if heeds else _guards_off(others)
            apart[out] = labels.where(out).kept_apart(off)
            if grown and out.any():
                slope, shift = _start(others, shipped[~out], off, prior)
                scores[out] = slope * shipped[out] + shift
            if grown and out.any() and min(_counts(others.same)):
                trees = _grown(others, slope * shipped[~out] + shift, off)
                scores[out] += trees.predict(labels.features[out], raw_score=True)
        return cls(scores, apart, None if grown else prior, heeds)

    def curve(self, labels: Labels) -> tuple[float, float]:
        """Return the calibration."""
        free = ~self.apart & ~labels.equals
        if self.prior is None:
            return logistic(self.scores[free], labels.same[free])
        return logistic(*_with_prior(self.scores[free], labels.same[free], self.prior))

    def judged(self, labels: Labels, said: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probabilities of the scores, but for equal pairs and guards."""
        return np.where(self.apart, 0, np.where(labels.equals, 1, said))

    def loss(self, labels: Labels) -> float:
        """Return the logarithmic loss; a guard counts as much as a probability near 0."""
        free = ~self.apart & ~labels.equals
        slope, shift = logistic(self.scores[free], labels.same[free])  # the same for both kinds
        said = self.judged(labels, sigmoid(slope * self.scores + shift)).clip(_SURE, 1 - _SURE)
        return -float(np.log(np.where(labels.same, said, 1 - said)).sum())


def _start(
    labels: Labels, shipped: NDArray[np.float64], off: int, prior: _Prior
) -> tuple[float, float]:
    """Return the calibration that trees are grown upon."""
    free = ~labels.kept_apart(off) & ~labels.equals
    return logistic(*_with_prior(shipped[free], labels.same[free], prior))


def _grown(labels: Labels, start: NDArray[np.float64], off: int) -> Any:
    """Return trees of all labels but those that no tree could help.

    Different pairs teach what is different whether or not a guard keeps them apart.
    """
    taught = ~labels.equals & ~(labels.kept_apart(off) & labels.same)
    return grow(labels.features[taught], labels.same[taught], _ROUNDS, start[taught])


class _Prior(NamedTuple):
    """Scores of pairs that the model that ships had not seen, and their labels."""

    scores: NDArray[np.float64]
    same: NDArray[np.bool_]


def _prior(model: Model, curve: Mapping[str, Sequence[float]]) -> _Prior:
    """Return the scores behind the probabilities of pairs that no guard keeps apart."""
    said = np.concatenate([model.different, model.same])
    same = np.arange(len(said)) >= len(model.different)
    free = said > 0
    return _Prior(np.interp(said[free], curve["probabilities"], curve["scores"]), same[free])


def _with_prior(
    scores: NDArray[np.float64], same: NDArray[np.bool_], prior: _Prior
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64]]:
    """Return scores, labels and weights of both."""
    each = np.full(len(prior.scores), _PRIOR / max(len(prior.scores), 1))
    return (
        np.concatenate([scores, prior.scores]),
        np.concatenate([same, prior.same]),
        np.concatenate([np.ones(len(scores)), each]),
    )


_ALL = (1 << len(GUARDS)) - 1


def _guards_off(labels: Labels) -> int:
    """Return the guards that labels contradict, as bits; of pairs that no other guard keeps apart.

    Where one is off, another may be the only one of more pairs.
    """
    off = 0
    while True:
        left = labels.guards & np.uint32(_ALL & ~off)
        more = [k for k in range(len(GUARDS)) if _is_contradicted(labels.same[left == 1 << k])]
        if not more:
            return off
        off |= sum(1 << k for k in more)


def _is_enough(labels: Labels, *, heeds: bool) -> bool:
    """Tell whether there are labels enough for trees."""
    off = 0 if heeds else _guards_off(labels)
    taught = ~labels.equals & ~(labels.kept_apart(off) & labels.same)
    return min(_counts(labels.same[taught])) >= LEAST


def _is_contradicted(same: NDArray[np.bool_]) -> bool:
    return len(same) >= _OFF_FROM and float(same.mean()) >= _OFF_SHARE


def _refused(labels: Labels, off: int) -> dict[str, int]:
    """Count the pairs labelled the same by the first guard that keeps them apart."""
    left = (labels.guards & np.uint32(_ALL & ~off))[labels.same]
    counts = {
        guard.name: int(np.count_nonzero((left & -left) == np.uint32(1 << k)))
        for k, guard in enumerate(GUARDS)
    }
    return {name: n for name, n in counts.items() if n}


def _dial(said: NDArray[np.float64], labels: Labels, now: float) -> float:
    """Return the least confidence that joins few of the different pairs.

    It falls only where there are enough of them: of 200 without one that is joined, 1.9 % may be
    wrong all the same (Wilson's interval).
    """
    different = np.sort(said[~labels.same])
    allowed = math.floor(_WRONG * len(different))
    first = different[-1 - allowed] if len(different) > allowed else 0.0
    least = min((math.floor(first * _STEPS) + 1) / _STEPS, 1.0)
    return max(least, _LOWEST if len(different) >= _FALLS_FROM else now)


def _thinned(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return so many values, evenly chosen, that a file has room for them."""
    places = np.linspace(0, len(values) - 1, min(len(values), _LEFT_OUT))
    return np.take(values, places.astype(np.int64))


def _figures(said: NDArray[np.float64], same: NDArray[np.bool_], confidence: float) -> Figures:
    joined = said >= confidence
    different, alike = (Joined(int(joined[s].sum()), int(s.sum())) for s in (~same, same))
    return Figures(confidence, different, alike)


def _counts(same: NDArray[np.bool_]) -> tuple[int, int]:
    return int(np.count_nonzero(same)), int(np.count_nonzero(~same))


def _moved(
    nodes: Mapping[str, Sequence[float]], slope: float, shift: float
) -> dict[str, list[float]]:
    """Return trees with another scale and a leaf that adds the shift."""
    scaled: dict[str, Sequence[float]] = {
        **nodes,
        "value": [slope * value for value in nodes["value"]],
    }
    leaf: dict[str, Sequence[float]] = {
        "feature": [-1], "threshold": [0.0], "left": [0], "right": [0], "value": [shift],
        "roots": [0],
    }  # fmt: skip
    return _joined(scaled, leaf)


def _joined(
    one: Mapping[str, Sequence[float]], more: Mapping[str, Sequence[float]]
) -> dict[str, list[float]]:
    """Return the trees of both."""
    behind, inner = len(one["feature"]), [feature >= 0 for feature in more["feature"]]
    places = {
        name: [place + behind * is_inner for place, is_inner in zip(more[name], inner, strict=True)]
        for name in ("left", "right")
    }
    roots = [root + behind for root in more["roots"]]
    later: dict[str, Sequence[float]] = {**more, **places, "roots": roots}
    return {name: [*one[name], *later[name]] for name in one}
