"""jieba's segmentation (`jieba.lcut`, HMM on), token for token, in native code.

jieba takes runs of Han, ASCII letters, digits and +#&._%- as blocks. In a block the path of
greatest probability through the dictionary's words is found from right to left; ties go to the
longer word. Runs of single characters on that path go to a hidden Markov model (Viterbi), unless
they are a word of the dictionary together. All other characters are tokens of their own. Float
additions run in jieba's order, or ties would break differently.

The inner functions take plain arrays: taking them out of a tuple at each call costs more than the
work itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.fingerprint.lexicon import (
    ALPHANUMERIC,
    ASCII,
    HAN,
    LETTER,
    NO_WORD,
    SEPARATOR,
    B,
    E,
    Lexicon,
    S,
    find_states,
)
from dedup_job.fingerprint.trie import PLANE, child_at, find, key_shift, place_of
from dedup_job.native.jit import inlined, inner, native

UNKNOWN = -1  # node of a token that the trie does not hold
SINGLE = -2  # ... of one character, not looked up
OUTSIDE = -3  # ... outside jieba's blocks
_DOT, _PERCENT, _ZERO, _NINE = 46, 37, 48, 57
_CR, _LF = 13, 10


class Scratch(NamedTuple):
    """Room for one text of n characters, used again for the next."""

    score: NDArray[np.float64]
    route: NDArray[np.int32]
    best: NDArray[np.int32]
    back: NDArray[np.int8]
    starts: NDArray[np.int64]
    nodes: NDArray[np.int32]


@native
def make_scratch(n: int) -> Scratch:
    """Return room for texts of up to n characters."""
    return Scratch(
        np.empty(n + 1, dtype=np.float64),
        np.empty(n + 1, dtype=np.int32),
        np.empty(n + 1, dtype=np.int32),
        np.empty((n + 1, 4), dtype=np.int8),
        np.empty(n + 1, dtype=np.int64),
        np.empty(n + 1, dtype=np.int32),
    )


@inlined
def segment(
    lexicon: Lexicon, points: NDArray[np.uint32], start: int, stop: int, scratch: Scratch
) -> int:
    """Segment points[start:stop]; return the number of tokens.

    Token i is points[scratch.starts[i] : scratch.starts[i + 1]], its node scratch.nodes[i].
    """
    first, edges, filter_ = lexicon.first, lexicon.edges, lexicon.filter
    nodes, split = lexicon.nodes, lexicon.split
    classes, pairs = lexicon.classes, lexicon.pairs
    emission, initial, transition = lexicon.emission, lexicon.start, lexicon.transition
    unknown, shift = lexicon.constants[0], key_shift(lexicon.edges)
    score, route, best, back = scratch.score, scratch.route, scratch.best, scratch.back
    starts, found = scratch.starts, scratch.nodes
    count = int(np.int64(0))  # a literal 0 is a type of its own, for which all is compiled twice
    i = start
    while i < stop:
        if not _in_block(classes, points[i]):
            starts[count] = i
            found[count] = OUTSIDE
            count += 1
            i += 2 if points[i] == _CR and i + 1 < stop and points[i + 1] == _LF else 1
            continue
        end = i + 1
        plain = points[i] < ASCII
        simple = classes[points[i]] == ALPHANUMERIC
        while end < stop and _in_block(classes, points[end]):
            plain &= points[end] < ASCII
            simple &= classes[points[end]] == ALPHANUMERIC
            if plain and pairs[points[end - 1], points[end]]:
                plain = False
            end += 1
        if plain:  # no word of the dictionary can be here: most English and LaTeX
            if simple:
                starts[count] = i
                found[count] = SINGLE
                if end - i > 1:
                    found[count] = find(first, edges, filter_, shift, points, i, end)
                count += 1
            else:
                count = _emit_run(
                    first, edges, filter_, shift, nodes, split, classes,
                    emission, initial, transition, points, i, end, back, starts, found, count,
                )  # fmt: skip
            i = end
            continue
        _find_route(
            first, edges, filter_, shift, nodes, unknown, points, i, end,
            score, route, best,
        )  # fmt: skip
        run = x = i
        while True:  # single characters on the route gather in run:x
            y = route[x - i]
            if y - x > 1:
                if x - run == 1:  # nearly always, so no call
                    starts[count] = run
                    found[count] = SINGLE
                    count += 1
                elif run < x:
                    count = _emit_run(
                        first, edges, filter_, shift, nodes, split, classes,
                        emission, initial, transition, points, run, x, back, starts, found, count,
                    )  # fmt: skip
                if x == end:
                    break
                starts[count] = x
                found[count] = best[x - i]
                count += 1
                run = y
            x = y
        i = end
    starts[count] = stop
    return count


@inlined
def _in_block(classes: NDArray[np.uint8], point: int) -> bool:
    return point < PLANE and classes[point] != SEPARATOR and classes[point] != LETTER


@inner
def _find_route(
    first: NDArray[np.int32],
    edges: NDArray[np.uint64],
    filter_: NDArray[np.uint8],
    shift: np.uint64,
    nodes: NDArray[np.void],
    unknown: float,
    points: NDArray[np.uint32],
    start: int,
    stop: int,
    score: NDArray[np.float64],
    route: NDArray[np.int32],
    best: NDArray[np.int32],
) -> None:
    """Find the most probable words (`jieba.Tokenizer.get_DAG` and `calc` in one pass).

    From character start + i the word goes to route[i] and is the node best[i].
    """
    score[stop - start] = 0.0
    route[stop - start] = stop + 2  # as if a word began there: it ends the last run
    for k in range(stop - 1, start - 1, -1):
        node = np.int64(first[points[k]])
        top = -np.inf
        end = k + 1
        word = np.int64(SINGLE)
        if node >= 0:
            x = k + 1
            while True:
                sum_ = nodes[node].probability + score[x - start]
                if sum_ >= top:
                    top, end, word = sum_, x, node
                if x >= stop:
                    break
                place = place_of(edges, filter_, shift, node, points[x])
                if place < 0:
                    break
                node = child_at(edges, place)
                x += 1
        if top == NO_WORD:
            top, end, word = unknown + score[k + 1 - start], k + 1, np.int64(SINGLE)
        score[k - start] = top
        route[k - start] = end
        best[k - start] = word


@inner
def _emit_run(
    first: NDArray[np.int32],
    edges: NDArray[np.uint64],
    filter_: NDArray[np.uint8],
    shift: np.uint64,
    nodes: NDArray[np.void],
    split: NDArray[np.bool_],
    classes: NDArray[np.uint8],
    emission: NDArray[np.float64],
    initial: NDArray[np.float64],
    transition: NDArray[np.float64],
    points: NDArray[np.uint32],
    start: int,
    stop: int,
    back: NDArray[np.int8],
    starts: NDArray[np.int64],
    found: NDArray[np.int32],
    count: int,
) -> int:
    """Emit the tokens of a run of single characters, as `jieba.finalseg.cut` makes them."""
    node = find(first, edges, filter_, shift, points, start, stop)
    if stop - start == 1 or (node >= 0 and nodes[node].probability != NO_WORD):
        return _emit_singles(start, stop, starts, found, count)
    i = start
    while i < stop:
        kind = classes[points[i]]
        end = i + 1
        while end < stop and classes[points[end]] == kind:
            end += 1
        if kind == HAN and end - i > 1:
            find_states(emission, initial, transition, points, i, end, back)
            count = _emit_words(
                first, edges, filter_, shift, split, points, i, end, back, starts, found, count
            )
        else:
            if kind == ALPHANUMERIC:
                end = _end_of_number(points, end, stop)
            starts[count] = i
            found[count] = SINGLE
            if end - i > 1:
                found[count] = find(first, edges, filter_, shift, points, i, end)
            count += 1
        i = end
    return count


@inlined
def _emit_singles(
    start: int, stop: int, starts: NDArray[np.int64], found: NDArray[np.int32], count: int
) -> int:
    for i in range(start, stop):
        starts[count] = i
        found[count] = SINGLE
        count += 1
    return count


@inlined
def _end_of_number(points: NDArray[np.uint32], end: int, stop: int) -> int:
    """Go on behind letters and digits: decimals, then a percent sign."""
    if end + 1 < stop and points[end] == _DOT and _ZERO <= points[end + 1] <= _NINE:
        end += 2
        while end < stop and _ZERO <= points[end] <= _NINE:
            end += 1
    if end < stop and points[end] == _PERCENT:
        end += 1
    return end


@inlined
def _emit_words(
    first: NDArray[np.int32],
    edges: NDArray[np.uint64],
    filter_: NDArray[np.uint8],
    shift: np.uint64,
    split: NDArray[np.bool_],
    points: NDArray[np.uint32],
    start: int,
    stop: int,
    back: NDArray[np.int8],
    starts: NDArray[np.int64],
    found: NDArray[np.int32],
    count: int,
) -> int:
    """Emit the words that the states in back[:, 0] mark."""
    begin = start
    for i in range(start, stop):
        state = back[i - start, 0]
        if state in (B, S):
            begin = i
        if state in (E, S) or i + 1 == stop:
            node = np.int64(SINGLE)
            if i + 1 - begin > 1:
                node = find(first, edges, filter_, shift, points, begin, i + 1)
            if node >= 0 and split[node]:
                count = _emit_singles(begin, i + 1, starts, found, count)
            else:
                starts[count] = begin
                found[count] = node
                count += 1
            begin = i + 1
    return count
