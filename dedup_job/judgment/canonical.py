"""The canonical form of texts: one for all notations of one content.

In order: each character becomes its plain form (`words.py`); notes go (`notes.py`), the answer key
(`choices.py`), then what stands before a question (`openings.py`); stem and choices (`choices.py`)
are written out (`marks.py`): numbers (`amounts.py`), formulas, images, marks.
tests/reference/canonical.py says the same by regular expressions.

The gist of a form is what candidates are found by: function words go; synonyms become one sign, and
so do characters that OCR programs take for each other. So a question that is slightly reworded or
misread has nearly the same gist. The judge does not see it.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dedup_job.fingerprint.trie import PLANE
from dedup_job.judgment import choices, frames
from dedup_job.judgment.cells import (
    all_words_in,
    fill_cells,
    has_command,
    mark_rare,
    words_in,
)
from dedup_job.judgment.choices import find_figured, find_lettered
from dedup_job.judgment.forms import (
    ANSWER,
    EMPHASIS,
    EXPLAINED,
    FIRST_LETTER,
    MAX_CHOICES,
    SEPARATOR,
    SHORT,
    Forms,
    insert_choice,
)
from dedup_job.judgment.frames import AT, CLAUSES, EMPHASES, FormWorkspace, clause_at, put
from dedup_job.judgment.lookups import LISTED, Tables, kind_of, pair_place, signs, word_row
from dedup_job.judgment.marks import write_part
from dedup_job.judgment.notes import drop_brackets, drop_sentences, notes_start
from dedup_job.judgment.openings import opening_end
from dedup_job.judgment.words import (
    ANSWER_WORD,
    BLANK,
    EXPLANATION,
    KIND,
    LINE,
    NOTE,
    NOUGHT,
    NUMBERED,
    OPENER,
    PAGE,
    Cells,
    Words,
    codes,
    constants,
    word_tables,
)
from dedup_job.native.code_points import TextColumn
from dedup_job.native.jit import inner, jit_no_refcount, native

(MIN_EXPLANATION,) = constants([30])  # characters behind an answer key: more than the answer
SHORT_FORM: Final = 10  # characters; in fewer, each mark counts
_SPARE = 64
_SEPARATOR, _BAR = codes(SEPARATOR + "|")
_FIRST_WIDE, _LAST_WIDE, _FIRST_NARROW = codes("！～!")


def forms_of(texts: TextColumn, words: Words, most_left_out: float) -> Forms:
    """Return the canonical forms of n cleaned texts.

    most_left_out: the largest share of a text's letters and digits that its form may lack, its
    number left out of account; a text that would lose more is taken as it is.
    """
    return _forms_of(texts, word_tables(words), most_left_out)


@native
def _forms_of(texts: TextColumn, tables: Cells, most_left_out: float) -> Forms:
    points, offsets = texts.points, texts.offsets
    n, longest = offsets.shape[0] - 1, 0
    for i in range(n):
        longest = max(longest, offsets[i + 1] - offsets[i])
    space = frames.make_form_workspace(longest + longest // 8 + _SPARE)
    ends, clause_ends = np.zeros(n + 1, dtype=np.int64), np.zeros(n + 1, dtype=np.int64)
    columns = np.zeros((n, EMPHASIS + 1), dtype=np.int32)
    counts, flags = np.zeros(n, dtype=np.uint8), np.zeros(n, dtype=np.uint8)
    left_out = np.zeros(n, dtype=np.float32)
    to = np.empty(points.shape[0] + 16 * n + _SPARE, dtype=np.uint32)
    clauses = np.empty(points.shape[0] // 8 + 2 * n + _SPARE, dtype=np.int32)
    for i in range(n):
        length = fill_cells(points, offsets[i], offsets[i + 1], tables, space.cells)
        while length < 0:
            space = frames.make_form_workspace(2 * space.cells.shape[0])
            length = fill_cells(points, offsets[i], offsets[i + 1], tables, space.cells)
        latex, seen = has_command(space.cells, length), mark_rare(space.cells, length, tables)
        total = all_words_in(space.cells, NOUGHT, length)
        most = int(most_left_out * total)
        stop, gone = _prepare(length, seen, tables, space, most)
        if gone > most:  # as it is
            fill_cells(points, offsets[i], offsets[i + 1], tables, space.cells)
            mark_rare(space.cells, length, tables)
            space.key[:] = 0
            stop, gone = length, NOUGHT
        counts[i], flags[i] = _write(stop, seen, latex, tables, space, columns[i])
        left_out[i] = gone / max(total, 1)
        if columns[i, MAX_CHOICES] < SHORT_FORM:
            counts[i], flags[i] = 0, flags[i] | SHORT
            _write_short(points, offsets[i], offsets[i + 1], tables, space, columns[i])
            left_out[i] = 0
        size, at = columns[i, EMPHASIS], ends[i]
        to = grown(to, at, at + size)
        for k in range(size):
            to[at + k] = space.out[k]
        ends[i + 1] = at + size
        count, at = space.work[CLAUSES], clause_ends[i]
        clauses = grown(clauses, at, at + count)
        for k in range(count):
            clauses[at + k] = clause_at(space, k)
        clause_ends[i + 1] = at + count
    last, last_clause = ends[n], clause_ends[n]
    return Forms(
        to[:last].copy(),
        ends,
        columns,
        counts,
        flags,
        left_out,
        clauses[:last_clause].copy(),
        clause_ends,
    )


@native
def grown(array: NDArray[Any], size: int, needed: int) -> NDArray[Any]:
    """Return an array with its first `size` items that holds as many as are needed."""
    if needed <= array.shape[0]:
        return array
    more = np.empty(2 * needed, dtype=array.dtype)
    more[:size] = array[:size]
    return more


@inner
def _write(
    stop: int,
    seen: int,
    latex: bool,
    tables: Cells,
    space: FormWorkspace,
    columns: NDArray[np.int32],
) -> tuple[int, int]:
    """Write one form; return the number of its choices and its flags."""
    cells, key, cuts, state = space.cells, space.key, space.cuts, space.work
    count = find_lettered(cells, stop, cuts)
    if count == 0:
        count = find_figured(cells, stop, cuts)
    if count > 0 and not choices.are_choices(cells, stop, cuts, count):
        count = 0
    stem = stop
    if count > 0:
        stem = choices.stem_key(cells, cuts[0], key, key[0] == 0 and key[2] == key[1])
    flags = choices.flags_of(cells, stem, stop, count, seen, tables) | key[3]
    state[AT] = state[CLAUSES] = state[EMPHASES] = 0
    write_part(cells, NOUGHT, stem, latex, tables, space)
    frames.end_clause(space)
    clauses, kept = state[CLAUSES], NOUGHT
    columns[0] = state[AT]
    for k in range(MAX_CHOICES):
        if k < count:
            end = cuts[2 * k + 2] if k + 1 < count else stop
            write_part(cells, cuts[2 * k + 1], end, latex, tables, space)
            if state[AT] > columns[k]:
                kept = k + 1
        columns[k + 1] = state[AT]
    marks = state[EMPHASES]
    if key[0] > 0:
        _write_chosen(kept, space, columns)
    else:
        write_part(cells, key[1], key[2], latex, tables, space)
    columns[ANSWER] = state[AT]
    state[CLAUSES], state[EMPHASES] = clauses, marks
    _write_emphasised(space, columns)
    columns[EMPHASIS] = state[AT]
    return kept, flags


@inner
def _write_short(
    points: Cells,
    start: int,
    stop: int,
    tables: Cells,
    space: FormWorkspace,
    columns: NDArray[np.int32],
) -> None:
    """Write a text as it is but for white space and width, as a stem of one clause."""
    state = space.work
    state[AT] = state[CLAUSES] = 0
    for i in range(start, stop):
        point = points[i]
        if _FIRST_WIDE <= point <= _LAST_WIDE:
            point -= np.uint32(_FIRST_WIDE - _FIRST_NARROW)
        if point >= PLANE or tables[point] >> KIND != BLANK:
            put(space, point)
    frames.end_clause(space)
    columns[:] = state[AT]


@inner
def _prepare(
    length: int, seen: int, tables: Cells, space: FormWorkspace, most: int
) -> tuple[int, int]:
    """Take out notes and what stands before a question; read the answer key.

    Return the new length, and how many letters and digits were taken out, a question's number left
    out of account. Where they are more than `most`, the cells have to be filled again.
    """
    stop, cells, key, cuts = length, space.cells, space.key, space.cuts
    key[0] = key[1] = key[2] = key[3] = 0
    before = all_words_in(cells, NOUGHT, length)
    if seen & LINE:
        stop = notes_start(cells, stop, tables)
    if seen & (ANSWER_WORD | EXPLANATION):
        cut = choices.key_start(cells, stop, tables, cuts)
        if cut < stop:
            figures = find_lettered(cells, cut, cuts) == 0
            choices.read_key(cells, cut, stop, tables, figures, key)
            if words_in(cells, cut, stop, MIN_EXPLANATION) >= MIN_EXPLANATION:
                key[3] = EXPLAINED
            stop = cut
    if seen & OPENER:
        stop = drop_brackets(cells, stop, tables)
    if seen & (NOTE | NUMBERED | PAGE):
        stop = drop_sentences(cells, stop, tables)
    start, numbers = opening_end(cells, stop, tables)
    left_out = before - all_words_in(cells, start, stop) - numbers
    if start > 0 and left_out <= most:
        for k in range(start, stop):
            cells[k - start] = cells[k]
    return stop - start, left_out


@inner
def _write_chosen(kept: int, space: FormWorkspace, columns: NDArray[np.int32]) -> None:
    """Write the choices that the key names, sorted, with SEPARATOR between."""
    count, chosen = 0, space.key[FIRST_LETTER:]
    for t in range(space.key[0]):
        k = chosen[t]
        if k < kept and columns[k + 1] > columns[k]:
            insert_choice(k, chosen, count, space.out, columns)
            count += 1
    for t in range(count):
        if t > 0:
            put(space, _SEPARATOR)
        for m in range(columns[chosen[t]], columns[chosen[t] + 1]):
            put(space, space.out[m])


@inner
def _write_emphasised(space: FormWorkspace, columns: NDArray[np.int32]) -> None:
    """Write the emphasised words, each with three characters before and two behind it."""
    out, part, low, high = space.out, 0, 0, columns[0]
    for e in range(space.work[EMPHASES]):
        mark = space.work[frames.EMPHASES_AT] + 2 * e
        start, stop = space.work[mark], space.work[mark + 1]
        while start >= high:
            low = high
            part += 1
            high = columns[part]
        if e > 0:
            put(space, _SEPARATOR)
        for k in range(max(low, start - 3), start):
            put(space, out[k])
        put(space, _BAR)
        for k in range(start, stop):
            put(space, out[k])
        put(space, _BAR)
        for k in range(stop, min(high, stop + 2)):
            put(space, out[k])


@native
def main_of(forms: Forms) -> TextColumn:
    """Return of each form the stem, then SEPARATOR and choice for each choice, sorted."""
    n, order = forms.counts.shape[0], np.zeros(MAX_CHOICES, dtype=np.int64)
    points = np.empty(forms.points.shape[0] + MAX_CHOICES * n, dtype=np.uint32)
    offsets = np.zeros(n + 1, dtype=np.int64)
    at = offsets[0]
    for i in range(n):
        out, columns = forms.points[forms.offsets[i] :], forms.cuts[i]
        for k in range(columns[0]):
            points[at + k] = out[k]
        at += columns[0]
        count = np.int64(forms.counts[i])
        for k in range(count):
            insert_choice(k, order, k, out, columns)
        for t in range(count):
            points[at] = _SEPARATOR
            at += 1
            for m in range(columns[order[t]], columns[order[t] + 1]):
                points[at] = out[m]
                at += 1
        offsets[i + 1] = at
    return TextColumn(points[:at], offsets)


_SIGN: Final = 0xE000  # of the private use area: the first group's


def gist_of(forms: TextColumn, tables: Tables) -> TextColumn:
    """Return the gist of n forms; where nothing would remain, the form itself."""
    points = np.empty(len(forms.points), dtype=np.uint32)
    offsets = np.zeros(len(forms.offsets), dtype=np.int64)
    _write_gists(forms.points, forms.offsets, tables, signs(), points, offsets)
    return TextColumn(points[: offsets[-1]], offsets)


@jit_no_refcount
def _write_gists(
    points: Cells,
    offsets: NDArray[np.int64],
    tables: Tables,
    same: Cells,
    to: Cells,
    to_offsets: NDArray[np.int64],
) -> None:
    at: int = to_offsets[0]
    for i in range(offsets.shape[0] - 1):
        start, stop, begin = offsets[i], offsets[i + 1], at
        p = start
        while p < stop:
            end, sign = _word(points, p, stop, tables)
            if end == p:
                to[at] = same[points[p]] if points[p] < same.shape[0] else points[p]
                at += 1
                end = p + 1
            elif sign:
                to[at] = _SIGN + sign
                at += 1
            p = end
        if at == begin:
            for q in range(start, stop):
                to[at] = points[q]
                at += 1
        to_offsets[i + 1] = at


@inner
def _word(points: Cells, start: int, stop: int, tables: Tables) -> tuple[int, int]:
    """Return where the longest listed word at a place ends and its group, 0 for none."""
    end, sign = start, 0
    if not kind_of(tables, points[start]) & LISTED:
        return end, sign
    words, last = tables.words, start + 1
    if last < stop and words.begins[pair_place(points[start], points[last])]:
        last = min(stop, start + max(words.longest[0], words.longest[1]))
    for to in range(start + 1, last + 1):
        row = word_row(words, points, start, to)
        if row >= 0:
            end = to
            sign = 0
            if not words.function[row]:
                sign = words.groups[row, 0]
    return end, sign
