"""A batch of texts cleaned by the compiled core."""

from __future__ import annotations

import functools
from html.entities import html5
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job import _core
from dedup_job.cleaning import symbols
from dedup_job.native.code_points import EncodedTexts, Points, TextColumn

STAYS, CLEAN, LEADING_RULES, RULES = range(4)
"""What has become of a text: it stays as it is; is clean; has no markup any more, but may begin
with style rules, or hold some anywhere, and its white space is not folded."""


class CleanedBatch(NamedTuple):
    """n texts, and what has become of each, uint8 (n,); those that may have rules hold marks."""

    texts: TextColumn
    found: NDArray[np.uint8]

    def points_of_row(self, row: int) -> Points:
        """Return one text with its marks."""
        points, offsets = self.texts
        return points[offsets[row] : offsets[row + 1]]


@functools.cache
def _cleaner() -> _core.Cleaner:
    return _core.Cleaner(
        classes=symbols.classes(),
        kinds=symbols.kinds(),
        references={name[:-1]: text for name, text in html5.items() if name.endswith(";")},
    )


def clean_batch(texts: TextColumn, *, html: bool, read: bool = False) -> CleanedBatch:
    """Clean n texts: without markup, their white space folded.

    html: whether markup is looked for; read: whether it was read before, and only white space and
    fences are left, with `html` the marks of tags as well. A run of white space becomes a line
    break if it holds one, else a space; the zero-width space and the byte order mark vanish.
    """
    if isinstance(texts, EncodedTexts) and not read:
        size, longest = int(texts.offsets[-1]), int(texts.lengths.max(initial=0))
        points, offsets, found = _cleaner().clean_utf8(texts.utf8(), size, longest, html=html)
    else:
        points, offsets, found = _cleaner().clean(*texts, html=html, read=read)
    return CleanedBatch(TextColumn(points, offsets), found)
