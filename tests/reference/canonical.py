"""The canonical text, written the slow way: see src/judgment/parsed_text.cpp."""

from tests.reference.form import (
    IMAGE,
    Class,
    Flattener,
    Phrase,
    class_of,
    is_operator,
    is_plain,
    number_end,
    parts_of,
    phrase,
    plain_number,
)
from tests.reference.pair import plain


def canonical_of(text):
    """Return what a text asks, whatever the order of the choices: for sketches."""
    parts = parts_of(text)
    return "\n".join([_canonical(parts.stem), *sorted(map(_canonical, parts.choices))])


def _canonical(part):
    """Return letters, digits and signs, numbers in digits, spaces between words in Latin."""
    flattener = Flattener(part)
    text, images = flattener.flat(), iter(flattener.images)
    out, apart, i = "", False, 0
    while i < len(text):
        kind, end = class_of(text[i]), i + 1
        light = phrase(text, i, Phrase.LIGHT)[0]
        if not light and kind in (Class.LETTER, Class.DIGIT, Class.HAN, Class.CIRCLED):
            if apart and out and is_plain(text[i]) and is_plain(out[-1]):
                out += " "
            if kind == Class.DIGIT:
                end = number_end(text, i)
                out += plain_number(text[i:end])
            else:
                out += text[i]
            apart = False
        else:
            if light:
                end = i + light
            elif text[i] == IMAGE:
                out += next(images)
            elif kind == Class.SIGN and is_operator(text, i):
                out += text[i]
            apart = True
        i = end
    return plain(out)
