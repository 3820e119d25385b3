"""What the cleaner makes of a text."""

from tests.cleaning.oracle.escapes import decode, holds_reference, speaks_of_escapes, unescaped
from tests.cleaning.oracle.fences import drop_invisible, fold_fenced
from tests.cleaning.oracle.markup import tokens
from tests.cleaning.oracle.names import BLOCKS, DROPPED
from tests.cleaning.oracle.notation import written


def clean(text, *, html=True, rules=str):
    """Return what the cleaner makes of a text, but that style rules among tags are left.

    rules: drops those that a text without tags begins with; by default they are left as well.
    """
    if html:
        again, _ = tokens(unescaped(text))
        if again and again[0].name in BLOCKS - DROPPED and not again[0].closes:
            found = written(again, unescaped(text))
            if found and not speaks_of_escapes(found):
                return found
        parts, whole = tokens(text)
        if whole != text or any(part.name for part in parts):
            return written(parts, whole)
        if holds_reference(text):
            braces = "{" in text
            text = decode(text)
            if "{" in text and not braces:
                return fold_fenced(drop_invisible(text))
    return fold_fenced(rules(drop_invisible(text)))
