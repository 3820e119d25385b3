"""What the native code works in: arrays for one text after the other, and the tables it reads."""

from __future__ import annotations

import functools
import threading
from typing import Any, Final, NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning.symbols import Classes, Names, classes, first_slot, kinds
from dedup_job.cleaning.vocabulary import ACTION_BITS, ELEMENTS, meanings
from dedup_job.native.code_points import Points, pack
from dedup_job.native.jit import inlined, jit_no_refcount

GROWTH: Final = 10
"""How many characters at most become of one of the raw text; percent encoding is the greatest."""

SPARE: Final = 256
"""Room for what is written without a character behind it."""

NONE: Final = -1
_MAX_KEPT: Final = 4096  # characters of texts whose arrays are kept
_MAX_ATTRIBUTES: Final = 32  # whose places are kept


class ElementTags(Protocol):
    """What is known of the tags of an element in a text.

    last: where its last closing tag begins, -1 without one; nearest: the open one that is nearest
    to the top of the stack, 0 without one.
    """

    last: int
    nearest: int


class OpenElement(Protocol):
    """What is known of an open element.

    number: of its name, -1 without one; previous: the open one of that name before it; action: what
    it does; spans_open, spans_around: its spans, and those around, as bits; place: where its text
    begins; cut: to where a closing tag takes back what came since, -1 for nothing; origin: where
    its tag begins, or a separator; count: children or items; extra: what its action needs. The
    others: the nearest open element of each of these kinds, itself included, 0 without one.
    """

    number: int
    previous: int
    action: int
    spans_open: int
    spans_around: int
    place: int
    cut: int
    origin: int
    count: int
    extra: int
    list_at: int
    item_at: int
    table_at: int
    row_at: int
    cell_at: int
    math_at: int
    box_at: int
    media_at: int
    code_at: int
    drawing_at: int
    barrier_at: int
    hard_at: int


class ReadingState(Protocol):
    """How far the reading of markup has come.

    top: the open element on top; foreign_read: whether closing tags of foreign names were read;
    formula_end, box_start, box_end: where the last formula ended, where the last box of one began
    and ended, -1 without one; is_heavy: whether anything is bold or italic; start, stop: where the
    tag that is read begins and ends; found: its known attributes, as bits.
    """

    top: int
    foreign_read: int
    formula_end: int
    box_start: int
    box_end: int
    is_heavy: int
    start: int
    stop: int
    found: int


class OpenSpan(Protocol):
    """What is known of an open span.

    kind: its mark; begin, inside: where it and its content begin, -1 while nothing of it is
    written; words_before, images_before, blank_before, hard_before: the state before it; marker:
    where its marker is; cells, separators_due, breaks_before: of a row.
    """

    kind: int
    begin: int
    inside: int
    words_before: int
    images_before: int
    blank_before: int
    hard_before: int
    marker: int
    cells: int
    separators_due: int
    breaks_before: int


class LayoutState(Protocol):
    """How far the layout has come.

    blanks: the white space that comes before the next character; hard: whether no row may take its
    line break; words, images: characters but underscores, and images, that were written; depth,
    pending: open spans, and the lowest one not yet written, 0 for none; fence: backticks around the
    code that is written, 0 outside; fence_begin, lead, fenced_end: where code begins, how far there
    is nothing but white space, and where its fence ended; protected: how deep in what no style rule
    touches; rows, soft_breaks: open rows, and line breaks in them; flags: what a second cleaning
    might see; is_heavy: whether bold and italic are written; opened, colon: whether a brace is open
    that may be a style rule's, and a colon stands behind it.
    """

    blanks: int
    hard: int
    words: int
    images: int
    depth: int
    pending: int
    fence: int
    fence_begin: int
    lead: int
    fenced_end: int
    protected: int
    rows: int
    soft_breaks: int
    flags: int
    is_heavy: int
    opened: int
    colon: int


class Workspace(NamedTuple):
    """Tables, and arrays that are overwritten by each text of a batch.

    classes: uint16, flags of characters; kinds: uint8, kinds of characters for the folding of white
    space; elements: records (elements,); stack, spans: records (depth,), the first of the stack is
    the text itself; scratch: int32, places of closing tags by hash of their names, then line breaks
    of open rows, then where the last line of so many backticks begins; places: int32 (32, 2), where
    the values of a tag's attributes begin and end; reading, layout: records (2,), the state, and
    the one at the beginning of a text; copy: uint32 (length,), a text without its CDATA marks;
    bare: uint32 (GROWTH * length + SPARE,), text with marks.
    """

    classes: Classes
    kinds: NDArray[np.uint8]
    names: Names
    elements: list[ElementTags]
    stack: list[OpenElement]
    spans: list[OpenSpan]
    scratch: NDArray[np.int32]
    places: NDArray[np.int32]
    reading: list[ReadingState]
    layout: list[LayoutState]
    copy: Points
    bare: Points


