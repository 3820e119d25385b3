"""Texts all of whose tags leave the same wherever they stand: no need to read them one by one.

The guard asks of each tag what stands around it. Of nearly all tags that is no matter: their name
alone, an attribute or a closing slash tells. Where a text holds no others, what each of them
leaves is looked up once, however often it comes, and put in its place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from dedup_job.cleaning.elements import (
    AMBIGUOUS,
    IN_CONTEXT,
    NOTHING,
    REPLACEMENT,
    WORD_NAME,
)
from dedup_job.cleaning.references import all_known, escape

_PAGE = ("<!", "<?", "<script", "<style", "<title")
_NAME = re.compile(r"</?([A-Za-z][^\s/>]*+)")


def prepared_at_once(text: str, tags: re.Pattern[str], plain: Mapping[str, str]) -> str | None:
    """Return what the guard would make of a text with tags, None where a tag needs a closer look.

    That may be said of a page of its own without looking at its tags: it has some that do.

    tags: has one group, the whole of a tag; plain: what some tags leave. The text has no CDATA.
    """
    if any(mark in text for mark in _PAGE):
        return None
    parts = tags.split(text)  # text, tag, text, tag, ..., text
    leaves: dict[str, str] = {}
    for tag in set(parts[1::2]):
        left = plain.get(tag)
        if left is None and (left := left_by(tag, text)) is None:
            return None
        leaves[tag] = left
    if not all_known(text):
        parts[::2] = [escape(part) if "&" in part else part for part in parts[::2]]
    parts[::2] = [part.replace("<", "&lt;") if "<" in part else part for part in parts[::2]]
    parts[1::2] = [leaves[tag] for tag in parts[1::2]]
    return "".join(parts)


def left_by(tag: str, text: str) -> str | None:
    """Return what a tag leaves wherever in the text it stands, None if it depends on the place."""
    named = _NAME.match(tag)
    if named is None:  # a comment or a declaration
        return None
    name = named[1].lower()
    left = REPLACEMENT.get(name)
    if left is None:
        return NOTHING if WORD_NAME.fullmatch(name) else None
    if name in AMBIGUOUS:
        if tag[1] == "/" or "=" in tag or tag.endswith("/>"):
            return left
        # Its closing tag comes later, even after the last such tag. Few forms are looked for:
        # each look is at the whole text.
        bare = len(tag) == len(name) + 2
        return left if bare and text.rfind(f"</{name}>") > text.rfind(tag) else None
    return None if name in IN_CONTEXT else left
