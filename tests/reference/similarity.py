"""Similarities of canonical texts by Python's sets."""

import re

from tests.reference.form import (
    IMAGE,
    NUMBER,
    C,
    H,
    L,
    P,
    Phrase,
    operators_of,
    parts_of,
    phrase,
    plain_number,
)
from tests.reference.notation import plain

_CONTENT = re.compile(rf"{NUMBER}|[{L}{H}{C}]")


def canonical_of(text):
    """Return the letters, digits and signs of stem and choices, choices in ascending order."""
    parts = parts_of(text)
    stem = _canonical(parts.stem, parts.images)
    return "\n".join([stem, *sorted([_canonical(one, parts.images) for one in parts.choices])])


def _canonical(part, images):
    """Return a part without light words; spaces stay between words that are not Han."""
    operators, out, apart, i = operators_of(part), "", False, 0
    while i < len(part):
        light, content = phrase(part, i, Phrase.LIGHT), _CONTENT.match(part, i)
        if content and not light:
            both = re.match(f"[{P}]", part[i]) and re.match(f"[{P}]", out[-1:])
            out += " " * bool(apart and both) + plain_number(content[0])
        elif part[i] == IMAGE:
            out += images.pop(0)
        elif i in operators and not light:
            out += part[i]
        apart = light > 0 or not content
        i += light or len(content[0] if content else "1")
    return plain(out)


def naive_grams(text):
    """Return the character 3-grams of a text without white space; a shorter one is its own."""
    text = "".join(text.split())
    return {text[i : i + 3] for i in range(len(text) - 2)} or {text}


def naive_jaccard(a, b):
    """Return the share of the grams of either text that both have."""
    grams, right_grams = naive_grams(a), naive_grams(b)
    return len(grams & right_grams) / len(grams | right_grams)
