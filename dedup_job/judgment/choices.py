"""What is asked, the choices of a question, and its key: answers and explanations behind it.

Works on cells. cuts: int64 (2 * MAX_CHOICES + 2,); cuts[2 * k] and cuts[2 * k + 1] are where label
k begins and ends.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.judgment import forms, words
from dedup_job.judgment.asking import asks, has_imperative, holds_question
from dedup_job.judgment.cells import (
    before,
    is_blank,
    is_digit,
    is_han,
    is_latin,
    length_of,
    lists_at,
    point_at,
    skip_blanks,
    skip_digits,
    skip_marks,
    small_at,
    stands_at,
    word_at,
    words_in,
)
from dedup_job.judgment.forms import FIRST_LETTER, MAX_CHOICES
from dedup_job.judgment.notes import marked_end
from dedup_job.judgment.words import NOUGHT, Cells, codes, constants
from dedup_job.native.jit import inner

_ROUND, _ROUND_END, _DOT, _LIST_COMMA, _COLON, _NEWLINE, _SMALL_A, _ONE = codes("().、:\na1")
_BANG, _FULL_STOP, _SPACE, _TAB, _A, _H, _ASK, _UNDERLINE, _ELLIPSIS = codes("!。 \tAH?_…")
_COMMA, _SEMICOLON, _THICK, _THICK_END, _SQUARE, _SQUARE_END, _ZERO = codes(",;【】[]0")

LONGEST_CHOICE = 300
LONGEST_FIGURED = 60
_SURE = 4  # labels, glued to words
_MIN, _MIN_FIGURED = 2, 3

_BEFORE_LABEL = codes("。,;.?!:)]】$")
_GLUED, _MARKS = codes("%°"), codes(".、)")


@inner
def find_lettered(cells: Cells, stop: int, cuts: NDArray[np.int64]) -> int:
    """Find the last A, B, C ...; return how many there are, 0 where they are no choices."""
    run = MAX_CHOICES + 1  # where the run begins in cuts that is under way; the best lies at 0
    count = best = 0
    taken = NOUGHT
    for i in range(stop):
        if cells[i] >> words.KIND != words.LATIN:
            continue
        letter = small_at(cells, i) - _SMALL_A
        if letter > MAX_CHOICES or (i + 1 < stop and is_latin(cells, i + 1)):
            continue
        start, end = _label(cells, i, stop, taken)
        if start < 0:
            continue
        taken = end
        if letter == MAX_CHOICES:
            if count == MAX_CHOICES:  # more are no choices
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
        if count >= _MIN:
            for k in range(0 if count == _MIN else 2 * count - 2, 2 * count):
                cuts[k] = cuts[2 * run + k]
            best = count
    glued = False
    for k in range(best):
        start = cuts[2 * k]
        glued |= start > 0 and is_han(cells, start - 1)
    return best if best >= (_SURE if glued else _MIN) else 0


@inner
def _label(cells: Cells, i: int, stop: int, taken: int) -> tuple[int, int]:
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
def _apart(cells: Cells, i: int, taken: int) -> bool:
    """Tell whether the text, a sentence or a word begins at i."""
    if i == 0:
        return True
    return i > taken and (is_blank(cells, i - 1) or point_at(cells, i - 1) in _BEFORE_LABEL)


@inner
def find_figured(cells: Cells, stop: int, cuts: NDArray[np.int64]) -> int:
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
    if count < _MIN_FIGURED or not short or stop - cuts[2 * count - 2] > LONGEST_FIGURED:
        return 0
    return count


@inner
def _figure(cells: Cells, i: int, stop: int) -> int:
    """Return where 3. or (3) ends that stands at i before something else, -1 where it does not."""
    if point_at(cells, i) == _ROUND:
        i += 1
    if i >= stop or not is_digit(cells, i) or not 0 <= point_at(cells, i) - _ONE < MAX_CHOICES:
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
def _is_mark(cells: Cells, i: int, stop: int) -> bool:
    return i < stop and point_at(cells, i) in _MARKS


@inner
def are_choices(cells: Cells, stop: int, cuts: NDArray[np.int64], count: int) -> bool:
    """Tell whether none is too long and one holds more than what is dropped."""
    held = False
    for k in range(count):
        end = cuts[2 * k + 2] if k + 1 < count else stop
        if end - cuts[2 * k + 1] > LONGEST_CHOICE:
            return False
        for i in range(cuts[2 * k + 1], end):
            held |= cells[i] & words.WORD_CHARACTER != 0 or point_at(cells, i) == _BANG
    return held


@inner
def stem_key(cells: Cells, stop: int, key: NDArray[np.int64], wanted: bool) -> int:
    """Take the key off the end of a stem, (B), but P(B); return where that ends.

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
        called = opened > 0 and is_latin(cells, opened - 1)
        if i < last and opened >= 0 and point_at(cells, opened) == _ROUND and not called:
            if wanted:
                _take(cells, i + 1, last + 1, key)
            return opened
    return stop


