"""Distinct features -> the heaviest, weighed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.fingerprint.features import Features
from dedup_job.fingerprint.lexicon import STOP_WORD
from dedup_job.native.jit import inlined, inner, native

TFIDF, LEVELS, UNIFORM = 0, 1, 2
_LEVELS = 5
_SORTED_WHOLE = 64  # above so many features a sort is cheaper than insertion


@inlined
def choose(found: int, room: Features, top_k: int, weighting: int) -> int:
    """Weigh the features and choose the heaviest; return how many.

    TF-IDF as in `jieba.analyse.extract_tags`: count * (idf / number of all tokens counted), ties
    in order of first appearance; where all are chosen and weigh the same, that order alone.
    LEVELS cuts a weight to five classes by its share of the largest, UNIFORM gives all that were
    chosen the same weight.
    """
    frequency, idf, weight, order = room.frequency, room.idf, room.weight, room.order
    total = 0.0
    for i in range(found):
        if idf[i] != STOP_WORD:
            total += frequency[i]
    rated = int(np.int64(0))  # not a literal, which would be a type of its own
    for i in range(found):
        if idf[i] != STOP_WORD:
            weight[i] = frequency[i] * (idf[i] / total)
            order[rated] = i
            rated += 1
    chosen = rated if top_k == 0 or rated < top_k else top_k
    if chosen == rated and weighting == UNIFORM:
        pass  # all of them with the same weight: the order is of no account
    elif chosen > _SORTED_WHOLE:
        _sort_by_weight(weight, order, rated)
    else:
        _keep_heaviest(weight, order, rated, chosen)
    if weighting != TFIDF and chosen > 0:
        largest = weight[order[0]]
        for i in range(chosen):
            share = weight[order[i]] / largest
            weight[order[i]] = max(np.ceil(_LEVELS * share), 1.0) if weighting == LEVELS else 1.0
    return chosen


@inner
def _keep_heaviest(
    weight: NDArray[np.float64], order: NDArray[np.int64], rated: int, chosen: int
) -> None:
    """Bring the heaviest to the front of order by insertion, stable."""
    for i in range(rated):
        feature = order[i]
        w = weight[feature]
        if i < chosen:
            place = i
        elif w > weight[order[chosen - 1]]:
            place = chosen - 1
        else:
            continue
        while place > 0 and weight[order[place - 1]] < w:
            order[place] = order[place - 1]
            place -= 1
        order[place] = feature


@native
def _sort_by_weight(weight: NDArray[np.float64], order: NDArray[np.int64], rated: int) -> None:
    """Sort all by weight, the heaviest first, stable."""
    features, keys = np.empty(rated, dtype=np.int64), np.empty(rated, dtype=np.float64)
    for i in range(rated):
        features[i], keys[i] = order[i], -weight[order[i]]
    by_weight = np.argsort(keys, kind="mergesort")
    for i in range(rated):
        order[i] = features[by_weight[i]]
