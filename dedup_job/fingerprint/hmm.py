"""The hidden Markov model by which jieba finds words that no dictionary holds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.fingerprint.lexicon import HAN_FIRST
from dedup_job.native.jit import inner

B, E, M, S = 0, 1, 2, 3  # begin, end, middle of a word, single: as in lexicon.STATES


@inner
def find_states(
    emission: NDArray[np.float64],
    initial: NDArray[np.float64],
    transition: NDArray[np.float64],
    points: NDArray[np.uint32],
    start: int,
    stop: int,
    back: NDArray[np.int8],
) -> None:
    """Viterbi over a run of Han (`jieba.finalseg.viterbi`); the states end up in back[:, 0].

    Each state has two predecessors; ties go to the one whose letter is the greater.
    """
    e_b, s_b = transition[E, B], transition[S, B]
    b_e, m_e = transition[B, E], transition[M, E]
    b_m, m_m = transition[B, M], transition[M, M]
    e_s, s_s = transition[E, S], transition[S, S]
    row = emission[points[start] - HAN_FIRST]
    b, e = initial[B] + row[B], initial[E] + row[E]
    m, s = initial[M] + row[M], initial[S] + row[S]
    for i in range(start + 1, stop):
        row = emission[points[i] - HAN_FIRST]
        k = i - start
        one, two = e + e_b + row[B], s + s_b + row[B]
        next_b, back[k, B] = (two, S) if two >= one else (one, E)
        one, two = b + b_e + row[E], m + m_e + row[E]
        next_e, back[k, E] = (two, M) if two >= one else (one, B)
        one, two = b + b_m + row[M], m + m_m + row[M]
        next_m, back[k, M] = (two, M) if two >= one else (one, B)
        one, two = e + e_s + row[S], s + s_s + row[S]
        next_s, back[k, S] = (two, S) if two >= one else (one, E)
        b, e, m, s = next_b, next_e, next_m, next_s
    state = S if s >= e else E
    for k in range(stop - start - 1, -1, -1):
        before = back[k, state]
        back[k, 0] = state
        state = before
