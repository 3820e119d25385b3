"""The canonical form of texts: what is the same for all notations of one content."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.native.jit import inlined, inner

Points = NDArray[np.uint32]
"""Code points, or cells."""

MAX_CHOICES: Final = 8  # A to H
ANSWER, EMPHASIS = MAX_CHOICES + 1, MAX_CHOICES + 2
QUESTION, CUT_LEFT, CUT_RIGHT, SPELLING, SEQUENCE, EXPLAINED, SHORT = (1 << i for i in range(7))
"""Flags: the text asks something; begins, ends with an ellipsis; asks for spelling; speaks of an
order, so the order of its clauses counts; has an explanation behind its answer key; is so short
that its form is the text as it is, but for white space and width."""

FIRST_LETTER: Final = 4
"""Where in an answer key its letters begin."""
SEPARATOR: Final = "\x1f"
IMAGE: Final = "\ufffc"
_COMMA: Final = ord(",")


class Forms(NamedTuple):
    """The canonical forms of n texts; text i has points[offsets[i]:offsets[i + 1]].

    points: uint32 (p,), of each text its stem, its choices in the order of their labels, the
    answer and the emphasised words, the last two with SEPARATOR between several; offsets: int64
    (n + 1,). cuts: int32 (n, EMPHASIS + 1), relative to offsets[i]: where the stem ends, choice k
    at column k (columns beyond the last choice repeat it), the answer at ANSWER, the emphasised
    words at EMPHASIS. counts: uint8 (n,), number of choices. flags: uint8 (n,). left_out: float32
    (n,), share of the text that the form lacks. clauses: int32 (c,), where the clauses of the stem
    end, relative to offsets[i], ascending, the end of the stem included; those of text i are
    clauses[clause_offsets[i]:clause_offsets[i + 1]], int64 (n + 1,).
    """

    points: Points
    offsets: NDArray[np.int64]
    cuts: NDArray[np.int32]
    counts: NDArray[np.uint8]
    flags: NDArray[np.uint8]
    left_out: NDArray[np.float32]
    clauses: NDArray[np.int32]
    clause_offsets: NDArray[np.int64]

    def part(self, rows: slice) -> Forms:
        """Return the forms of some texts in a row; nothing is copied."""
        start, stop, _ = rows.indices(len(self.counts))
        bounds = slice(start, stop + 1)
        return Forms(
            self.points,
            self.offsets[bounds],
            self.cuts[rows],
            self.counts[rows],
            self.flags[rows],
            self.left_out[rows],
            self.clauses,
            self.clause_offsets[bounds],
        )


class FormView(NamedTuple):
    """One canonical form: a row of `Forms`.

    It begins at points[start]; choices: how many it has.
    """

    points: Points
    start: int
    cuts: NDArray[np.int32]
    choices: int
    flags: int
    clauses: NDArray[np.int32]


class Span(NamedTuple):
    """The characters points[start:stop] of a part points[low:high] of a text."""

    points: Points
    start: int
    stop: int
    low: int
    high: int


@inlined
def form_at(forms: Forms, i: int) -> FormView:
    """Return form i."""
    first, last = forms.clause_offsets[i], forms.clause_offsets[i + 1]
    return FormView(
        forms.points,
        forms.offsets[i],
        forms.cuts[i],
        np.int64(forms.counts[i]),  # type: ignore[arg-type]  # to numba it is one
        np.int64(forms.flags[i]),  # type: ignore[arg-type]
        forms.clauses[first:last],
    )


@inlined
def whole_part(points: Points, start: int, stop: int) -> Span:
    """Return points[start:stop] as a part of its own."""
    return Span(points, start, stop, start, stop)


@inlined
def stem_of(form: FormView) -> Span:
    """Return the stem."""
    return whole_part(form.points, form.start, form.start + form.cuts[0])


@inlined
def main_part(form: FormView) -> Span:
    """Return the stem and the choices."""
    return whole_part(form.points, form.start, form.start + form.cuts[form.choices])


@inlined
def part_of(form: FormView, column: int) -> Span:
    """Return the part behind a column of `cuts`: choice k behind column k."""
    start, cuts = form.start, form.cuts
    return whole_part(form.points, start + cuts[column], start + cuts[column + 1])


@inlined
def clause_of(form: FormView, k: int) -> Span:
    """Return clause k of the stem, without commas at its beginning: they part two numbers."""
    start, stop = form.start, form.start + form.clauses[k]
    if k > 0:
        start += form.clauses[k - 1]
    while start < stop and form.points[start] == _COMMA:
        start += 1
    return whole_part(form.points, start, stop)


@inlined
def size_of(span: Span) -> int:
    """Return the number of characters."""
    return span.stop - span.start


@inlined
def narrowed(span: Span, start: int, stop: int) -> Span:
    """Return other characters of the same part."""
    return Span(span.points, start, stop, span.low, span.high)


@inner
def is_same(a: Span, b: Span) -> bool:
    """Tell whether two spans hold the same characters."""
    if size_of(a) != size_of(b):
        return False
    for p in range(size_of(a)):  # noqa: SIM110  # numba compiles no generator here
        if a.points[a.start + p] != b.points[b.start + p]:
            return False
    return True


@inner
def begins_with(a: Span, b: Span) -> bool:
    """Tell whether a begins with b."""
    return size_of(b) <= size_of(a) and is_same(narrowed(a, a.start, a.start + size_of(b)), b)


@inner
def trimmed(a: Span, b: Span) -> tuple[Span, Span]:
    """Return two spans without the beginning and the end that both have."""
    i, j, k, end = a.start, a.stop, b.start, b.stop
    while i < j and k < end and a.points[i] == b.points[k]:
        i += 1
        k += 1
    while i < j and k < end and a.points[j - 1] == b.points[end - 1]:
        j -= 1
        end -= 1
    return narrowed(a, i, j), narrowed(b, k, end)


@inner
def is_less(a: Span, b: Span) -> bool:
    """Tell whether a comes before b by code points."""
    i, k = a.start, b.start
    while i < a.stop and k < b.stop and a.points[i] == b.points[k]:
        i += 1
        k += 1
    if k == b.stop:
        return False
    return i == a.stop or bool(a.points[i] < b.points[k])


@inner
def insert_choice(
    k: int, order: NDArray[np.int64], count: int, points: Points, columns: NDArray[np.int32]
) -> None:
    """Insert choice k among the first `count` of an order by code points.

    Choice k is points[columns[k]:columns[k + 1]].
    """
    choice, j = whole_part(points, columns[k], columns[k + 1]), count
    while j > 0:
        former = order[j - 1]
        if not is_less(choice, whole_part(points, columns[former], columns[former + 1])):
            break
        order[j] = former
        j -= 1
    order[j] = k
