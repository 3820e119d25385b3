"""The cleaner: markup, style remnants, white space, cut - in this order."""

from __future__ import annotations

from collections.abc import Sequence

from dedup_job.cleaning.css import drop_leading_rules, drop_rules
from dedup_job.cleaning.html import read
from dedup_job.cleaning.markup import prepare
from dedup_job.cleaning.settings import CleaningSettings
from dedup_job.cleaning.tidy import tidied
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
        tidy = tidied(texts, html=html, css=self.settings.css)
        cut = self._cut if self.settings.cut_at else str
        return [
            self.clean(text) if plain is None else cut(plain)
            for text, plain in zip(texts, tidy, strict=True)
        ]

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
