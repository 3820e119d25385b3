"""What the cleaner makes of a text."""

from __future__ import annotations

from dedup_job.cleaning import CleaningSettings
from dedup_job.cleaning.cleaner import drop_leading_rules
from tests.cleaning.oracle.escapes import decode, escape_again, holds_reference
from tests.cleaning.oracle.fences import drop_invisible, fold_fenced
from tests.cleaning.oracle.markup import tokens
from tests.cleaning.oracle.notation import written


def clean(text: str, settings: CleaningSettings | None = None) -> str:
    """Return what the cleaner makes of a text, but that style rules among tags are left."""
    settings = settings or CleaningSettings()
    cleaned = _cleaned(text, settings)
    while (cut := _cut(cleaned, settings)) != cleaned:
        cleaned = fold_fenced(cut)
    return escape_again(cleaned) if settings.html == "auto" and _is_unstable(cleaned) else cleaned


def _cut(text: str, settings: CleaningSettings) -> str:
    text, line = text.rstrip(), text.rstrip().rpartition("\n")[2]
    is_note = line != text and len(line) <= 100 and line.startswith(settings.cut_at)
    return _cut(text[: -len(line)], settings) if is_note else text


def _is_unstable(text: str) -> bool:
    parts, whole = tokens(text)
    return whole != text or any(part.name for part in parts) or holds_reference(text)


def _cleaned(text: str, settings: CleaningSettings) -> str:
    if settings.html == "auto":
        parts, whole = tokens(text)
        if whole != text or any(part.name for part in parts):
            return written(parts, whole)
        if holds_reference(text):
            braces = "{" in text
            text = decode(text)
            if "{" in text and not braces:
                return fold_fenced(drop_invisible(text))
    return fold_fenced(drop_leading_rules(drop_invisible(text)))
