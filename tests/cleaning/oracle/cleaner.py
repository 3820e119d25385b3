"""What the cleaner makes of a text, in both notations."""

from __future__ import annotations

from dedup_job.cleaning import CleaningSettings
from dedup_job.cleaning.cleaner import drop_leading_rules, drop_rules
from dedup_job.cleaning.symbols import drop_invisible, folded
from tests.cleaning.oracle.escapes import decode, escape_again, holds_reference
from tests.cleaning.oracle.fences import fold_fenced
from tests.cleaning.oracle.html import read
from tests.cleaning.oracle.markup import prepare, tokens
from tests.cleaning.oracle.notation import written


def clean(text: str, settings: CleaningSettings | None = None) -> str:
    """Return what the cleaner makes of a text. In `marked`, style rules among tags are left."""
    settings = settings or CleaningSettings()
    if settings.notation == "plain":
        return _cut(folded(_plain(text, settings)), settings)
    cleaned = _marked(text, settings)
    while (cut := _cut(cleaned, settings)) != cleaned:
        cleaned = fold_fenced(cut)
    return escape_again(cleaned) if settings.html == "auto" and _is_unstable(cleaned) else cleaned


def _cut(text: str, settings: CleaningSettings) -> str:
    text, line = text.rstrip(), text.rstrip().rpartition("\n")[2]
    is_note = line != text and len(line) <= 100 and line.startswith(settings.cut_at)
    return _cut(text[: -len(line)], settings) if is_note else text


def _plain(text: str, settings: CleaningSettings) -> str:
    prepared = prepare(text) if settings.html == "auto" else None
    if prepared is None or not prepared.tags:
        plain = text if prepared is None else "".join(p.text for p in read(prepared))
        plain = drop_invisible(plain)
        return drop_leading_rules(plain) if settings.css else plain
    pieces = ((drop_invisible(piece.text), piece.code) for piece in read(prepared))
    return "".join(
        drop_rules(plain) if settings.css and not code else plain for plain, code in pieces
    )


def _is_unstable(text: str) -> bool:
    parts, whole = tokens(text)
    return whole != text or any(part.name for part in parts) or holds_reference(text)


def _marked(text: str, settings: CleaningSettings) -> str:
    if settings.html == "auto":
        parts, whole = tokens(text)
        if whole != text or any(part.name for part in parts):
            return written(parts, whole)
        if holds_reference(text):
            braces = "{" in text
            text = decode(text)
            if "{" in text and not braces:
                return fold_fenced(drop_invisible(text))
    text = drop_invisible(text)
    return fold_fenced(drop_leading_rules(text) if settings.css else text)
