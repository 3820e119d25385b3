"""jieba's segmentation (`jieba.lcut`, HMM on), token for token, in native code.

jieba takes runs of Han, ASCII letters, digits and +#&._%- as blocks. In a block the path of
greatest probability through the dictionary's words is found from right to left; ties go to the
longer word. Runs of single characters on that path go to a hidden Markov model (Viterbi), unless
they are a word of the dictionary together. All other characters are tokens of their own. Float
additions run in jieba's order, or ties would break differently.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.fingerprint import lexicon as words
from dedup_job.fingerprint.lexicon import HAN, SEPARATOR, Lexicon, find_states, find_word
from dedup_job.fingerprint.trie import PLANE, child_at, key_shift, place_of
from dedup_job.native.jit import inlined, inner, native

UNKNOWN = -1  # node of a token that the trie does not hold
SINGLE = -2  # ... of one character, not looked up
OUTSIDE = -3  # ... outside jieba's blocks
_DOT, _PERCENT, _ZERO, _NINE = 46, 37, 48, 57
_CR, _LF = 13, 10


class Segments(NamedTuple):
    """Buffers for one text of n characters, used again for the next.

    score, route, best: of the block in hand, see `_find_route`; back: of the hidden Markov model;
    starts, nodes: of the tokens.
    """

    score: NDArray[np.float64]
    route: NDArray[np.int32]
    best: NDArray[np.int32]
    back: NDArray[np.int8]
    starts: NDArray[np.int64]
    nodes: NDArray[np.int32]


class _Text(NamedTuple):
    """A text that is segmented, with all that is needed for it."""

    lexicon: Lexicon
    shift: np.uint64
    points: NDArray[np.uint32]
    segments: Segments


@native
def make_segments(n: int) -> Segments:
    """Return buffers for texts of up to n characters."""
    return Segments(
        np.empty(n + 1, dtype=np.float64),
        np.empty(n + 1, dtype=np.int32),
        np.empty(n + 1, dtype=np.int32),
        np.empty((n + 1, 4), dtype=np.int8),
        np.empty(n + 1, dtype=np.int64),
        np.empty(n + 1, dtype=np.int32),
    )


@inlined
def segment(
    lexicon: Lexicon, points: NDArray[np.uint32], start: int, stop: int, segments: Segments
) -> int:
    """Segment points[start:stop]; return the number of tokens.

    Token i is points[segments.starts[i] : segments.starts[i + 1]], its node segments.nodes[i].
    """
    classes, pairs = lexicon.classes, lexicon.pairs
    text = _Text(lexicon, key_shift(lexicon.edges), points, segments)
    count = int(np.int64(0))  # a literal 0 is a type of its own, for which all is compiled twice
    i = start
    while i < stop:
        if not _in_block(classes, points[i]):
            count = _emit(text, i, OUTSIDE, count)
            i += 2 if points[i] == _CR and i + 1 < stop and points[i + 1] == _LF else 1
            continue
        end = i + 1
        plain = points[i] < words.ASCII
        simple = classes[points[i]] == words.ALPHANUMERIC
        while end < stop and _in_block(classes, points[end]):
            plain &= points[end] < words.ASCII
            simple &= classes[points[end]] == words.ALPHANUMERIC
            if plain and pairs[points[end - 1], points[end]]:
                plain = False
            end += 1
        if not plain:
            count = _segment_block(text, i, end, count)
        elif simple:  # no word of the dictionary can be here: most English and LaTeX
            count = _emit_token(text, i, end, count)
        else:
            count = _emit_run(text, i, end, count)
        i = end
    segments.starts[count] = stop
    return count


@inlined
def _in_block(classes: NDArray[np.uint8], point: int) -> bool:
    return point < PLANE and classes[point] != SEPARATOR and classes[point] != words.LETTER


@inlined
def _emit(text: _Text, start: int, node: int | np.int64, count: int) -> int:
    """Append a token; return the new count."""
    text.segments.starts[count] = start
    text.segments.nodes[count] = node
    return count + 1


@inlined
def _find(text: _Text, start: int, stop: int) -> np.int64:
    """Return the node of points[start:stop], -1 if none."""
    return find_word(text.lexicon, text.shift, text.points, start, stop, False)


@inlined
def _emit_token(text: _Text, start: int, stop: int, count: int) -> int:
    """Append a token, looked up where it has more than one character."""
    node = np.int64(SINGLE)
    if stop - start > 1:
        node = _find(text, start, stop)
    return _emit(text, start, node, count)


@inlined
def _segment_block(text: _Text, start: int, stop: int, count: int) -> int:
    """Emit the tokens of a block: single characters on the route gather in run:x."""
    _find_route(text, start, stop)
    segments = text.segments
    run = x = start
    while True:
        y = segments.route[x - start]
        if y - x > 1:
            if x - run == 1:  # nearly always, so no call
                count = _emit(text, run, SINGLE, count)
            elif run < x:
                count = _emit_run(text, run, x, count)
            if x == stop:
                return count
            count = _emit(text, x, np.int64(segments.best[x - start]), count)
            run = y
        x = y


@inlined
def _find_route(text: _Text, start: int, stop: int) -> None:
    """Find the most probable words (`jieba.Tokenizer.get_DAG` and `calc` in one pass).

    From character start + i the word goes to route[i] and is the node best[i].
    """
    lexicon, points, shift = text.lexicon, text.points, text.shift
    probabilities, edges, unknown = lexicon.probabilities, lexicon.edges, lexicon.constants[0]
    score, route, best = text.segments.score, text.segments.route, text.segments.best
    score[stop - start] = 0.0
    route[stop - start] = stop + 2  # as if a word began there: it ends the last run
    for k in range(stop - 1, start - 1, -1):
        node = np.int64(lexicon.first[points[k]])
        top = -np.inf
        end = k + 1
        word = np.int64(SINGLE)
        if node >= 0:
            x = k + 1
            while True:
                sum_ = probabilities[node] + score[x - start]
                if sum_ >= top:
                    top, end, word = sum_, x, node
                if x >= stop:
                    break
                place = place_of(edges, lexicon.filter, shift, node, points[x])
                if place < 0:
                    break
                node = child_at(edges, place)
                x += 1
        if top == words.NO_WORD:
            top, end, word = unknown + score[k + 1 - start], k + 1, np.int64(SINGLE)
        score[k - start] = top
        route[k - start] = end
        best[k - start] = word


@inner
def _emit_run(text: _Text, start: int, stop: int, count: int) -> int:
    """Emit the tokens of a run of single characters, as `jieba.finalseg.cut` makes them."""
    classes, points = text.lexicon.classes, text.points
    node = _find(text, start, stop)
    if stop - start == 1 or (node >= 0 and text.lexicon.probabilities[node] != words.NO_WORD):
        return _emit_singles(text, start, stop, count)
    i = start
    while i < stop:
        kind = classes[points[i]]
        end = i + 1
        while end < stop and classes[points[end]] == kind:
            end += 1
        if kind == HAN and end - i > 1:
            find_states(text.lexicon, points, i, end, text.segments.back)
            count = _emit_words(text, i, end, count)
        else:
            if kind == words.ALPHANUMERIC:
                end = _end_of_number(points, end, stop)
            count = _emit_token(text, i, end, count)
        i = end
    return count


@inlined
def _emit_singles(text: _Text, start: int, stop: int, count: int) -> int:
    for i in range(start, stop):
        count = _emit(text, i, SINGLE, count)
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
def _emit_words(text: _Text, start: int, stop: int, count: int) -> int:
    """Emit the words that the states in back[:, 0] mark."""
    begin = start
    for i in range(start, stop):
        state = text.segments.back[i - start, 0]
        if state in (words.B, words.S):
            begin = i
        if state in (words.E, words.S) or i + 1 == stop:
            node = np.int64(SINGLE)
            if i + 1 - begin > 1:
                node = _find(text, begin, i + 1)
            if node >= 0 and text.lexicon.split[node]:
                count = _emit_singles(text, begin, i + 1, count)
            else:
                count = _emit(text, begin, node, count)
            begin = i + 1
    return count
