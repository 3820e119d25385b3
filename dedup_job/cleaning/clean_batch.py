"""A batch of texts cleaned, and what a second cleaning would take for markup escaped."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning import notation, space_folding, symbols
from dedup_job.cleaning.attributes import BRACES, TAGS, reference
from dedup_job.cleaning.rendering import holds_markup, read_markup
from dedup_job.cleaning.space_folding import fold_fenced, fold_white_space
from dedup_job.cleaning.spans import WITH_BRACES
from dedup_job.cleaning.symbols import Classes, Names, is_of_class, is_word, write_points
from dedup_job.cleaning.workspace import GROWTH, NONE, SPARE, Workspace, names, workspace
from dedup_job.native.bytes_column import BytesColumn
from dedup_job.native.code_points import POINT_BYTES, Points, TextColumn, points_of, text_of
from dedup_job.native.jit import inlined, inner, native

_LT, _AMP, _BRACE, _SLASH, _BANG, _QUESTION = map(ord, "<&{/!?")
_ESCAPED_LT, _ESCAPED_AMP, _ESCAPED_BRACE = map(points_of, ("&lt;", "&amp;", "&#123;"))
_FIRST = tuple(map(ord, "加黑粗斜"))
_B, _I, _LOWER = *map(ord, "bi"), 32
_HEAVY = tuple(map(points_of, ("加粗", "黑体", "粗体", "粗字", "斜体", "bold", "italic")))

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

    html: whether markup is looked for; read: whether it was read before, and only marks, white
    space and fences are left.
    """

    html: bool
    read: bool


class CleanedBatch(NamedTuple):
    """Text i is points[bounds[i, 0]:bounds[i, 1]]; found: what has become of it, uint8 (n,)."""

    points: Points
    bounds: NDArray[np.int64]
    found: NDArray[np.uint8]

    def points_of_row(self, row: int) -> Points:
        """Return one text with its marks."""
        first, last = self.bounds[row]
        return self.points[first:last]

    def strings(self) -> BytesColumn:
        """Return the bytes of the code points of each text."""
        starts, lengths = self.bounds[:, 0], np.diff(self.bounds)[:, 0]
        return BytesColumn(self.points.view(np.uint8), POINT_BYTES * starts, POINT_BYTES * lengths)


def clean_batch(texts: TextColumn, how: How) -> CleanedBatch:
    """Clean n texts: without markup, their white space folded.

    A run of white space becomes a line break if it holds one, else a space; the zero-width space
    and the byte order mark vanish. What stays as it was is empty here; texts that may have style
    rules hold marks.
    """
    count = texts.offsets.shape[0] - 1
    longest = int(np.diff(texts.offsets).max()) if count else 0
    work = workspace(longest)
    bounds = np.zeros((count, 2), dtype=np.int64)
    found = np.zeros(count, dtype=np.uint8)
    parts: list[Points] = []
    done = written = 0
    while done < count or not parts:
        rest = int(texts.offsets[-1] - texts.offsets[done])
        out = np.empty(rest + GROWTH * longest + SPARE, dtype=np.uint32)
        before = done
        done, length = _clean_some(texts, done, how, work, CleanedBatch(out, bounds, found))
        bounds[before:done] += written
        written += length
        parts.append(out[:length])
    return CleanedBatch(np.concatenate(parts) if len(parts) > 1 else parts[0], bounds, found)


@native
def _clean_some(
    texts: TextColumn, first: int, how: How, work: Workspace, batch: CleanedBatch
) -> tuple[int, int]:
    """Enter what has become of the texts from the first on, as far as the room goes.

    Returns how many are done, and how much was written.
    """
    found, bounds = batch.found, batch.bounds
    at, work.reading[0] = 0, work.reading[1]
    for i in range(first, found.shape[0]):
        text = texts.points[texts.offsets[i] : texts.offsets[i + 1]]
        if i > first and batch.points.shape[0] - at < GROWTH * text.shape[0] + SPARE:
            return i, at
        out = batch.points[at:]
        if how.read:
            found[i], length = _finish(text, False, work, out)
        else:
            found[i], length = _clean(text, how, work, out)
        if found[i] == space_folding.STAYS:
            length = 0
        bounds[i, 0], bounds[i, 1] = at, at + length
        at += length
    return found.shape[0], at


