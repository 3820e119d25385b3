"""Where the choices of a question stand. Works on cells.

cuts: int64 (2 * MOST_CHOICES + 2,); cuts[2 * k] and cuts[2 * k + 1] are where label k begins
and ends.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.judgment.alphabet import KIND, LATIN, NOUGHT, WORD_CHARACTER, codes
from dedup_job.judgment.forms import MOST_CHOICES
from dedup_job.judgment.scanning import (
    before,
    is_blank,
    is_digit,
    is_han,
    is_latin,
    point_at,
    skip_blanks,
    small_at,
)
from dedup_job.native.jit import inner

LONGEST_CHOICE = 300
LONGEST_FIGURED = 60
_SURE = 4  # labels, glued to words
_LEAST, _LEAST_FIGURED = 2, 3

_ROUND, _ROUND_END, _DOT, _LIST_COMMA, _COLON, _NEWLINE = codes("().、:\n")
_BEFORE = codes("。,;.?!:)]】$")
_GLUED = codes("%°")
_SMALL_A, _ONE, _BANG, _FULL_STOP, _SPACE, _TAB = codes("a1!。 \t")
_A, _H = codes("AH")


@inner
def find_lettered(cells: NDArray[np.uint32], stop: int, cuts: NDArray[np.int64]) -> int:
    """Find the last A, B, C ...; return how many there are, 0 where they are no choices."""
    run = MOST_CHOICES + 1  # where the run begins in cuts that is under way; the best lies at 0
    count = best = 0
    taken = NOUGHT
    for i in range(stop):
        if cells[i] >> KIND != LATIN:
            continue
        letter = small_at(cells, i) - _SMALL_A
        if letter > MOST_CHOICES or (i + 1 < stop and is_latin(cells, i + 1)):
            continue
        start, end = _label(cells, i, stop, taken)
        if start < 0:
            continue
        taken = end
        if letter == MOST_CHOICES:
            if count == MOST_CHOICES:  # more are no choices
                count = best = 0
            continue
        if letter == 0:
            count = 0
        elif letter < count:
            continue
        elif letter > count or count == 0:
            count = 0
            continue
        cuts[2 * (run + count)], cuts[2 * (run + count) + 1] = start, end
        count += 1
        if count >= _LEAST:
            for k in range(0 if count == _LEAST else 2 * count - 2, 2 * count):
                cuts[k] = cuts[2 * run + k]
            best = count
    glued = False
    for k in range(best):
        start = cuts[2 * k]
        glued |= start > 0 and is_han(cells, start - 1)
    return best if best >= (_SURE if glued else _LEAST) else 0


@inner
def _label(cells: NDArray[np.uint32], i: int, stop: int, taken: int) -> tuple[int, int]:
    """Return where the label with the letter at i begins and ends; -1, -1 where it is none.

    taken: where the label before ends; what stands before this one must not lie in it.
    """
    capital = point_at(cells, i) != small_at(cells, i)
    after = skip_blanks(cells, i + 1, stop)
    mark = point_at(cells, after) if after < stop else 0
    if mark == _ROUND_END:
        k = before(cells, i, NOUGHT)
        if k >= 0 and point_at(cells, k) == _ROUND and _apart(cells, k, taken):
            return k, after + 1
    marked = mark in (_DOT, _LIST_COMMA)
    if capital and (marked or mark in (_COLON, _ROUND_END)):
        if _apart(cells, i, taken):
            return i, after + 1
        glued = i > 0 and after == i + 1 and marked and i >= taken
        if glued and (is_han(cells, i - 1) or is_digit(cells, i - 1)):
            return i, after + 1
        if glued and point_at(cells, i - 1) in _GLUED:
            return i, after + 1
    if i > taken and i + 1 < stop and point_at(cells, i - 1) == _NEWLINE:
        mark = point_at(cells, i + 1)
        if mark in (_DOT, _LIST_COMMA, _SPACE, _TAB):
            return i, i + 2
    return -1, -1


@inner
def _apart(cells: NDArray[np.uint32], i: int, taken: int) -> bool:
    """Tell whether the text, a sentence or a word begins at i."""
    if i == 0:
        return True
    return i > taken and (is_blank(cells, i - 1) or point_at(cells, i - 1) in _BEFORE)


@inner
def find_figured(cells: NDArray[np.uint32], stop: int, cuts: NDArray[np.int64]) -> int:
    """Find 1. 2. 3. at the end of a text, each on a short line of its own."""
    count = 0
    lines = 0
    short = True
    for i in range(1, stop):
        if point_at(cells, i - 1) != _NEWLINE:
            continue
        lines += 1
        end = _figure(cells, i, stop)
        if end < 0:
            continue
        k = i + 1 if point_at(cells, i) == _ROUND else i
        figure = point_at(cells, k) - _ONE
        if figure == 0:
            count, short = 0, True
        elif count == 0 or figure != count:
            return 0
        else:
            short &= i - cuts[2 * count - 2] <= LONGEST_FIGURED and lines <= 1
        cuts[2 * count], cuts[2 * count + 1] = i, end
        count += 1
        lines = 0
    if count < _LEAST_FIGURED or not short or stop - cuts[2 * count - 2] > LONGEST_FIGURED:
        return 0
    return count


@inner
def _figure(cells: NDArray[np.uint32], i: int, stop: int) -> int:
    """Return where 3. or (3) ends that stands at i before something else, -1 where it does not."""
    if point_at(cells, i) == _ROUND:
        i += 1
    if i >= stop or not is_digit(cells, i) or not 0 <= point_at(cells, i) - _ONE < MOST_CHOICES:
        return -1
    closed = i + 1 < stop and point_at(cells, i + 1) == _ROUND_END
    if closed:
        k = skip_blanks(cells, i + 2, stop)
        end = skip_blanks(cells, k + 1, stop)
        if _is_mark(cells, k, stop) and end < stop:
            return end
    k = skip_blanks(cells, i + 1, stop)
    end = skip_blanks(cells, k + 1, stop)
    return end if _is_mark(cells, k, stop) and end < stop else -1


@inner
def _is_mark(cells: NDArray[np.uint32], i: int, stop: int) -> bool:
    if i >= stop:
        return False
    point = point_at(cells, i)
    return point in (_DOT, _LIST_COMMA, _ROUND_END)


@inner
def are_choices(cells: NDArray[np.uint32], stop: int, cuts: NDArray[np.int64], count: int) -> bool:
    """Tell whether none is too long and one holds more than what is dropped."""
    held = False
    for k in range(count):
        end = cuts[2 * k + 2] if k + 1 < count else stop
        if end - cuts[2 * k + 1] > LONGEST_CHOICE:
            return False
        for i in range(cuts[2 * k + 1], end):
            held |= cells[i] & WORD_CHARACTER != 0 or point_at(cells, i) == _BANG
    return held


@inner
def stem_key(cells: NDArray[np.uint32], stop: int, key: NDArray[np.int64], wanted: bool) -> int:
    """Take the key off the end of a stem, (B) or a letter behind a word; return where that ends.

    wanted: write its letters to key, as `read_key` does.
    """
    k = before(cells, stop, NOUGHT)
    closed = k
    if k >= 0 and (point_at(cells, k) == _FULL_STOP or point_at(cells, k) == _DOT):
        closed = before(cells, k, NOUGHT)
    if closed >= 0 and point_at(cells, closed) == _ROUND_END:
        last = before(cells, closed, NOUGHT)
        i = last
        while i >= 0 and _is_key(cells, i) and last - i < 6:
            i -= 1
        opened = before(cells, i + 1, NOUGHT)
        if i < last and opened >= 0 and point_at(cells, opened) == _ROUND:
            if wanted:
                _take(cells, i + 1, last + 1, key)
            return opened
        return stop
    if k > 0 and _is_key(cells, k):
        i = before(cells, k, NOUGHT)
        if i >= 0 and is_han(cells, i):
            if wanted:
                _take(cells, k, k + 1, key)
            return i + 1
    return stop


@inner
def _is_key(cells: NDArray[np.uint32], i: int) -> bool:
    return _A <= point_at(cells, i) <= _H and cells[i] >> KIND == LATIN


@inner
def _take(cells: NDArray[np.uint32], start: int, stop: int, key: NDArray[np.int64]) -> None:
    """Write the letters, each once, in order."""
    key[0] = 0
    for letter in range(MOST_CHOICES):
        for i in range(start, stop):
            if point_at(cells, i) - _A == letter:
                key[4 + key[0]] = letter
                key[0] += 1
                break
