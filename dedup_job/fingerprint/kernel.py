"""Fingerprints of a batch of texts: features weighed and chosen, simhash."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.fingerprint.features import (
    Features,
    Options,
    count_ngrams,
    count_words,
    make_features,
)
from dedup_job.fingerprint.lexicon import LETTER, SEPARATOR, STOP_WORD, Lexicon
from dedup_job.fingerprint.segmentation import Segments, make_segments, segment
from dedup_job.fingerprint.trie import PLANE
from dedup_job.native.code_points import text_of
from dedup_job.native.hashing import hash_points
from dedup_job.native.jit import inlined, inner, jit_no_refcount, native


@inlined
def add_token(sums: NDArray[np.float64], token: np.uint64, weight: float) -> None:
    """Add a token's hash to the 64 sums: its weight where a bit is set, else less its weight."""
    for bit in range(64):
        one = (token >> np.uint64(bit)) & np.uint64(1)
        sums[bit] += weight if one else -weight


@inlined
def bits_of(sums: NDArray[np.float64]) -> np.uint64:
    """Return the fingerprint: a bit is set where the sum is positive."""
    value = np.uint64(0)
    for bit in range(64):
        if sums[bit] > 0.0:
            value |= np.uint64(1) << np.uint64(bit)
    return value


@native
def simhash(
    hashes: NDArray[np.uint64], weights: NDArray[np.float64], offsets: NDArray[np.int64]
) -> NDArray[np.uint64]:
    """Fingerprint n documents of which the token hashes are known.

    hashes: uint64 (t,), token hashes of all documents, one after the other.
    weights: float64 (t,), their weights.
    offsets: int64 (n + 1,), document i owns tokens offsets[i]:offsets[i + 1].
    Returns uint64 (n,). The additions run in token order, so ties do not depend on the machine.
    """
    n = offsets.shape[0] - 1
    values = np.zeros(n, dtype=np.uint64)
    sums = np.empty(64, dtype=np.float64)
    for i in range(n):
        sums[:] = 0.0
        for t in range(offsets[i], offsets[i + 1]):
            add_token(sums, hashes[t], weights[t])
        values[i] = bits_of(sums)
    return values


def hamming(a: int, b: int) -> int:
    """Return the number of bits in which two fingerprints differ (0-64)."""
    return (a ^ b).bit_count()


TFIDF, LEVELS, UNIFORM = 0, 1, 2
_LEVELS = 5
_MIN_NGRAMS = 16  # below, one changed character moves too many bits: minhash finds such a text
_SORTED_WHOLE = 64  # above so many features a sort is cheaper than insertion


@inlined
def choose(found: int, features: Features, top_k: int, weighting: int) -> int:
    """Weigh the features and choose the heaviest; return how many.

    TF-IDF as in `jieba.analyse.extract_tags`: count * (idf / number of all tokens counted), ties
    in order of first appearance; where all are chosen and weigh the same, that order alone.
    LEVELS cuts a weight to five classes by its share of the largest, UNIFORM gives all that were
    chosen the same weight.
    """
    frequency, idf = features.frequency, features.idf
    weight, order = features.weight, features.order
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


class Route(StrEnum):
    """What a fingerprint is made of."""

    WORDS = "words"
    NGRAMS = "n-grams"
    WHOLE = "whole text"


ROUTES = tuple(Route)
WORDS, NGRAMS, WHOLE = range(len(ROUTES))