class _Kept(threading.local):
    """The arrays for short texts, for each thread: to make them takes as long as such a text."""

    work: Workspace | None = None


_KEPT = _Kept()


def workspace(longest: int) -> Workspace:
    """Return the arrays for texts of at most so many characters.

    Those for short texts are used again by the thread, which reads one batch after the other.
    """
    if longest > _MAX_KEPT:
        return _workspace(longest)
    if _KEPT.work is None:
        _KEPT.work = _workspace(_MAX_KEPT)
    return _KEPT.work


def _workspace(longest: int) -> Workspace:
    # Untouched memory costs nothing.
    stack = np.empty(longest + 16, dtype=_record(OpenElement, np.int32))
    reading = np.zeros(2, dtype=_record(ReadingState, np.int64))
    stack[0] = 0
    for records, field in (
        *((stack[:1], field) for field in ("number", "cut")),
        *((reading, field) for field in ("formula_end", "box_start", "box_end")),
    ):
        records[field] = NONE
    return Workspace(
        classes=classes(),
        kinds=kinds(),
        names=names(),
        elements=cast("Any", np.zeros(len(ELEMENTS), dtype=_record(ElementTags, np.int32))),
        stack=cast("Any", stack),
        spans=cast("Any", np.empty(2 * longest + 16, dtype=_record(OpenSpan, np.int32))),
        scratch=np.empty((4 << max(4, (longest // 3).bit_length())) + 512, dtype=np.int32),
        places=np.empty((_MAX_ATTRIBUTES, 2), dtype=np.int32),
        reading=cast("Any", reading),
        layout=cast("Any", np.zeros(2, dtype=_record(LayoutState, np.int64))),
        copy=np.empty(longest, dtype=np.uint32),
        bare=np.empty(GROWTH * longest + SPARE, dtype=np.uint32),
    )


@functools.cache
def names() -> Names:
    """Return the names that mean something, made at the first call."""
    named = meanings()
    points, offsets = pack([chr(of) + name for of, name, _, _ in named])
    slots = np.full(1 << (4 * len(named)).bit_length(), NONE, dtype=np.int32)
    _fill(points, offsets, slots)
    return Names(points, offsets, slots, np.array([row[2:] for row in named], dtype=np.int32))


@jit_no_refcount
def _fill(points: Points, offsets: NDArray[np.int64], slots: NDArray[np.int32]) -> None:
    mask = slots.shape[0] - 1
    for number in range(offsets.shape[0] - 1):
        begin = offsets[number]
        slot = first_slot(points[begin], points, begin + 1, offsets[number + 1], False, mask)
        while slots[slot] != NONE:
            slot = (slot + 1) & mask
        slots[slot] = number


@functools.cache
def _record(form: type, number: type[np.integer[Any]]) -> np.dtype[np.void]:
    """Return the type of records with these attributes; native code takes one by reference."""
    return np.dtype([(name, number) for name in form.__annotations__])


class Page(NamedTuple):
    """A text whose markup is read, its result, and the parts of a `Workspace` that this needs."""

    text: Points
    out: Points
    classes: Classes
    names: Names
    elements: list[ElementTags]
    stack: list[OpenElement]
    scratch: NDArray[np.int32]
    places: NDArray[np.int32]
    state: ReadingState


class TextLayout(NamedTuple):
    """A text with marks, its result, and the parts of a `Workspace` that this needs.

    breaks: int32, places of line breaks in open rows.
    """

    text: Points
    out: Points
    kinds: NDArray[np.uint8]
    spans: list[OpenSpan]
    breaks: NDArray[np.int32]
    state: LayoutState


@inlined
def has(page: Page, attribute: int) -> bool:
    """Tell whether the tag that is read has an attribute."""
    return bool(page.state.found >> attribute & 1)


@inlined
def value_place(page: Page, attribute: int) -> tuple[int, int]:
    """Return where the value of an attribute begins and ends that the tag has."""
    return page.places[attribute, 0], page.places[attribute, 1]


@inlined
def action_of(page: Page, number: int) -> int:
    """Return what an element does."""
    return int(page.names.values[number, 1] & ACTION_BITS)