@inner
def _is_key(cells: Cells, i: int) -> bool:
    return _A <= point_at(cells, i) <= _H and cells[i] >> words.KIND == words.LATIN


@inner
def _take(cells: Cells, start: int, stop: int, key: NDArray[np.int64]) -> None:
    """Write the letters, each once, in order."""
    key[0] = 0
    for letter in range(MAX_CHOICES):
        for i in range(start, stop):
            if point_at(cells, i) - _A == letter:
                key[FIRST_LETTER + key[0]] = letter
                key[0] += 1
                break


_LABEL_ENDS, _DOTS = codes("】]:"), codes("...")


@inner
def flags_of(cells: Cells, stem: int, stop: int, count: int, seen: int, tables: Cells) -> int:
    """Return the flags of a text with a stem, cells[0:stem], and `count` choices behind it.

    seen: the lists whose words may be in it.
    """
    flags = 0
    if count > 0 or asks(cells, stem, tables):
        flags |= forms.QUESTION
    if seen & words.SPELLING_WORD and _holds(cells, stem, tables, words.SPELLING_WORD):
        flags |= forms.SPELLING
    if seen & words.SEQUENCE_WORD and _holds(cells, stem, tables, words.SEQUENCE_WORD):
        flags |= forms.SEQUENCE
    first, last = skip_blanks(cells, NOUGHT, stop), before(cells, stop, NOUGHT)
    if first < stop and (point_at(cells, first) == _ELLIPSIS or _dots(cells, first, stop)):
        flags |= forms.CUT_LEFT
    if last >= 0 and (point_at(cells, last) == _ELLIPSIS or _dots(cells, last - 2, last + 1)):
        flags |= forms.CUT_RIGHT
    return flags


@inner
def _dots(cells: Cells, i: int, stop: int) -> bool:
    return i >= 0 and stands_at(cells, i, stop, _DOTS)


@inner
def _holds(cells: Cells, stop: int, tables: Cells, which: int) -> bool:
    """Tell whether a word of a rare list stands somewhere."""
    for i in range(stop):  # numba compiles no generator here
        if cells[i] & words.RARE and word_at(cells, i, stop, tables, which) > 0:
            return True
    return False


(MIN_BEFORE,) = constants([4])  # letters before an answer key
_BEFORE, _SENTENCE_ENDS, _POINTS = codes("\n。!.?)"), codes("。!.?"), codes(".、")
_KEYS = words.ANSWER_WORD | words.EXPLANATION
(_MOST_TRIED,) = constants([8])  # places of a text, so that its length alone tells the time


@inner
def key_start(cells: Cells, stop: int, tables: Cells, cuts: NDArray[np.int64]) -> int:
    """Return where the answer key begins that ends a text, stop: there is none.

    No question follows it, and choices only where some stand before it. 解析: begins one behind
    choices alone, and elsewhere 答案: does in the last line alone: they may be parts of the text.
    """
    tried = NOUGHT
    for i in range(stop):
        if not cells[i] & words.RARE or not lists_at(cells, i, stop, tables) & _KEYS:
            continue
        start, mark = i, _COLON
        if i > 0 and point_at(cells, i - 1) == _THICK:
            start, mark = i - 1, _THICK_END
        elif i > 0 and point_at(cells, i - 1) == _SQUARE:
            start, mark = i - 1, _SQUARE_END
        if not _begins(cells, start):
            continue
        if words_in(cells, NOUGHT, start, MIN_BEFORE) < MIN_BEFORE:
            continue
        answers = marked_end(cells, i, stop, tables, words.ANSWER_WORD, mark) > i
        if not answers and marked_end(cells, i, stop, tables, words.EXPLANATION, mark) == i:
            continue
        if tried == _MOST_TRIED:
            break
        tried += 1
        if holds_question(cells, start, stop) or _begins_task(cells, start, stop):
            continue
        body = marked_end(cells, i, stop, tables, words.LINE, _COLON)
        if body > i and has_imperative(cells, body - 1, stop, tables):
            continue  # behind 来源: stands a task
        if has_choices(cells, start, cuts):
            return start
        bare = mark == _COLON
        if bare and not (answers and _is_last_line(cells, start, stop)):
            continue
        if not has_choices(cells[start:], stop - start, cuts):
            return start
    return stop


