"""jieba's data as arrays: dictionary, HMM, IDF and stop words."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.fingerprint.hashing import POLYNOMIAL, XXH64, hash_all
from dedup_job.fingerprint.trie import (
    PLANE,
    build_trie,
    offsets_of,
    points_of,
)

HAN_FIRST, HAN_LAST = 0x4E00, 0x9FD5  # jieba's own bounds
ASCII = 128
STATES = "BEMS"  # begin, end, middle of a word, single
SEPARATOR, HAN, ALPHANUMERIC, SYMBOL, LETTER = 0, 1, 2, 3, 4
NO_WORD = 1.0  # in place of a log probability, which is never above 0
STOP_WORD = -1.0  # in place of an IDF, which is never negative
_ASCII = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


class Lexicon(NamedTuple):
    """All that the segmentation and the weights need; n is the number of trie nodes.

    first, edges, filter: see Trie.
    log_probability: float64 (n,), of the words of the dictionary; NO_WORD for other nodes.
    idf: float64 (n,), the median where the IDF file has no entry; STOP_WORD for stop words.
    hashes: uint64 (2, n), of each word by XXH64 and by POLYNOMIAL; 0 where a node is no word.
    split: bool (n,), words that jieba splits into characters although its HMM proposes them.
    classes: uint8 (65536,), SEPARATOR, HAN, ALPHANUMERIC or SYMBOL (as jieba's expressions have
        them), LETTER for letters and digits that jieba does not segment.
    pairs: bool (128, 128), ASCII characters with which a word of ASCII alone begins.
    emission: float64 (20950, 4), log probability of each Han character in each state of STATES.
    start: float64 (4,), transition: float64 (4, 4), log probabilities of the HMM.
    constants: float64 (2,), the log probability of an unknown character and the median IDF.
    """

    first: NDArray[np.int32]
    edges: NDArray[np.uint64]
    filter: NDArray[np.uint8]
    log_probability: NDArray[np.float64]
    idf: NDArray[np.float64]
    hashes: NDArray[np.uint64]
    split: NDArray[np.bool_]
    classes: NDArray[np.uint8]
    pairs: NDArray[np.bool_]
    emission: NDArray[np.float64]
    start: NDArray[np.float64]
    transition: NDArray[np.float64]
    constants: NDArray[np.float64]


class Hmm(NamedTuple):
    """jieba's hidden Markov model (`jieba.finalseg`), log probabilities by state."""

    start: Mapping[str, float]
    transition: Mapping[str, Mapping[str, float]]
    emission: Mapping[str, Mapping[str, float]]
    least: float


def build_lexicon(
    frequencies: Mapping[str, int],
    total: int,
    hmm: Hmm,
    idf: Mapping[str, float],
    stop_words: Collection[str],
    split: Collection[str],
) -> Lexicon:
    """Build the arrays; `frequencies` and `total` are jieba's FREQ, prefixes included."""
    # frequent words first: what is used together lies together
    known = sorted(_in_plane(frequencies), key=lambda word: -frequencies[word])
    names = list(
        dict.fromkeys([*known, *_in_plane(idf), *_in_plane(stop_words), *_in_plane(split)])
    )
    trie, nodes, count = build_trie(names)
    node_of = dict(zip(names, nodes.tolist(), strict=True))
    median = sorted(idf.values())[len(idf) // 2]

    log_total = math.log(total)
    log_probability = np.full(count, NO_WORD)
    words = [word for word in known if frequencies[word]]
    log_probability[[node_of[w] for w in words]] = [
        math.log(frequencies[w]) - log_total for w in words
    ]
    weights = np.full(count, median)
    rated = _in_plane(idf)
    weights[[node_of[w] for w in rated]] = [idf[w] for w in rated]
    # jieba compares stop words with the token in lower case: others never match
    lower = [word for word in _in_plane(stop_words) if word == word.lower()]
    weights[[node_of[w] for w in lower]] = STOP_WORD
    to_split = np.zeros(count, dtype=np.bool_)
    to_split[[node_of[w] for w in _in_plane(split)]] = True
    return Lexicon(
        *trie,
        log_probability=log_probability,
        idf=weights,
        hashes=_hashes(names, nodes, count),
        split=to_split,
        classes=_classes(),
        pairs=_pairs(words),
        emission=_emission(hmm),
        start=np.array([hmm.start[s] for s in STATES]),
        transition=np.array(
            [[hmm.transition[a].get(b, hmm.least) for b in STATES] for a in STATES]
        ),
        constants=np.array([math.log(1) - log_total, median]),
    )


def _in_plane(words: Collection[str]) -> list[str]:
    return [word for word in words if word and ord(max(word)) < PLANE]


def _hashes(words: list[str], nodes: NDArray[np.int32], count: int) -> NDArray[np.uint64]:
    hashes = np.zeros((2, count), dtype=np.uint64)
    points, offsets = points_of("".join(words)), offsets_of(words)
    for kind in (XXH64, POLYNOMIAL):
        hashes[kind, nodes] = hash_all(points, offsets, kind)
    return hashes


def _classes() -> NDArray[np.uint8]:
    classes = np.array([LETTER if chr(i).isalnum() else SEPARATOR for i in range(PLANE)], np.uint8)
    classes[HAN_FIRST : HAN_LAST + 1] = HAN
    classes[[ord(c) for c in _ASCII]] = ALPHANUMERIC
    classes[[ord(c) for c in "+#&._%-"]] = SYMBOL
    return classes


def _pairs(words: Collection[str]) -> NDArray[np.bool_]:
    pairs = np.zeros((ASCII, ASCII), dtype=np.bool_)
    for word in words:
        if len(word) > 1 and word.isascii():
            pairs[ord(word[0]), ord(word[1])] = True
    return pairs


def _emission(hmm: Hmm) -> NDArray[np.float64]:
    emission = np.full((HAN_LAST - HAN_FIRST + 1, len(STATES)), hmm.least)
    for column, state in enumerate(STATES):
        for character, value in hmm.emission[state].items():
            if HAN_FIRST <= ord(character) <= HAN_LAST:
                emission[ord(character) - HAN_FIRST, column] = value
    return emission
