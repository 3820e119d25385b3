"""The dictionary as native code reads it, with the model for unknown words."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job import _core
from dedup_job.fingerprint.trie import LAST, PLANE, build_trie
from dedup_job.native.code_points import offsets_of, points_of

HAN_FIRST, HAN_LAST = 0x4E00, 0x9FD5  # jieba's own bounds
ASCII = 128
UPPER_A, UPPER_Z, TO_LOWER = 65, 90, 32
STATES = "BEMS"  # begin, end, middle of a word, single
B, E, M, S = range(4)
SEPARATOR, HAN, ALPHANUMERIC, SYMBOL, LETTER = 0, 1, 2, 3, 4
NO_WORD = -math.inf  # in place of a log probability: never the best
STOP_WORD = -1.0  # in place of an IDF, which is never negative
NODE = np.dtype([("idf", "f8"), ("token", "u8")], align=True)
_ASCII = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


class Lexicon(NamedTuple):
    """All that the segmentation and the weights need; n is the number of trie nodes.

    first, characters, entries: see Trie.
    nodes: NODE (n,), side by side what a word is weighed by: idf, the median where the IDF file has
        no entry, STOP_WORD for stop words; token, the hash of the word, 0 where the node is none.
    names: bool (n,), names of persons, places, organisations and works, and dates.
    classes: uint8 (65536,), SEPARATOR, HAN, ALPHANUMERIC or SYMBOL (as jieba's expressions have
        them), LETTER for letters and digits that jieba does not segment.
    pairs: bool (128, 128), ASCII characters with which a word of ASCII alone begins.
    emission: float64 (20950, 4), log probability of each Han character in each state of STATES.
    start: float64 (4,), transition: float64 (4, 4), log probabilities of the HMM.
    constants: float64 (2,), the log probability of an unknown character and the median IDF.
    """

    first: NDArray[np.int32]
    characters: NDArray[np.uint16]
    entries: NDArray[np.uint64]
    nodes: NDArray[np.void]
    names: NDArray[np.bool_]
    classes: NDArray[np.uint8]
    pairs: NDArray[np.bool_]
    emission: NDArray[np.float64]
    start: NDArray[np.float64]
    transition: NDArray[np.float64]
    constants: NDArray[np.float64]

    def compiled(self) -> _core.Lexicon:
        """Return it as compiled code takes it; ValueError where it would be led out of an array."""
        return _core.Lexicon(
            first=self.first,
            characters=self.characters,
            entries=self.entries,
            words=self.nodes.view(np.uint8),
            classes=self.classes,
            pairs=self.pairs.reshape(-1),
            emission=self.emission.reshape(-1),
            start=self.start,
            transition=self.transition.reshape(-1),
            unknown=float(self.constants[0]),
            median=float(self.constants[1]),
        )


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
    names: Collection[str],
) -> Lexicon:
    """Build the arrays; `frequencies` and `total` are jieba's FREQ, prefixes included."""
    # stop words and frequent words first: what is used together lies together
    known = sorted(_in_plane(frequencies), key=lambda word: -frequencies[word])
    entries = list(dict.fromkeys([*sorted(_in_plane(stop_words)), *known, *_in_plane(idf)]))
    log_total = math.log(total)
    probabilities = [
        math.log(frequency) - log_total if (frequency := frequencies.get(word)) else NO_WORD
        for word in entries
    ]
    trie, places, count = build_trie(entries, np.array(probabilities))
    node_of = dict(zip(entries, places.tolist(), strict=True))
    median = sorted(idf.values())[len(idf) // 2]

    nodes = np.zeros(count, dtype=NODE)
    nodes["idf"] = median
    rated = _in_plane(idf)
    nodes["idf"][[node_of[w] for w in rated]] = [idf[w] for w in rated]
    nodes["idf"][[node_of[w] for w in _in_plane(stop_words)]] = STOP_WORD
    nodes["token"][places] = _core.hash_words(points_of("".join(entries)), offsets_of(entries))
    are_names = np.zeros(nodes.shape[0], dtype=np.bool_)
    are_names[[node_of[w] for w in _in_plane(names) if w in node_of]] = True
    return Lexicon(
        *trie,
        nodes=nodes,
        names=are_names,
        classes=_classes(),
        pairs=_pairs([word for word in known if frequencies[word]]),
        emission=_emission(hmm),
        start=np.array([hmm.start[s] for s in STATES]),
        transition=np.array(
            [[hmm.transition[a].get(b, hmm.least) for b in STATES] for a in STATES]
        ),
        constants=np.array([math.log(1) - log_total, median]),
    )


def _in_plane(words: Collection[str]) -> list[str]:
    return [word for word in words if word and max(word) <= LAST]


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
