"""The model of the judge: a file of JSON, read and checked, and fitted to labels.

format, version   constants
features          names, in the order of the rows that the trees weigh
kinds             a model for each kind of text, with:
trees             feature, threshold, left, right, value: by node, of all trees; a leaf has the
                  feature -1; others lead left if the feature is at most the threshold, always
                  to a later node; roots: the first node of each tree
calibration       scores: sums of the values of leaves, ascending; probabilities: of these, linear
                  in between
left_out          probabilities of labelled pairs by models of other banks, of different and same
                  pairs, ascending; 0 for a pair with a guard
guards_off        guards that this model does not heed; none if absent
sources           the training data

The model of a collection is the one that ships, calibrated on labels of the collection. A guard is
switched off if most of its pairs are labelled the same, and if cross-validation shows a gain.
"""

import json
import math
from collections.abc import Mapping, Sequence
from enum import StrEnum
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from dedup_job import _core
from dedup_job.files import limited_text
from dedup_job.judgment.features import GUARDS
from dedup_job.messages import ConfigurationError, Message

FORMAT: Final = "judge of dedup"
VERSION: Final = 2
KINDS: Final = _core.TEXT_KINDS
"""The kinds of text, by code."""
FEATURE_NAMES: Final = [name for name, _ in _core.FEATURES]
"""The names of the features of a pair, in the order of the core."""
MOST_BYTES: Final = 1 << 20
_PARTS: Final[Mapping[str, Mapping[str, type]]] = {  # arrays of a kind's parts
    "trees": {
        "feature": np.int32, "threshold": np.float64, "left": np.int32, "right": np.int32,
        "value": np.float64, "roots": np.int32,
    },
    "calibration": {"scores": np.float64, "probabilities": np.float64},
    "left_out": {"different": np.float64, "same": np.float64},
}  # fmt: skip
FOLDS: Final = 10
POINTS: Final = 65
"""Points of a calibration."""
_BEYOND = 2.0  # how far a calibration reaches beyond the scores
_STEPS, _LONGEST, _RIDGE = 50, 2.0, 1e-9  # of Newton's method
_PRIOR = 50.0  # weight of the pairs of the shipped calibration, in labels
_OFF_FROM, _OFF_SHARE = 20, 2 / 3  # least labelled pairs of a guard; least share of same ones
_SURE = 0.01  # probability of a pair with a guard, in the loss
_WRONG = 0.005  # share of the different pairs that may be joined
_FALLS_FROM = 200  # different pairs from which on the confidence may fall
_LOWEST, _PER_CONFIDENCE = 0.5, 1000  # the least confidence, and its steps per 1
_LEFT_OUT = 10_000  # probabilities of each class in a file
_ALL = (1 << len(GUARDS)) - 1


class TextKind(StrEnum):
    """The kinds of text, by code; auto: inferred from the texts."""

    vars().update({name.upper(): name for name in KINDS})
    AUTO = "auto"


class JoinedCount(NamedTuple):
    """The number of labelled pairs that are joined, and of all."""

    joined: int
    of: int


class KindModel(NamedTuple):
    """The model of a kind of text: trees with calibration, see `_core.evaluate`.

    different, same: probabilities of labelled pairs that it had not seen, float64 (n,), ascending.
    """

    trees: Mapping[str, NDArray[Any]]
    different: NDArray[np.float64]
    same: NDArray[np.float64]