@inner
def _begins_task(cells: Cells, start: int, stop: int) -> bool:
    """Tell whether a line or sentence behind `start` begins with the number of a question: 2."""
    for i in range(start + 1, stop):
        if not is_digit(cells, i) or not is_blank(cells, i - 1):
            continue
        k = before(cells, i, start)
        line = False
        for b in range(k + 1, i):
            line |= point_at(cells, b) == _NEWLINE
        if not line and (k < start or point_at(cells, k) not in _SENTENCE_ENDS):
            continue
        end = skip_digits(cells, i, stop)
        if end - i <= 3 and _is_point(cells, skip_blanks(cells, end, stop), stop):
            return True
    return False


@inner
def _is_point(cells: Cells, i: int, stop: int) -> bool:
    """Tell whether . or 、 stands at i, not that of 3.5."""
    if i >= stop or point_at(cells, i) not in _POINTS:
        return False
    return i + 1 >= stop or not is_digit(cells, i + 1)


@inner
def _is_last_line(cells: Cells, i: int, stop: int) -> bool:
    last = before(cells, stop, NOUGHT)
    while i < last and point_at(cells, i) != _NEWLINE:
        i += 1
    return i >= last


@inner
def has_choices(cells: Cells, stop: int, cuts: NDArray[np.int64]) -> bool:
    """Tell whether cells[0:stop] hold choices; cuts is written over."""
    return find_lettered(cells, stop, cuts) > 0 or find_figured(cells, stop, cuts) > 0


@inner
def _begins(cells: Cells, i: int) -> bool:
    """Tell whether a line, a sentence or a word begins at i."""
    return i == 0 or is_blank(cells, i - 1) or point_at(cells, i - 1) in _BEFORE


@inner
def read_key(
    cells: Cells, start: int, stop: int, tables: Cells, figures: bool, key: NDArray[np.int64]
) -> None:
    """Read the answer key in cells[start:stop].

    key: int64 (12,): [0] the number of letters, 0 to 7 from FIRST_LETTER on, at most 8; [1], [2]
    where the answer in words begins and ends. figures: 1 to 8 are letters, too.
    """
    key[0] = key[1] = key[2] = 0
    i = start
    while i < stop and word_at(cells, i, stop, tables, words.STEMS) == 0:
        i += 1
    if i == stop:
        return
    i += length_of(tables, word_at(cells, i, stop, tables, words.STEMS))
    while i < stop and point_at(cells, i) not in _LABEL_ENDS:
        i += 1
    body = min(i + 1, stop)
    if body == stop:
        return
    i = skip_marks(cells, body, stop)
    if _read_letters(cells, i, stop, key):
        return
    if figures and i < stop and is_digit(cells, i):
        figure = point_at(cells, i) - _ZERO
        if 1 <= figure <= 8 and not (i + 1 < stop and is_digit(cells, i + 1)):
            key[0], key[FIRST_LETTER] = 1, figure - 1
            return
    end = body
    while end < stop and point_at(cells, end) != _NEWLINE:
        end += 1
    key[1] = skip_blanks(cells, body, end)
    while end > key[1] and is_blank(cells, end - 1):
        end -= 1
    key[2] = end


@inner
def _read_letters(cells: Cells, i: int, stop: int, key: NDArray[np.int64]) -> bool:
    """Read A, AC, A、C at i, not the beginning of a word."""
    good = seen = 0
    while i < stop and is_latin(cells, i) and small_at(cells, i) - _SMALL_A < 8:
        letter = small_at(cells, i) - _SMALL_A
        i += 1
        seen |= 1 << letter
        if not (i < stop and is_latin(cells, i)):
            good = seen
        k = skip_blanks(cells, i, stop)
        if k < stop and (point_at(cells, k) == _COMMA or point_at(cells, k) == _LIST_COMMA):
            k = skip_blanks(cells, k + 1, stop)
        i = k
    key[0] = 0
    for letter in range(8):
        if good >> letter & 1:
            key[FIRST_LETTER + key[0]] = letter
            key[0] += 1
    return good != 0
