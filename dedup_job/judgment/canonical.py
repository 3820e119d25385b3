"""The canonical form of texts: one for all notations of one content.

In order: each character becomes its plain form (`alphabet.py`); notes and the answer key go
(`notes.py`), then what stands before a question (`openings.py`); stem and choices (`choices.py`)
are written out (`writing.py`): numbers (`amounts.py`), formulas, images, marks.
tests/reference/canonical.py says the same by regular expressions.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.judgment.alphabet import NOUGHT, codes, constants
from dedup_job.judgment.choices import are_choices, find_figured, find_lettered, stem_key
from dedup_job.judgment.forms import (
    ANSWER,
    EMPHASIS,
    EXPLAINED,
    MOST_CHOICES,
    SEPARATOR,
    Forms,
)
from dedup_job.judgment.keys import find_key, flags_of, headline_end, read_key
from dedup_job.judgment.notes import drop_brackets, drop_lines, drop_sentences
from dedup_job.judgment.openings import opening_end
from dedup_job.judgment.room import (
    AT,
    CLAUSES,
    CLAUSES_AT,
    EMPHASES,
    EMPHASES_AT,
    Room,
    clause_at,
    end_clause,
    put,
    room_for,
)
from dedup_job.judgment.scanning import fill_cells, has_command, lists_in, words_in
from dedup_job.judgment.words import (
    ANSWER as ANSWER_WORDS,
)
from dedup_job.judgment.words import (
    EXPLANATION,
    LINE,
    NOTE,
    NUMBERED,
    OPENER,
    PAGE,
    Words,
    tables_of,
)
from dedup_job.judgment.writing import write_part
from dedup_job.native.code_points import Packed
from dedup_job.native.jit import inner, native

LEAST_PROSE, LEAST_BODY = 120, 7  # characters of prose with headlines; tenths of it that remain
(LEAST_EXPLANATION,) = constants([30])  # characters behind an answer key: more than the answer
_SPARE = 64
_SEPARATOR, _BAR = codes(SEPARATOR + "|")
_CUTS = 2 * (2 * MOST_CHOICES + 2)


def forms_of(texts: Packed, words: Words) -> Forms:
    """Return the canonical forms of n cleaned texts."""
    return Forms(*_forms_of(texts.points, texts.offsets, tables_of(words)))


def main_of(forms: Forms) -> Packed:
    """Return of each form the stem, then SEPARATOR and choice for each choice, sorted."""
    points = np.empty(len(forms.points) + int(forms.counts.sum(dtype=np.int64)), dtype=np.uint32)
    offsets = np.zeros(len(forms.offsets), dtype=np.int64)
    _main_of(forms, points, offsets)
    return Packed(points[: offsets[-1]], offsets)


@native
def _forms_of(
    points: NDArray[np.uint32], offsets: NDArray[np.int64], tables: NDArray[np.uint32]
) -> tuple[
    NDArray[np.uint32],
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.uint8],
    NDArray[np.uint8],
    NDArray[np.int32],
    NDArray[np.int64],
]:
    n, longest = offsets.shape[0] - 1, 0
    for i in range(n):
        longest = max(longest, offsets[i + 1] - offsets[i])
    cells = np.empty(longest + longest // 8 + _SPARE, dtype=np.uint32)
    room = room_for(cells.shape[0])
    key, cuts = np.zeros(4 + MOST_CHOICES, dtype=np.int64), np.zeros(_CUTS, dtype=np.int64)
    ends = np.zeros(n + 1, dtype=np.int64)
    columns = np.zeros((n, EMPHASIS + 1), dtype=np.int32)
    counts, flags = np.zeros(n, dtype=np.uint8), np.zeros(n, dtype=np.uint8)
    to = np.empty(points.shape[0] + 16 * n + _SPARE, dtype=np.uint32)
    clauses = np.empty(points.shape[0] // 8 + 2 * n + _SPARE, dtype=np.int32)
    clause_ends = np.zeros(n + 1, dtype=np.int64)
    for i in range(n):
        length = fill_cells(points, offsets[i], offsets[i + 1], tables, cells)
        while length < 0:
            cells = np.empty(2 * cells.shape[0], dtype=np.uint32)
            room = room_for(cells.shape[0])
            length = fill_cells(points, offsets[i], offsets[i + 1], tables, cells)
        counts[i], flags[i] = _write(cells, length, tables, room, key, cuts, columns[i])
        size, at = columns[i, EMPHASIS], ends[i]
        if at + size > to.shape[0]:
            to = _grown(to, at, 2 * (at + size))
        for k in range(size):
            to[at + k] = room.out[k]
        ends[i + 1] = at + size
        count, at = room.work[CLAUSES], clause_ends[i]
        if at + count > clauses.shape[0]:
            more = np.empty(2 * (at + count), dtype=np.int32)
            more[:at] = clauses[:at]
            clauses = more
        for k in range(count):
            clauses[at + k] = clause_at(room, k)
        clause_ends[i + 1] = at + count
    last, last_clause = ends[n], clause_ends[n]
    return to[:last].copy(), ends, columns, counts, flags, clauses[:last_clause].copy(), clause_ends


@native
def _grown(array: NDArray[np.uint32], size: int, room: int) -> NDArray[np.uint32]:
    more = np.empty(room, dtype=np.uint32)
    more[:size] = array[:size]
    return more


@inner
def _write(
    cells: NDArray[np.uint32],
    length: int,
    tables: NDArray[np.uint32],
    room: Room,
    key: NDArray[np.int64],
    cuts: NDArray[np.int64],
    columns: NDArray[np.int32],
) -> tuple[int, int]:
    """Write one form; return the number of its choices and its flags."""
    latex, state = has_command(cells, length), room.work
    seen = lists_in(cells, length, tables)
    stop = _prepare(cells, length, seen, tables, key, cuts)
    count = find_lettered(cells, stop, cuts)
    if count == 0:
        count = find_figured(cells, stop, cuts)
    if count > 0 and not are_choices(cells, stop, cuts, count):
        count = 0
    stem = stop
    if count > 0:
        stem = stem_key(cells, cuts[0], key, key[0] == 0 and key[2] == key[1])
    flags = flags_of(cells, stem, stop, count, seen, tables) | key[3]
    state[AT] = state[CLAUSES] = state[EMPHASES] = 0
    head = _write_stem(cells, stem, count, latex, tables, room)
    clauses, kept = state[CLAUSES], NOUGHT
    columns[0] = state[AT]
    for k in range(MOST_CHOICES):
        if k < count:
            end = cuts[2 * k + 2] if k + 1 < count else stop
            write_part(cells, cuts[2 * k + 1], end, latex, tables, room)
            if state[AT] > columns[k]:
                kept = k + 1
        columns[k + 1] = state[AT]
    marks = state[EMPHASES]
    if key[0] > 0:
        _write_chosen(kept, room, key, columns)
    else:
        write_part(cells, key[1], key[2], latex, tables, room)
    columns[ANSWER] = state[AT]
    state[CLAUSES], state[EMPHASES] = clauses, marks
    _write_emphasised(head, room, columns)
    columns[EMPHASIS] = state[AT]
    return kept, flags


@inner
def _prepare(
    cells: NDArray[np.uint32],
    length: int,
    seen: int,
    tables: NDArray[np.uint32],
    key: NDArray[np.int64],
    cuts: NDArray[np.int64],
) -> int:
    """Take out notes and what stands before a question; read the answer key; return the length."""
    stop = length
    key[0] = key[1] = key[2] = key[3] = 0
    if seen & LINE:
        stop = drop_lines(cells, stop, tables)
    if seen & (ANSWER_WORDS | EXPLANATION):
        cut, explained = find_key(cells, stop, tables)
        if explained < cut and (
            find_lettered(cells, stop, cuts) > 0 or find_figured(cells, stop, cuts) > 0
        ):
            cut = explained
        if cut < stop:
            figures = find_lettered(cells, cut, cuts) == 0
            read_key(cells, cut, stop, tables, figures, key)
            if words_in(cells, cut, stop, LEAST_EXPLANATION) >= LEAST_EXPLANATION:
                key[3] = EXPLAINED
            stop = cut
    if seen & OPENER:
        stop = drop_brackets(cells, stop, tables)
    if seen & (NOTE | NUMBERED | PAGE):
        stop = drop_sentences(cells, stop, tables)
    start = opening_end(cells, stop, tables)
    if start > 0:
        for k in range(start, stop):
            cells[k - start] = cells[k]
    return stop - start


@inner
def _write_stem(
    cells: NDArray[np.uint32],
    stop: int,
    count: int,
    latex: bool,
    tables: NDArray[np.uint32],
    room: Room,
) -> int:
    """Write the stem, without headlines where it is prose; return where headlines end that stay."""
    state = room.work
    head = headline_end(cells, stop) if count == 0 else 0
    above = 0
    if head > 0:
        write_part(cells, NOUGHT, head, latex, tables, room)
        above = state[AT]
    marks = state[EMPHASES]
    write_part(cells, head, stop, latex, tables, room)
    total = state[AT]
    if above > 0 and total >= LEAST_PROSE and 10 * (total - above) >= LEAST_BODY * total:
        _drop_head(above, marks, room)
        above = 0
    end_clause(room)
    return above


@inner
def _drop_head(above: int, marks: int, room: Room) -> None:
    """Take off what was written up to `above`, with so many emphasised words."""
    state, out = room.work, room.out
    clauses, emphases, kept = state[CLAUSES_AT], state[EMPHASES_AT], 0
    state[AT] -= above
    for k in range(state[AT]):
        out[k] = out[k + above]
    for k in range(state[CLAUSES]):
        if clause_at(room, k) > above:
            state[clauses + kept] = clause_at(room, k) - above
            kept += 1
    state[CLAUSES] = kept
    for k in range(2 * marks, 2 * state[EMPHASES]):
        state[emphases + k - 2 * marks] = state[emphases + k] - above
    state[EMPHASES] -= marks


@inner
def _write_chosen(
    kept: int, room: Room, key: NDArray[np.int64], columns: NDArray[np.int32]
) -> None:
    """Write the choices that the key names, sorted, with SEPARATOR between."""
    count = 0
    for t in range(key[0]):
        k = key[4 + t]
        if k < kept and columns[k + 1] > columns[k]:
            j = count  # insertion sort
            while j > 0 and is_less(room.out, columns, k, key[4 + j - 1]):
                key[4 + j] = key[4 + j - 1]
                j -= 1
            key[4 + j] = k
            count += 1
    for t in range(count):
        if t > 0:
            put(room, _SEPARATOR)
        k = key[4 + t]
        for m in range(columns[k], columns[k + 1]):
            put(room, room.out[m])


@inner
def is_less(out: NDArray[np.uint32], columns: NDArray[np.int32], k: int, j: int) -> bool:
    """Tell whether choice k comes before choice j by code points."""
    a, b = columns[k], columns[j]
    a_stop, b_stop = columns[k + 1], columns[j + 1]
    while a < a_stop and b < b_stop and out[a] == out[b]:
        a += 1
        b += 1
    if b == b_stop:
        return False
    return a == a_stop or bool(out[a] < out[b])


@inner
def _write_emphasised(head: int, room: Room, columns: NDArray[np.int32]) -> None:
    """Write the emphasised words, each with three characters before and two behind it."""
    out, part, low, high = room.out, 0, 0, head
    if head == 0:
        high = columns[0]
    for e in range(room.work[EMPHASES]):
        mark = room.work[EMPHASES_AT] + 2 * e
        start, stop = room.work[mark], room.work[mark + 1]
        while start >= high:
            low = high
            if high < columns[0]:
                high = columns[0]
            else:
                part += 1
                high = columns[part]
        if e > 0:
            put(room, _SEPARATOR)
        for k in range(max(low, start - 3), start):
            put(room, out[k])
        put(room, _BAR)
        for k in range(start, stop):
            put(room, out[k])
        put(room, _BAR)
        for k in range(stop, min(high, stop + 2)):
            put(room, out[k])


@native
def _main_of(forms: Forms, points: NDArray[np.uint32], offsets: NDArray[np.int64]) -> None:
    order = np.zeros(MOST_CHOICES, dtype=np.int64)
    at: int = offsets[0]
    for i in range(forms.counts.shape[0]):
        out, columns = forms.points[forms.offsets[i] :], forms.cuts[i]
        for k in range(columns[0]):
            points[at + k] = out[k]
        at += columns[0]
        count = np.int64(forms.counts[i])
        for k in range(count):
            j = k  # insertion sort
            while j > 0 and is_less(out, columns, k, order[j - 1]):
                order[j] = order[j - 1]
                j -= 1
            order[j] = k
        for t in range(count):
            points[at] = _SEPARATOR
            at += 1
            for m in range(columns[order[t]], columns[order[t] + 1]):
                points[at] = out[m]
                at += 1
        offsets[i + 1] = at
