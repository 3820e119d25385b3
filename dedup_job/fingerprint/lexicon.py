"""The dictionary with the model for unknown words, built from jieba's."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np

from dedup_job import _core
from dedup_job.native.array_cache import Tables
from dedup_job.native.bytes_column import strings_of

PLANE = 0x10000
LAST = "\ufffe"
"""The last character of words: jieba segments none beyond the basic plane, whose last is none."""
NO_WORD = -math.inf  # in place of a log probability: never the best


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
) -> Tables:
    """Build the tables of `_core.Lexicon`; `frequencies`, `total`: jieba's FREQ, with prefixes."""
    # stop words and frequent words first: what is used together lies together
    known = sorted(_in_plane(frequencies), key=lambda word: -frequencies[word])
    words = [*dict.fromkeys([*sorted(_in_plane(stop_words)), *known, *_in_plane(idf)])]
    log_total = math.log(total)
    probabilities = [
        math.log(frequency) - log_total if (frequency := frequencies.get(word)) else NO_WORD
        for word in words
    ]
    median = sorted(idf.values())[len(idf) // 2]
    weights = {**idf, **dict.fromkeys(stop_words, _core.STOP_WORD)}
    tables = _core.build_lexicon(
        strings_of([word.encode() for word in words]),
        np.array(probabilities),
        np.array([weights.get(word, median) for word in words]),
        median,
    )
    states, han = _core.HMM_STATES, [*map(chr, range(_core.HAN[0], _core.HAN[1] + 1))]
    emission = [[hmm.emission[state].get(one, hmm.least) for state in states] for one in han]
    transition = [[hmm.transition[a].get(b, hmm.least) for b in states] for a in states]
    return {
        **tables,
        "emission": np.array(emission).reshape(-1),
        "start": np.array([hmm.start[state] for state in states]),
        "transition": np.array(transition).reshape(-1),
        "constants": np.array([math.log(1) - log_total, median]),
    }


def _in_plane(words: Collection[str]) -> list[str]:
    return [word for word in words if word and max(word) <= LAST]
