"""The cleaner: markup, style remnants, white space, cut - in this order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dedup_job.cleaning.css import drop_leading_rules, drop_rules
from dedup_job.cleaning.html import read
from dedup_job.cleaning.markup import prepare
from dedup_job.cleaning.settings import CleaningSettings
from dedup_job.cleaning.tidy import LEADING_RULES, OPEN, RULES, tidied
from dedup_job.cleaning.whitespace import drop_invisible, fold


class Cleaner:
    """Turns HTML, plain text or raw mathematics into clean text.

    Pure and deterministic, safe to share between threads; takes any str, in linear time.
    """

    def __init__(self, settings: CleaningSettings | None = None) -> None:
        self.settings = settings if settings is not None else CleaningSettings()

    def clean(self, text: str) -> str:
        """Return the text without markup, style rules and superfluous white space."""
        return self._cut(fold(self._plain(text)))

    def clean_all(self, texts: Sequence[str]) -> list[str]:
        """Return what `clean` makes of each text; the long way is for those with more to clean."""
        html = self.settings.html == "auto"
        clean, found = tidied(texts, html=html, css=self.settings.css)
        for row in np.flatnonzero(found == RULES).tolist():
            clean[row] = fold(drop_rules(drop_invisible(clean[row])))
        for row in np.flatnonzero(found == LEADING_RULES).tolist():
            clean[row] = fold(drop_leading_rules(drop_invisible(clean[row])))
        if self.settings.cut_at:
            clean = [self._cut(text) for text in clean]
        for row in np.flatnonzero(found == OPEN).tolist():
            clean[row] = self.clean(texts[row])
        return clean

    def _plain(self, text: str) -> str:
        css = self.settings.css
        prepared = prepare(text) if self.settings.html == "auto" else None
        if prepared is None or not prepared.tags:
            plain = text if prepared is None else "".join(p.text for p in read(prepared))
            plain = drop_invisible(plain)
            return drop_leading_rules(plain) if css else plain
        pieces = ((drop_invisible(piece.text), piece.code) for piece in read(prepared))
        return "".join(drop_rules(plain) if css and not code else plain for plain, code in pieces)

    def _cut(self, text: str) -> str:
        starts = [at for marker in self.settings.cut_at if (at := text.find(marker)) >= 0]
        return text[: min(starts)].strip() if starts else text
