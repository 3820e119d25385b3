"""What makes a model: trees, and the calibration of their scores.

LightGBM, of the extra `learn`, is loaded only where trees are grown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dedup_job import _core
from dedup_job.judgment.model import feature_names

ROUNDS: Final = 200
POINTS: Final = 65
"""Of a calibration."""
_PARAMETERS: Final[Mapping[str, Any]] = {
    "objective": "binary", "num_leaves": 8, "learning_rate": 0.05, "min_data_in_leaf": 8,
    "feature_fraction": 0.25, "bagging_fraction": 0.8, "bagging_freq": 1, "lambda_l2": 5,
    "deterministic": True, "force_row_wise": True, "num_threads": 1, "seed": 1, "verbose": -1,
}  # fmt: skip
_OF_DIFFERENT = 2.0  # weight of a different pair: few of them decide the confidence
_STEPS, _LONGEST, _RIDGE = 50, 2.0, 1e-9  # of Newton's method
_BEYOND = 2.0  # how far a calibration reaches beyond the scores


def grow(
    features: NDArray[np.float64],
    same: NDArray[np.bool_],
    rounds: int = ROUNDS,
    start: NDArray[np.float64] | None = None,
) -> Any:
    """Return LightGBM's trees of n labelled pairs, float64 (n, f) and bool (n,).

    start: scores that the trees add to, float64 (n,), as log odds. Such trees may contradict what
    a feature says elsewhere: labels of one collection have a policy of their own.
    """
    import lightgbm  # here: an extra

    data = lightgbm.Dataset(
        features, same.astype(int), feature_name=feature_names(), init_score=start
    )
    own: dict[str, Any] = {"num_leaves": 4, "min_data_in_leaf": 5}
    if start is None:
        own = {"monotone_constraints": [rises for _, rises in _core.FEATURES]}
        data.set_weight(np.where(same, 1.0, _OF_DIFFERENT))
    return lightgbm.train({**_PARAMETERS, **own}, data, rounds)


def nodes_of(trees: Any) -> dict[str, list[float]]:
    """Return the nodes of LightGBM's trees as a model holds them; inner ones have their mean."""
    names = ("feature", "threshold", "left", "right", "value", "roots")
    nodes: dict[str, list[float]] = {name: [] for name in names}

    def add(node: Mapping[str, Any]) -> int:
        place = len(nodes["feature"])
        leaf = "leaf_value" in node
        if not leaf and node["decision_type"] != "<=":
            raise ValueError(f"a split by {node['decision_type']}, not by <=")
        nodes["feature"].append(-1 if leaf else node["split_feature"])
        nodes["threshold"].append(0.0 if leaf else _rounded_up(node["threshold"]))
        nodes["value"].append(_short(node["leaf_value" if leaf else "internal_value"]))
        nodes["left"].append(0)
        nodes["right"].append(0)
        if not leaf:
            nodes["left"][place] = add(node["left_child"])
            nodes["right"][place] = add(node["right_child"])
        return place

    for tree in trees.dump_model()["tree_info"]:
        nodes["roots"].append(add(tree["tree_structure"]))
    return nodes


def _short(value: float) -> float:
    """Return a number in nine digits."""
    return float(f"{value:.9g}")


def _rounded_up(threshold: float) -> float:
    """Return a threshold in nine digits, so that what was at most the threshold still is."""
    short = _short(threshold)
    return short if short >= threshold else _short(threshold + abs(threshold) * 1e-8)


def logistic(
    scores: NDArray[np.float64],
    same: NDArray[np.bool_],
    weights: NDArray[np.float64] | None = None,
) -> tuple[float, float]:
    """Return slope and shift of the logistic curve of n scores (Platt 1999); it never falls."""
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
    """Return points of a logistic curve as a model holds them, over the range of the scores."""
    ends = float(scores.min()) - _BEYOND, float(scores.max()) + _BEYOND
    points: NDArray[np.float64] = np.linspace(*ends, POINTS).round(6)
    return {
        "scores": points.tolist(),
        "probabilities": [round(p, 6) for p in sigmoid(slope * points + shift).tolist()],
    }


def sigmoid(log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return probabilities."""
    return 1 / (1 + np.exp(-np.clip(log_odds, -500, 500)))