@inlined
def _clean(text: Points, how: How, work: Workspace, out: Points) -> tuple[int, int]:
    """Write one text without its markup; return what has become of it, and its length."""
    looks = space_folding.RULES_AT_START | space_folding.FENCES
    markup = space_folding.MARKUP if how.html else 0
    found, length, marks = fold_white_space(text, work.kinds, looks | markup, out)
    bare, again = text, 0
    if found == space_folding.NEEDS_MARKUP:
        size, holds = read_markup(text, work)
        bare = work.bare[:size] if holds else text
        if holds & TAGS:
            return _finish(bare, True, work, out)
        if holds & BRACES:
            looks, again = space_folding.FENCES, RULES_AGAIN
        found, length, marks = fold_white_space(bare, work.kinds, looks, out)
        if found == space_folding.STAYS and holds:
            found = space_folding.CLEAN
    if found == space_folding.NEEDS_RULES:
        return LEADING_RULES, write_points(bare, out, 0)
    if found == space_folding.NEEDS_FENCES:
        found, length, marks = space_folding.CLEAN, fold_fenced(bare, work, out), True
    if found == space_folding.CLEAN and how.html:
        found |= again | (_again(out[:length], work) if marks else 0)
    return found, length


@inner
def _finish(text: Points, rules: bool, work: Workspace, out: Points) -> tuple[int, int]:
    """Lay a text with marks out, unless style rules are looked for and it may hold some."""
    heavy = work.reading[0].is_heavy != 0 and _speaks_of_weight(text)
    length, flags = notation.lay_out(text, rules, heavy, work, out)
    if length == notation.RULE:
        return RULES, write_points(text, out, 0)
    if flags & notation.AS_FENCE:
        length = fold_fenced(out[:length], work, work.bare)
        write_points(work.bare[:length], out, 0)
    found = space_folding.CLEAN
    if flags & notation.AS_MARKUP:
        found |= _again(out[:length], work)
    if flags & WITH_BRACES:
        looks = space_folding.RULES_AT_START
        first, _, _ = fold_white_space(out[:length], work.kinds, looks, work.bare)
        found |= RULES_AGAIN if first == space_folding.NEEDS_RULES else 0
    return found, length


@inner
def _again(text: Points, work: Workspace) -> int:
    """Tell whether a second cleaning would find tags or references."""
    return MARKUP_AGAIN if holds_markup(text, work) else 0


@inner
def _speaks_of_weight(text: Points) -> bool:
    """Tell whether the words of a text speak of bold or italic type; formulas do not count."""
    j, until = 0, 0
    while j < text.shape[0]:
        point = text[j]
        if until:
            until = 0 if point == until else until
        elif point >= symbols.BEYOND:
            if point in symbols.MEDIA:
                until = symbols.ADDRESS_END
            elif point == symbols.FORMULA:
                until = symbols.FORMULA_END
        elif point in _FIRST or point | _LOWER in (_B, _I):
            for word in _HEAVY:
                stop = j + word.shape[0]
                if stop <= text.shape[0] and is_word(text, j, stop, word):
                    return True
        j += 1
    return False


def escaped_markup(text: str, *, brace: bool) -> str:
    """Return a text that a second cleaning turns into this one.

    brace: whether the first opening brace is escaped, too: then no style rule is looked for.
    """
    points = points_of(text)
    out = np.empty(3 * points.shape[0] + 16, dtype=np.uint32)
    return text_of(out[: _escape(points, brace, symbols.classes(), names(), out)])


@native
def _escape(
    text: Points,
    brace: bool,
    classes: Classes,
    names: Names,
    out: Points,
) -> int:
    """Write a text with each `<` that might begin a tag, and each `&` of a reference, escaped."""
    end, at = text.shape[0], 0
    for j in range(end):
        point = text[j]
        word = text[j : j + 1]
        if point == _LT and j + 1 < end:
            after = text[j + 1]
            if after in (_SLASH, _BANG, _QUESTION) or is_of_class(after, symbols.LETTER, classes):
                word = _ESCAPED_LT
        elif point == _AMP and reference(text, j + 1, end, classes, names)[0] != NONE:
            word = _ESCAPED_AMP
        elif point == _BRACE and brace:
            word, brace = _ESCAPED_BRACE, False
        at = write_points(word, out, at)
    return at
