"""A batch of texts in, fingerprints out: segmentation, weights and simhash in one pass."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.compiled import inlined, native
from dedup_job.fingerprint.features import (
    Features,
    Options,
    count_ngrams,
    count_words,
    make_features,
)
from dedup_job.fingerprint.hashing import hash_points
from dedup_job.fingerprint.lexicon import LETTER, SEPARATOR, Lexicon
from dedup_job.fingerprint.segmentation import Scratch, make_scratch, segment
from dedup_job.fingerprint.selection import choose
from dedup_job.fingerprint.simhash import add_token, bits_of
from dedup_job.fingerprint.trie import PLANE

WORDS, NGRAMS, WHOLE = 0, 1, 2


@native
def fingerprint_batch(
    lexicon: Lexicon, points: NDArray[np.uint32], offsets: NDArray[np.int64], options: Options
) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
    """Fingerprint n texts.

    points: uint32 (p,), the code points of all texts, one after the other.
    offsets: int64 (n + 1,), text i is points[offsets[i]:offsets[i + 1]].
    Returns uint64 (n,) fingerprints and uint8 (n,) routes: WORDS, NGRAMS, or WHOLE with value 0.
    """
    n = offsets.shape[0] - 1
    longest = 0
    for i in range(n):
        longest = max(longest, offsets[i + 1] - offsets[i])
    scratch, room = make_scratch(longest), make_features(longest)
    packed = np.empty(longest, dtype=np.uint32)
    sums = np.empty(64, dtype=np.float64)
    values = np.zeros(n, dtype=np.uint64)
    routes = np.zeros(n, dtype=np.uint8)
    for i in range(n):
        route, chosen = find_features(
            lexicon, points, offsets[i], offsets[i + 1], options, scratch, room, packed
        )
        routes[i] = route
        if route == WHOLE:
            continue
        source = points if route == WORDS else packed
        values[i] = _sum_up(lexicon.nodes, source, chosen, options.hash_kind, room, sums)
    return values, routes


@inlined
def find_features(
    lexicon: Lexicon,
    points: NDArray[np.uint32],
    start: int,
    stop: int,
    options: Options,
    scratch: Scratch,
    room: Features,
    packed: NDArray[np.uint32],
) -> tuple[int, int]:
    """Find the features of one text; return its route and how many were chosen.

    Words where there are enough and jieba segments most of the text; else character n-grams
    where there are enough; else none, and the text stands for itself.
    """
    tokens = segment(lexicon, points, start, stop, scratch)
    found = count_words(lexicon, points, tokens, scratch, options, room)
    chosen = choose(found, room, options.top_k, options.weighting)
    if options.ngram == 0:
        return (WORDS if chosen >= options.min_features else WHOLE), chosen
    if chosen >= options.min_features and _is_jiebas(lexicon.classes, points, start, stop):
        return WORDS, chosen
    n = options.ngram
    found = count_ngrams(points, start, stop, n, packed, room)
    if found < options.min_ngrams:
        return WHOLE, 0
    for i in range(found):
        room.order[i], room.weight[i] = i, room.frequency[i]
    return NGRAMS, found


@inlined
def _is_jiebas(
    classes: NDArray[np.uint8], points: NDArray[np.uint32], start: int, stop: int
) -> bool:
    """Tell whether at least half of the letters are of scripts that jieba segments."""
    inside = outside = 0
    for i in range(start, stop):
        p = points[i]
        if p >= PLANE or classes[p] == LETTER:
            outside += 1
        elif classes[p] != SEPARATOR:
            inside += 1
    return inside >= outside


@inlined
def _sum_up(
    nodes: NDArray[np.void],
    points: NDArray[np.uint32],
    chosen: int,
    hash_kind: int,
    room: Features,
    sums: NDArray[np.float64],
) -> np.uint64:
    order, start, stop, node, weight = room.order, room.start, room.stop, room.node, room.weight
    sums[:] = 0.0
    for i in range(chosen):
        f = order[i]
        token = nodes[node[f]].token if node[f] >= 0 else np.uint64(0)
        if token == 0:  # no word of the lists
            token = hash_points(points, start[f], stop[f], hash_kind, room.bytes)
        add_token(sums, token, weight[f])
    return bits_of(sums)


@native
def features_of(
    lexicon: Lexicon, points: NDArray[np.uint32], options: Options
) -> tuple[int, NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.uint32]]:
    """Return route, places and weights of one text's features, and the points they refer to."""
    n = points.shape[0]
    scratch, room = make_scratch(n), make_features(n)
    packed = np.empty(n, dtype=np.uint32)
    route, chosen = find_features(lexicon, points, 0, n, options, scratch, room, packed)
    order = room.order[:chosen]
    source = packed if route == NGRAMS else points
    return route, room.start[order], room.stop[order], room.weight[order], source


@native
def tokens_of(lexicon: Lexicon, points: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Return where the tokens of a text begin, and its length: int64 (tokens + 1,)."""
    scratch = make_scratch(points.shape[0])
    count = segment(lexicon, points, 0, points.shape[0], scratch)
    return scratch.starts[: count + 1]
