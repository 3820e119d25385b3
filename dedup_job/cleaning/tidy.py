"""A batch of texts cleaned, and what a second cleaning would take for markup escaped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning.attributes import is_word, reference
from dedup_job.cleaning.characters import ADDRESS_END, AUDIO, BEYOND, END, FORMULA, IMAGE, VIDEO
from dedup_job.cleaning.code import (
    CLEAN,
    NEEDS_FENCES,
    NEEDS_MARKUP,
    NEEDS_RULES,
    RULES_ANYWHERE,
    RULES_AT_START,
    RULES_NOWHERE,
    STAYS,
    fold_fenced,
    fold_text,
)
from dedup_job.cleaning.kinds import kinds
from dedup_job.cleaning.layout import AS_FENCE, AS_MARKUP, RULE, lay_out
from dedup_job.cleaning.names import ELEMENTS, LETTER, Tables
from dedup_job.cleaning.rendering import render
from dedup_job.cleaning.scanning import BRACES, REFERENCES, TAGS, strip
from dedup_job.cleaning.tags import NONE, is_kind
from dedup_job.cleaning.vocabulary import tables
from dedup_job.cleaning.workspace import GROWTH, IS_HEAVY, SPARE, WITH_BRACES, Workspace, workspace
from dedup_job.native.code_points import Packed, pack, points_of
from dedup_job.native.jit import inlined, inner, native

_LT, _AMP, _BRACE, _SLASH, _BANG, _QUESTION = map(ord, "<&{/!?")
_ESCAPED_LT, _ESCAPED_AMP, _ESCAPED_BRACE = map(points_of, ("&lt;", "&amp;", "&#123;"))
_FIRST = tuple(map(ord, "加黑粗斜"))
_B, _I, _LOWER = *map(ord, "bi"), 32
_HEAVY = tuple(map(points_of, ("加粗", "黑体", "粗体", "粗字", "斜体", "bold", "italic")))


def escaped(text: str, *, brace: bool) -> str:
    """Return a text that a second cleaning turns into this one.

    brace: whether the first opening brace is escaped, too: then no style rule is looked for.
    """
    points = points_of(text)
    out = np.empty(3 * points.shape[0] + 16, dtype=np.uint32)
    length = _escape(points, brace, tables(), out)
    return str(out[:length].data, "utf-32-le", "surrogatepass")


@native
def _escape(text: NDArray[np.uint32], brace: bool, tables: Tables, out: NDArray[np.uint32]) -> int:
    """Write a text with each `<` that might begin a tag, and each `&` of a reference, escaped."""
    end, at = text.shape[0], 0
    for j in range(end):
        point = text[j]
        word = text[:0]
        if point == _LT and j + 1 < end:
            after = text[j + 1]
            if after in (_SLASH, _BANG, _QUESTION) or is_kind(after, LETTER, tables.kinds):
                word = _ESCAPED_LT
        elif point == _AMP and reference(text, j + 1, end, tables)[0] != NONE:
            word = _ESCAPED_AMP
        elif point == _BRACE and brace:
            word, brace = _ESCAPED_BRACE, False
        if word.shape[0] == 0:
            out[at] = point
            at += 1
        for k in range(word.shape[0]):
            out[at] = word[k]
            at += 1
    return at


@inner
def speaks_of_weight(bare: NDArray[np.uint32]) -> bool:
    """Tell whether the words of a text speak of bold or italic type; formulas do not count."""
    j, until = 0, 0
    while j < bare.shape[0]:
        point = bare[j]
        if until:
            until = 0 if point == until else until
        elif point >= BEYOND:
            if point in (IMAGE, AUDIO, VIDEO):
                until = ADDRESS_END
            elif point == FORMULA:
                until = FORMULA + END
        elif point in _FIRST or point | _LOWER in (_B, _I):
            for word in _HEAVY:
                stop = j + word.shape[0]
                if stop <= bare.shape[0] and is_word(bare, j, stop, word):
                    return True
        j += 1
    return False


LEADING_RULES: Final = 2
RULES: Final = 3
"""What has become of a text, beside `STAYS` and `CLEAN`: it has no markup any more, but may begin
with style rules, or hold some anywhere, and its white space is not folded."""

STATES: Final = 7
"""The bits of the numbers above."""

MARKUP_AGAIN: Final = 8
RULES_AGAIN: Final = 16
"""Beside that: a second cleaning would find markup or references; might find a style rule."""


class How(NamedTuple):
    """What is done with texts.

    html, css: whether markup and style rules are looked for; marked: whether markup becomes
    notation; read: whether it was read before, and only marks, white space and fences are left.
    """

    html: bool
    css: bool
    marked: bool
    read: bool


class Tidied(NamedTuple):
    """Text i is points[bounds[i, 0]:bounds[i, 1]]; found: what has become of it, uint8 (n,)."""

    points: NDArray[np.uint32]
    bounds: NDArray[np.int64]
    found: NDArray[np.uint8]


def tidied(texts: Sequence[str], how: How) -> tuple[list[str], NDArray[np.uint8], Tidied]:
    """Return n texts without markup, their white space folded; what has become of each, (n,).

    A run of white space becomes a line break if it holds one, else a space; the zero-width space
    and the byte order mark vanish. Texts with rules hold marks: they are given as points only.
    """
    each = tidy_points(pack(texts), how)
    # decoded at once: a call for each text costs more than to take it out of all of them
    tidy = list(texts)
    done = (each.found & STATES) == CLEAN
    rows = np.flatnonzero(done).tolist()
    if not rows:
        return tidy, each.found, each
    points = each.points
    if ((each.found & STATES) > CLEAN).any():
        points = np.minimum(points, BEYOND - 1)  # marks of other texts have no form in a str
    written = str(points.data, "utf-32-le", "surrogatepass")
    first, last = each.bounds[:, 0].tolist(), each.bounds[:, 1].tolist()
    for row in rows:
        tidy[row] = written[first[row] : last[row]]
    return tidy, each.found, each


def points_at(each: Tidied, row: int) -> NDArray[np.uint32]:
    """Return one text with its marks."""
    first, last = each.bounds[row]
    return each.points[first:last]


def text_of(each: Tidied, row: int) -> str:
    """Return one text, which must hold no marks."""
    return str(points_at(each, row).data, "utf-32-le", "surrogatepass")


def tidy_points(texts: Packed, how: How) -> Tidied:
    """Return what has become of n texts that are given packed."""
    points, offsets = texts
    count = offsets.shape[0] - 1
    longest = int(np.diff(offsets).max()) if count else 0
    work = workspace(len(ELEMENTS), longest)
    room = GROWTH * longest + SPARE
    bounds = np.zeros((count, 2), dtype=np.int64)
    found = np.zeros(count, dtype=np.uint8)
    done, parts, written = 0, [], 0
    while True:
        out = np.empty(offsets[-1] - offsets[done] + room, dtype=np.uint32)
        before = done
        done, length = _tidy_all(
            points, offsets, done, kinds(), tables(), how, work, out, bounds, found
        )
        bounds[before:done] += written
        written += length
        parts.append(out[:length])
        if done == count:
            break
    return Tidied(np.concatenate(parts) if len(parts) > 1 else parts[0], bounds, found)


@native
def _tidy_all(
    points: NDArray[np.uint32],
    offsets: NDArray[np.int64],
    first: int,
    kinds: NDArray[np.uint8],
    lookup: Tables,
    how: How,
    work: Workspace,
    out: NDArray[np.uint32],
    bounds: NDArray[np.int64],
    found: NDArray[np.uint8],
) -> tuple[int, int]:
    """Enter what has become of the texts from the first on, as far as the room goes.

    Returns how many are done, and how much was written.
    """
    at = 0
    for i in range(first, found.shape[0]):
        text = points[offsets[i] : offsets[i + 1]]
        if i > first and out.shape[0] - at < GROWTH * text.shape[0] + SPARE:
            return i, at
        tidy = out[at:]
        if how.read:
            found[i], length = _finish(text, kinds, False, lookup, work, tidy)
        else:
            found[i], length = _tidy(text, kinds, lookup, how, work, tidy)
        if found[i] == STAYS:
            length = 0
        bounds[i, 0], bounds[i, 1] = at, at + length
        at += length
    return found.shape[0], at


@inlined
def _tidy(
    text: NDArray[np.uint32],
    kinds: NDArray[np.uint8],
    lookup: Tables,
    how: How,
    work: Workspace,
    out: NDArray[np.uint32],
) -> tuple[int, int]:
    """Write one text without its markup; return what has become of it, and its length."""
    start = RULES_AT_START if how.css else RULES_NOWHERE
    found, length, marks = fold_text(text, kinds, how.html, start, how.marked, out)
    bare, again = text, 0
    if found == NEEDS_MARKUP:
        if how.marked:
            size, holds = render(text, lookup, work, work.bare)
        else:
            size, holds = strip(text, lookup, work, work.bare)
        bare = work.bare[:size] if holds else text
        if holds & TAGS:
            return _arrange(bare, kinds, lookup, how, work, out)
        if how.marked and holds & BRACES:
            start, again = RULES_NOWHERE, RULES_AGAIN
        found, length, marks = fold_text(bare, kinds, False, start, how.marked, out)
        if found == STAYS and holds:
            found = CLEAN
    if found == NEEDS_RULES:
        _copy(bare, out)
        return LEADING_RULES, bare.shape[0]
    if found == NEEDS_FENCES:
        found, length, marks = CLEAN, fold_fenced(bare, kinds, work, out), True
    if found == CLEAN and how.marked and how.html:
        found |= again | (_again(out[:length], lookup, work) if marks else 0)
    return found, length


@inlined
def _arrange(
    bare: NDArray[np.uint32],
    kinds: NDArray[np.uint8],
    lookup: Tables,
    how: How,
    work: Workspace,
    out: NDArray[np.uint32],
) -> tuple[int, int]:
    """Write a text that held tags."""
    if how.marked:
        return _finish(bare, kinds, how.css, lookup, work, out)
    found, length, _ = fold_text(
        bare, kinds, False, RULES_ANYWHERE if how.css else RULES_NOWHERE, False, out
    )
    if found == NEEDS_RULES:
        _copy(bare, out)
        return RULES, bare.shape[0]
    return CLEAN, length


@inner
def _finish(
    bare: NDArray[np.uint32],
    kinds: NDArray[np.uint8],
    css: bool,
    lookup: Tables,
    work: Workspace,
    out: NDArray[np.uint32],
) -> tuple[int, int]:
    """Lay a text with marks out, unless it may hold style rules that are looked for."""
    heavy = work.state[IS_HEAVY] and speaks_of_weight(bare)
    length, flags = lay_out(bare, kinds, css, heavy, work, out)
    if length == RULE:
        _copy(bare, out)
        return RULES, bare.shape[0]
    if flags & AS_FENCE:
        length = fold_fenced(out[:length], kinds, work, work.bare)
        _copy(work.bare[:length], out)
    found = CLEAN
    if flags & AS_MARKUP:
        found |= _again(out[:length], lookup, work)
    if flags & WITH_BRACES:
        first, _, _ = fold_text(out[:length], kinds, False, RULES_AT_START, False, work.bare)
        found |= RULES_AGAIN if first == NEEDS_RULES else 0
    return found, length


@inner
def _copy(text: NDArray[np.uint32], out: NDArray[np.uint32]) -> None:
    for k in range(text.shape[0]):
        out[k] = text[k]


@inner
def _again(text: NDArray[np.uint32], lookup: Tables, work: Workspace) -> int:
    """Tell whether a second cleaning would find tags or references."""
    _, holds = strip(text, lookup, work, work.bare)
    return MARKUP_AGAIN if holds & (TAGS | REFERENCES) else 0
