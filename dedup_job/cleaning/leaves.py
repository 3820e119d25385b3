"""What elements without content write: images, blanks, line breaks; and formulas of attributes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning.attributes import DECODES, PARSES
from dedup_job.cleaning.characters import AUDIO, BLANK, FRESH, IMAGE, VIDEO
from dedup_job.cleaning.closing import take_back
from dedup_job.cleaning.mathematics import alt_is_formula, write_formula
from dedup_job.cleaning.names import BREAKS, FIELD_TYPE, Tables, meaning_of
from dedup_job.cleaning.pictures import address_of, write_image
from dedup_job.cleaning.tags import NONE
from dedup_job.cleaning.vocabulary import (
    ALT,
    FIELD,
    FIRST_ADDRESS,
    HEARS,
    HREF,
    IMAGE_BUTTON,
    LINE_BREAK,
    MATH,
    PICTURE,
    SOURCE,
    TABLE_CELL,
    TABLE_ROW,
    TYPE,
    XLINK,
    action_of,
)
from dedup_job.cleaning.workspace import (
    ACTION,
    CODE_AT,
    CUT,
    EXTRA,
    MATH_AT,
    MEDIA_AT,
    PLACE,
    TOP,
    Workspace,
)
from dedup_job.native.jit import inlined, inner

_BREAK = ord("\n")


@inlined
def write_break(
    flags: int, number: int, tables: Tables, work: Workspace, out: NDArray[np.uint32], at: int
) -> int:
    """Write the line break that a tag of this element leaves, if it does."""
    if not flags & BREAKS:
        return at
    entry = work.stack[work.state[TOP]]
    action = action_of(number, tables)
    if action >= MATH and entry[MATH_AT]:
        return at
    if action in (TABLE_ROW, TABLE_CELL) and not entry[CODE_AT]:
        return at
    out[at] = FRESH if entry[CODE_AT] and action != LINE_BREAK else _BREAK
    return at + 1


@inner
def write_latex(
    text: NDArray[np.uint32],
    found: int,
    tables: Tables,
    work: Workspace,
    out: NDArray[np.uint32],
    at: int,
) -> int:
    """Write the formula that an attribute holds, if one does."""
    for attribute in range(FIRST_ADDRESS):
        if found >> attribute & 1:
            begin, end = work.places[attribute, 0], work.places[attribute, 1]
            stop = write_formula(text, begin, end, DECODES | PARSES, tables, out, at)
            if stop != at:
                return stop
    return at


@inlined
def write_void(
    text: NDArray[np.uint32],
    action: int,
    found: int,
    tables: Tables,
    work: Workspace,
    out: NDArray[np.uint32],
    at: int,
) -> int:
    """Write what an element without content leaves."""
    after = write_latex(text, found, tables, work, out, at)
    if after != at:
        return after
    if action == PICTURE:
        if alt_is_formula(text, found, tables, work, out, at):
            begin, end = work.places[ALT, 0], work.places[ALT, 1]
            after = write_formula(text, begin, end, DECODES | PARSES, tables, out, at)
            if after != at:
                return after
        attribute = address_of(text, found, work)
        if attribute == NONE:
            attribute = HREF if found >> HREF & 1 else XLINK if found >> XLINK & 1 else NONE
        return write_image(text, IMAGE, attribute, tables, work, out, at)
    if action == FIELD:
        return _write_field(text, found, tables, work, out, at)
    if action == SOURCE:
        media, attribute = work.stack[work.state[TOP], MEDIA_AT], address_of(text, found, work)
        if media and attribute != NONE and not work.stack[media, EXTRA]:
            kind = AUDIO if work.stack[media, ACTION] == HEARS else VIDEO
            at = take_back(media, work.stack[media, PLACE], work)
            at = write_image(text, kind, attribute, tables, work, out, at)
            work.stack[media, EXTRA], work.stack[media, CUT] = 1, at
    return at


@inlined
def _write_field(
    text: NDArray[np.uint32],
    found: int,
    tables: Tables,
    work: Workspace,
    out: NDArray[np.uint32],
    at: int,
) -> int:
    """Write a blank for a field that takes text, an image for a button that is one."""
    if found >> TYPE & 1:
        begin, end = work.places[TYPE, 0], work.places[TYPE, 1]
        kind = meaning_of(tables, FIELD_TYPE, text, begin, end)
        if kind != NONE:
            if kind != IMAGE_BUTTON:
                return at
            return write_image(text, IMAGE, address_of(text, found, work), tables, work, out, at)
    out[at] = BLANK
    return at + 1
