"""The cleaner: markup, style remnants, white space, cut - in this order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning.characters import drop_invisible, fold
from dedup_job.cleaning.code import CLEAN
from dedup_job.cleaning.css import drop_leading_rules, drop_rules
from dedup_job.cleaning.settings import CleaningSettings
from dedup_job.cleaning.tidy import (
    LEADING_RULES,
    MARKUP_AGAIN,
    RULES_AGAIN,
    STATES,
    How,
    Tidied,
    escaped,
    points_at,
    text_of,
    tidied,
    tidy_points,
)
from dedup_job.cleaning.workspace import is_mark, joined, pieces
from dedup_job.native.code_points import points_of


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
        clean, found, each = tidied(texts, self._how)
        rows = np.flatnonzero((found & STATES) > CLEAN).tolist()
        if self._how.marked:
            found = found.copy()
            self._finish(clean, found, rows, [_without_rules(each, row) for row in rows])
            if self.settings.cut_at:
                self._cut_marked(clean, found)
            if self._how.html:
                self._escape(clean, found)
            return clean
        for row in rows:
            clean[row] = _plain_without_rules(each, row)
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
        each = tidy_points(joined(texts), self._how._replace(css=False, read=True))
        for number, row in enumerate(rows):
            clean[row], found[row] = text_of(each, number), each.found[number]

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


def _without_rules(each: Tidied, row: int) -> NDArray[np.uint32]:
    """Return a text that may hold style rules without them, with its marks."""
    if each.found[row] & STATES == LEADING_RULES:
        return points_of(drop_leading_rules(drop_invisible(text_of(each, row))))
    parts = []
    for piece, protected in pieces(points_at(each, row), all_marks=True):
        if protected:
            parts.append(piece)
        else:
            text = str(piece.data, "utf-32-le", "surrogatepass")
            parts.append(points_of(drop_rules(drop_invisible(text))))
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.uint32)


def _plain_without_rules(each: Tidied, row: int) -> str:
    if each.found[row] & STATES == LEADING_RULES:
        return fold(drop_leading_rules(drop_invisible(text_of(each, row))))
    parts = []
    for piece, protected in pieces(points_at(each, row), all_marks=False):
        if not is_mark(piece):
            text = drop_invisible(str(piece.data, "utf-32-le", "surrogatepass"))
            parts.append(text if protected else drop_rules(text))
    return fold("".join(parts))