class Model(NamedTuple):
    """The models by kind of text, in the order of KINDS, and the guards that are switched off."""

    kinds: tuple[KindModel, ...]
    guards_off: tuple[str, ...] = ()

    def evaluate(
        self, features: NDArray[np.float64], kinds: NDArray[np.uint8]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return scores and probabilities of n pairs, float64 (n,), by features, float64 (n, f)."""
        scores, probabilities = np.zeros((2, len(kinds)))
        for code, kind in enumerate(self.kinds):
            own = kinds == code
            rows = np.ascontiguousarray(features[own]).ravel()
            scores[own], probabilities[own], _ = _core.evaluate(kind.trees, rows)
        return scores, probabilities


def shipped_model() -> str:
    """Return the text of the model file that ships."""
    return files("dedup_job.judgment").joinpath("model.json").read_text("utf-8")


def load_model(path: Path | None) -> Model:
    """Return the model of a file, None for the one that ships; raises ConfigurationError."""
    if path is None:
        return model_of(shipped_model(), Message("that ships"))
    if path.exists() and not path.is_file():
        _refuse(path, Message("it is not a regular file"))
    return model_of(limited_text(path, MOST_BYTES), path)


def model_of(text: str, path: Path | str) -> Model:
    """Return the model of the text of a file; raises ConfigurationError, which names `path`."""
    try:
        document = json.loads(text, parse_constant=int)  # which refuses NaN
    except (ValueError, RecursionError):
        _refuse(path, Message("it is no JSON, or cut off"))
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        _refuse(path, Message("it is no model of the judge"))
    if document.get("version") != VERSION:
        _refuse(
            path,
            Message(
                "it is of version {version:.20}, not {expected}: train anew",
                version=str(document.get("version")),
                expected=VERSION,
            ),
        )
    if document.get("features") != FEATURE_NAMES:
        _refuse(path, Message("it weighs other features than this version of dedup: train anew"))
    try:
        kinds = tuple(_parsed_kind(document["kinds"][name]) for name in KINDS)
        off = tuple(map(str, document.get("guards_off", [])))
    except (KeyError, TypeError, ValueError, OverflowError):
        _refuse(path, Message("it is damaged"))
    if not {*off} <= {*GUARDS}:
        _refuse(path, Message("it is damaged"))
    return Model(kinds, off)


def _parsed_kind(document: Mapping[str, Mapping[str, Any]]) -> KindModel:
    parts = {part: _arrays(document[part], kinds) for part, kinds in _PARTS.items()}
    for values in parts["left_out"].values():
        if np.any(np.diff(values) < 0) or np.any((values < 0) | (values > 1)):
            raise ValueError
    trees = parts["trees"] | parts["calibration"]
    _core.evaluate(trees, np.empty(0))  # raises ValueError if damaged
    return KindModel(trees, **parts["left_out"])


def _arrays(part: Mapping[str, Any], kinds: Mapping[str, type]) -> dict[str, Any]:
    for name, kind in kinds.items():
        types = (int,) if kind is np.int32 else (int, float)
        if not all(type(value) in types for value in part[name]):
            raise ValueError
    return {name: np.array(part[name], dtype=kind) for name, kind in kinds.items()}


def kind_json(arrays: Mapping[str, Sequence[float]]) -> dict[str, dict[str, list[float]]]:
    """Return the entry of a kind in a file; arrays: of trees, calibration and left_out by name."""
    return {part: {name: list(arrays[name]) for name in names} for part, names in _PARTS.items()}


def model_json(
    kinds: Mapping[str, object], sources: object, guards_off: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the JSON document of a file; kinds: the `kind_json` of each."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "sources": sources,
        "features": FEATURE_NAMES,
        "kinds": {name: kinds[name] for name in KINDS},
        "guards_off": list(guards_off),
    }


def _refuse(path: Path | str, why: str) -> NoReturn:
    wrong = Message("the model {file} cannot be used: {why}", file=path, why=why)
    raise ConfigurationError([wrong]) from None


class Labels(NamedTuple):
    """n labelled pairs.

    found: PAIR_FEATURES (n,); same: bool (n,), the labels; groups: int64 (n,), pairs with the same
    number are in the same fold of a cross-validation.
    """

    found: NDArray[np.void]
    same: NDArray[np.bool_]
    groups: NDArray[np.int64]

    def take(self, rows: NDArray[np.bool_]) -> "Labels":
        """Return the labels of some rows."""
        return Labels(self.found[rows], self.same[rows], self.groups[rows])

    def have_guard(self, off: int) -> NDArray[np.bool_]:
        """Return whether a guard holds for each pair, bool (n,); off: bits of ignored guards."""
        return np.asarray(self.found["guards"] & np.uint32(_ALL & ~off) != 0)

    def judged(self, probabilities: NDArray[np.float64], off: int) -> NDArray[np.float64]:
        """Return the probabilities, set to 0 by guards and to 1 for equal pairs, float64 (n,)."""
        return np.where(self.have_guard(off), 0, np.where(self.found["equal"], 1, probabilities))


class JoinedByLabel(NamedTuple):
    """The labelled pairs that are joined at a confidence, by label."""

    confidence: float
    different: JoinedCount
    same: JoinedCount


class FittedModel(NamedTuple):
    """A model that was fitted to labels.

    document: the model file. shipped, shipped_best: of the model that ships, at the present
    confidence and at the best one; own: of this model, by cross-validation. off: guards that are
    switched off; refused: pairs labelled the same that another guard keeps apart, by guard.
    """

    document: Mapping[str, Any]
    confidence: float
    shipped: JoinedByLabel
    shipped_best: JoinedByLabel
    own: JoinedByLabel
    off: Sequence[str]
    refused: Mapping[str, int]


def learn(labels: Labels, confidence: float, sources: object) -> FittedModel:
    """Return the shipped model calibrated on n labels.

    confidence: the present setting; sources: description of the labels, for the file.
    """
    file = json.loads(shipped_model())
    shipped = model_of(shipped_model(), "that ships")
    scores, probabilities = shipped.evaluate(labels.found["features"], labels.found["kind"])
    priors = [
        _prior(kind, file["kinds"][name]["calibration"])
        for name, kind in zip(KINDS, shipped.kinds, strict=True)
    ]
    tried = [_out_of_fold(labels, scores, priors, heeds=True)]
    if off := _guards_off(labels):
        tried.append(_out_of_fold(labels, scores, priors, heeds=False))
    left_out = min(tried, key=lambda found: _loss(labels, found))
    off = 0 if left_out is tried[0] else off
    now = labels.judged(probabilities, 0)
    best = _best_confidence(left_out, labels, confidence)
    own = _figures(left_out, labels.same, best)
    names = [guard for k, guard in enumerate(GUARDS) if off >> k & 1]
    source = {"labels": sources, "same": own.same._asdict(), "different": own.different._asdict()}
    parts = {}
    for code, (name, prior) in enumerate(zip(KINDS, priors, strict=True)):
        chosen, trees = labels.found["kind"] == code, file["kinds"][name]["trees"]
        curve = _curve(labels.take(chosen), scores[chosen], off, prior)
        reach = np.concatenate([scores[chosen], file["kinds"][name]["calibration"]["scores"]])
        by_label = {
            side: _thinned(np.sort(np.round(left_out[chosen & (labels.same == alike)], 6))).tolist()
            for side, alike in (("different", False), ("same", True))
        }
        parts[name] = kind_json({**trees, **calibration(*curve, reach), **by_label})
    document = model_json(parts, [*file["sources"], {**source, "confidence": best}], names)
    return FittedModel(
        document,
        best,
        _figures(now, labels.same, confidence),
        _figures(now, labels.same, _best_confidence(now, labels, confidence)),
        own,
        names,
        _refused(labels, off),
    )


_Prior = tuple[NDArray[np.float64], NDArray[np.bool_]]  # scores; labels, True for the same


def _prior(model: KindModel, curve: Mapping[str, Sequence[float]]) -> _Prior:
    likely = np.concatenate([model.different, model.same])
    same = np.arange(len(likely)) >= len(model.different)
    free = likely > 0
    return np.interp(likely[free], curve["probabilities"], curve["scores"]), same[free]


def _out_of_fold(
    labels: Labels, scores: NDArray[np.float64], priors: Sequence[_Prior], *, heeds: bool
) -> NDArray[np.float64]:
    found = np.zeros(len(scores))
    for fold in range(FOLDS):
        out = labels.groups % FOLDS == fold
        off = 0 if heeds else _guards_off(labels.take(~out))
        for code, prior in enumerate(priors):
            own = out & (labels.found["kind"] == code)
            rest = ~out & (labels.found["kind"] == code)
            slope, shift = _curve(labels.take(rest), scores[rest], off, prior)
            found[own] = labels.take(own).judged(sigmoid(slope * scores[own] + shift), off)
    return found


def _curve(
    labels: Labels, scores: NDArray[np.float64], off: int, prior: _Prior
) -> tuple[float, float]:
    free = ~labels.have_guard(off) & ~labels.found["equal"]
    known, alike = prior
    each = np.full(len(known), _PRIOR / max(len(known), 1))
    return logistic_fit(
        np.concatenate([scores[free], known]),
        np.concatenate([labels.same[free], alike]),
        np.concatenate([np.ones(int(free.sum())), each]),
    )


def _loss(labels: Labels, likely: NDArray[np.float64]) -> float:
    clipped = likely.clip(_SURE, 1 - _SURE)
    return -float(np.log(np.where(labels.same, clipped, 1 - clipped)).sum())


def _guards_off(labels: Labels) -> int:
    off = 0
    while True:
        guards = labels.found["guards"] & np.uint32(_ALL & ~off)
        own = {k: labels.same[guards == 1 << k] for k in range(len(GUARDS))}
        more = [k for k, s in own.items() if len(s) >= _OFF_FROM and s.mean() >= _OFF_SHARE]
        if not more:
            return off
        off |= sum(1 << k for k in more)


def _refused(labels: Labels, off: int) -> dict[str, int]:
    guards = (labels.found["guards"] & np.uint32(_ALL & ~off))[labels.same]
    counts = {
        guard: int(np.count_nonzero((guards & -guards) == np.uint32(1 << k)))
        for k, guard in enumerate(GUARDS)
    }
    return {name: n for name, n in counts.items() if n}


def _best_confidence(likely: NDArray[np.float64], labels: Labels, now: float) -> float:
    """Return the least confidence that joins few of the different pairs.

    It falls below `now` only with many of them: if none of 200 is joined, up to 1.9 % may be wrong
    (Wilson's interval).
    """
    different = np.sort(likely[~labels.same])
    allowed = math.floor(_WRONG * len(different))
    first = different[-1 - allowed] if len(different) > allowed else 0.0
    least = min((math.floor(first * _PER_CONFIDENCE) + 1) / _PER_CONFIDENCE, 1.0)
    return max(least, _LOWEST if len(different) >= _FALLS_FROM else now)


def _thinned(values: NDArray[np.float64]) -> NDArray[np.float64]:
    chosen = np.linspace(0, len(values) - 1, min(len(values), _LEFT_OUT))
    return np.take(values, chosen.astype(np.int64))


def _figures(
    likely: NDArray[np.float64], same: NDArray[np.bool_], confidence: float
) -> JoinedByLabel:
    joined = likely >= confidence
    different, alike = (JoinedCount(int(joined[s].sum()), int(s.sum())) for s in (~same, same))
    return JoinedByLabel(confidence, different, alike)


def logistic_fit(
    scores: NDArray[np.float64],
    same: NDArray[np.bool_],
    weights: NDArray[np.float64] | None = None,
) -> tuple[float, float]:
    """Return slope, at least 0, and shift of the logistic curve of n scores (Platt 1999)."""
    weighed = np.ones(len(scores)) if weights is None else weights
    alike, unlike = float(weighed[same].sum()), float(weighed[~same].sum())
    target = np.where(same, (alike + 1) / (alike + 2), 1 / (unlike + 2))
    design = np.stack([scores, np.ones_like(scores)], axis=1)
    found = np.zeros(2)
    for _ in range(_STEPS):
        p = sigmoid(design @ found)
        hessian = design.T @ (design * (weighed * p * (1 - p))[:, None]) + _RIDGE * np.eye(2)
        step = np.linalg.solve(hessian, design.T @ (weighed * (target - p)))
        found += np.clip(step, -_LONGEST, _LONGEST)
    return max(float(found[0]), 0.0), float(found[1])


def calibration(slope: float, shift: float, scores: NDArray[np.float64]) -> dict[str, list[float]]:
    """Return the `calibration` of a model file for a logistic curve over the range of scores."""
    ends = float(scores.min()) - _BEYOND, float(scores.max()) + _BEYOND
    points: NDArray[np.float64] = np.linspace(*ends, POINTS).round(6)
    return {
        "scores": points.tolist(),
        "probabilities": [round(p, 6) for p in sigmoid(slope * points + shift).tolist()],
    }


def sigmoid(log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probabilities of log odds."""
    return 1 / (1 + np.exp(-np.clip(log_odds, -500, 500)))