class Scratch(NamedTuple):
    """Buffers for one text after the other; they hold what the last one was made of."""

    segments: Segments
    features: Features
    packed: NDArray[np.uint32]
    sums: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a text has its fingerprint: its tokens, the route, and the features with weights."""

    tokens: tuple[str, ...]
    route: Route
    features: tuple[tuple[str, float], ...]


def fingerprint_batch(
    lexicon: Lexicon, points: NDArray[np.uint32], offsets: NDArray[np.int64], options: Options
) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
    """Fingerprint n texts.

    points: uint32 (p,), the code points of all texts, one after the other.
    offsets: int64 (n + 1,), text i is points[offsets[i]:offsets[i + 1]].
    Returns uint64 (n,) fingerprints and uint8 (n,) routes: WORDS, NGRAMS, or WHOLE with value 0.
    """
    n = offsets.shape[0] - 1
    values, routes = np.zeros(n, dtype=np.uint64), np.zeros(n, dtype=np.uint8)
    scratch = _make_scratch(int(np.diff(offsets).max(initial=0)))
    _fingerprint_all(lexicon, points, offsets, options, scratch, values, routes)
    return values, routes


def explain(lexicon: Lexicon, points: NDArray[np.uint32], options: Options) -> Explanation:
    """Return what the fingerprint of one text is made of, the heaviest features first."""
    values, routes = np.zeros(1, dtype=np.uint64), np.zeros(1, dtype=np.uint8)
    scratch, offsets = _make_scratch(len(points)), np.array([0, len(points)])
    tokens, chosen = _fingerprint_all(lexicon, points, offsets, options, scratch, values, routes)
    features, order = scratch.features, scratch.features.order[:chosen]
    source = scratch.packed if routes[0] == NGRAMS else points
    spans = zip(features.start[order], features.stop[order], strict=True)
    words = (text_of(source[start:stop]) for start, stop in spans)
    return Explanation(
        tuple(text_of(points[a:b]) for a, b in pairwise(scratch.segments.starts[: tokens + 1])),
        ROUTES[routes[0]],
        tuple(zip(words, features.weight[order].tolist(), strict=True)),
    )


def _make_scratch(longest: int) -> Scratch:
    """Return buffers for texts of up to so many characters."""
    packed = np.empty(longest, dtype=np.uint32)
    return Scratch(make_segments(longest), make_features(longest), packed, np.empty(64))


@jit_no_refcount
def _fingerprint_all(
    lexicon: Lexicon,
    points: NDArray[np.uint32],
    offsets: NDArray[np.int64],
    options: Options,
    scratch: Scratch,
    values: NDArray[np.uint64],
    routes: NDArray[np.uint8],
) -> tuple[int, int]:
    """Write fingerprints and routes; return the tokens and chosen features of the last text.

    One function for many texts and for one, because it takes so long to compile.
    """
    tokens = chosen = 0
    for i in range(values.shape[0]):
        start, stop = offsets[i], offsets[i + 1]
        tokens = segment(lexicon, points, start, stop, scratch.segments)
        routes[i], chosen = choose_features(lexicon, points, start, stop, options, scratch, tokens)
        if routes[i] == WHOLE:
            continue
        source = points if routes[i] == WORDS else scratch.packed
        values[i] = _sum_up(lexicon.nodes, source, chosen, options.hash_kind, scratch)
    return tokens, chosen


@inlined
def choose_features(
    lexicon: Lexicon,
    points: NDArray[np.uint32],
    start: int,
    stop: int,
    options: Options,
    scratch: Scratch,
    tokens: int,
) -> tuple[int, int]:
    """Choose the features of one segmented text; return its route and how many they are.

    Words where there are enough and jieba segments most of the text; else character n-grams
    where there are enough; else none, and the text stands for itself.
    """
    features = scratch.features
    found = count_words(lexicon, points, tokens, scratch.segments, options, features)
    chosen = choose(found, features, options.top_k, options.weighting)
    if options.ngram == 0:
        return (WORDS if chosen >= options.min_features else WHOLE), chosen
    if chosen >= options.min_features and _is_jiebas(lexicon.classes, points, start, stop):
        return WORDS, chosen
    found = count_ngrams(points, start, stop, options.ngram, scratch.packed, features)
    if found < _MIN_NGRAMS:
        return WHOLE, 0
    for i in range(found):
        features.order[i], features.weight[i] = i, features.frequency[i]
    return NGRAMS, found


@inlined
def _is_jiebas(
    classes: NDArray[np.uint8], points: NDArray[np.uint32], start: int, stop: int
) -> bool:
    """Tell whether at least half of the letters are of scripts that jieba segments.

    Without branches on what a character is: the processor foretells that badly.
    """
    inside = outside = 0
    for i in range(start, stop):
        kind = classes[points[i]] if points[i] < PLANE else np.uint8(LETTER)
        outside += kind == LETTER
        inside += (kind != LETTER) & (kind != SEPARATOR)
    return inside >= outside


@inlined
def _sum_up(
    nodes: NDArray[np.void],
    points: NDArray[np.uint32],
    chosen: int,
    hash_kind: int,
    scratch: Scratch,
) -> np.uint64:
    of = scratch.features
    scratch.sums[:] = 0.0
    for i in range(chosen):
        f = of.order[i]
        node = of.node[f]
        token = nodes[node].token if node >= 0 else np.uint64(0)
        if token == 0:  # no word of the lists
            token = hash_points(points, of.start[f], of.stop[f], hash_kind, of.bytes)
        add_token(scratch.sums, token, of.weight[f])
    return bits_of(scratch.sums)
