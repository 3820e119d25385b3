"""The cleaner: markup, style remnants, white space, cut - in this order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning import characters
from dedup_job.cleaning.characters import drop_invisible, fold
from dedup_job.cleaning.clean_batch import (
    LEADING_RULES,
    MARKUP_AGAIN,
    RULES_AGAIN,
    STATES,
    CleanedBatch,
    How,
    clean_batch,
    clean_points,
    escaped,
)
from dedup_job.cleaning.css import drop_leading_rules, drop_rules
from dedup_job.cleaning.folding import CLEAN
from dedup_job.cleaning.settings import CleaningSettings
from dedup_job.native.code_points import Packed, offsets_of, points_of, text_of

_ENDS: Final = {
    characters.CODE: characters.CODE_END,
    characters.FENCE: characters.FENCE_END,
    characters.FORMULA: characters.FORMULA_END,
    **dict.fromkeys(characters.MEDIA, characters.ADDRESS_END),
}
"""Marks around what style rules are text in."""


class Cleaner:
    """Turns HTML, plain text or raw mathematics into clean text.

    Pure and deterministic, safe to share between threads; takes any str, in linear time. In the
    notation `marked` a second cleaning changes nothing.
    """

    def __init__(self, settings: CleaningSettings | None = None) -> None:
        self.settings = settings if settings is not None else CleaningSettings()
        marked = self.settings.notation == "marked"
        self._how = How(self.settings.html == "auto", self.settings.css, marked, read=False)
        self.clean("<p>")  # compiles the native code, or loads what was compiled

    def clean(self, text: str) -> str:
        """Return the text without markup, style rules and superfluous white space."""
        return self.clean_all([text])[0]

    def clean_all(self, texts: Sequence[str]) -> list[str]:
        """Return what `clean` makes of each text."""
        clean, batch = clean_batch(texts, self._how)
        marked, found = self._how.marked, batch.found.copy()
        rows = np.flatnonzero((found & STATES) > CLEAN).tolist()
        rest = [_without_rules(batch, row, marked=marked) for row in rows]
        if marked:
            self._finish(clean, found, rows, rest)
            if self.settings.cut_at:
                self._cut_marked(clean, found)
            if self._how.html:
                self._escape(clean, found)
            return clean
        for row, points in zip(rows, rest, strict=True):
            clean[row] = fold(drop_invisible(text_of(points[points < characters.BEYOND])))
        return [self._cut(text) for text in clean] if self.settings.cut_at else clean

    def _finish(
        self,
        clean: list[str],
        found: NDArray[np.uint8],
        rows: Sequence[int],
        texts: Sequence[NDArray[np.uint32]],
    ) -> None:
        """Enter texts, given as points with marks, that only have to be laid out."""
        if not rows:
            return
        packed = Packed(np.concatenate(texts), offsets_of(texts))
        batch = clean_points(packed, self._how._replace(css=False, read=True))
        for number, row in enumerate(rows):
            clean[row], found[row] = text_of(batch.points_of_row(number)), batch.found[number]

    def _cut_marked(self, clean: list[str], found: NDArray[np.uint8]) -> None:
        # What is left of a text may hold only one end of fenced code.
        rows = list(range(len(clean)))
        while rows:
            cut = [(row, text) for row in rows if (text := self._cut(clean[row])) != clean[row]]
            rows = [row for row, _ in cut]
            self._finish(clean, found, rows, [points_of(text) for _, text in cut])

    def _escape(self, clean: list[str], found: NDArray[np.uint8]) -> None:
        """Escape what a second cleaning would take for markup or for a style rule."""
        for row in np.flatnonzero(found & (MARKUP_AGAIN | RULES_AGAIN)).tolist():
            text = clean[row]
            brace = bool(found[row] & RULES_AGAIN) and self.settings.css
            brace = brace and drop_leading_rules(text) != text
            if brace or found[row] & MARKUP_AGAIN:
                clean[row] = escaped(text, brace=brace)

    def _cut(self, text: str) -> str:
        starts = [at for marker in self.settings.cut_at if (at := text.find(marker)) >= 0]
        return text[: min(starts)].strip() if starts else text


def _without_rules(batch: CleanedBatch, row: int, *, marked: bool) -> NDArray[np.uint32]:
    """Return a text that may hold style rules without them, with its marks."""
    points = batch.points_of_row(row)
    if batch.found[row] & STATES == LEADING_RULES:
        return points_of(drop_leading_rules(drop_invisible(text_of(points))))
    parts = [
        piece if protected else points_of(drop_rules(drop_invisible(text_of(piece))))
        for piece, protected in _pieces(points, all_marks=marked)
    ]
    return np.concatenate(parts) if parts else points


def _pieces(
    points: NDArray[np.uint32], *, all_marks: bool
) -> Iterator[tuple[NDArray[np.uint32], bool]]:
    """Yield marks and the text between them, and whether style rules in it are text.

    all_marks: whether all that is protected is; else code alone.
    """
    start = depth = 0
    for place in np.flatnonzero(points >= characters.BEYOND).tolist():
        mark = int(points[place])
        if place > start:
            yield points[start:place], depth > 0
        yield points[place : place + 1], True
        start = place + 1
        if mark in _ENDS and (all_marks or mark == characters.CODE):
            depth += 1
        elif mark in _ENDS.values() and depth:
            depth -= 1
    if start < points.shape[0]:
        yield points[start:], depth > 0
