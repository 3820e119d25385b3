"""What keeps a cleaned text the same when it is cleaned again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning.attributes import is_word
from dedup_job.cleaning.decoding import reference
from dedup_job.cleaning.marks import ADDRESS_END, AUDIO, BEYOND, END, FORMULA, IMAGE, VIDEO
from dedup_job.cleaning.names import LETTER, Tables
from dedup_job.cleaning.tags import NONE, is_kind
from dedup_job.cleaning.vocabulary import tables
from dedup_job.native.code_points import points_of
from dedup_job.native.jit import inner, native

_LT, _AMP, _BRACE, _SLASH, _BANG, _QUESTION = map(ord, "<&{/!?")
_ESCAPED_LT, _ESCAPED_AMP, _ESCAPED_BRACE = map(points_of, ("&lt;", "&amp;", "&#123;"))
_FIRST = tuple(map(ord, "加黑粗斜"))
_B, _I, _LOWER = *map(ord, "bi"), 32
_HEAVY = tuple(map(points_of, ("加粗", "黑体", "粗体", "粗字", "斜体", "bold", "italic")))


def escaped(text: str, *, brace: bool) -> str:
    """Return a text that a second cleaning turns into this one.

    brace: whether the first opening brace is escaped, too: then no style rule is looked for.
    """
    points = points_of(text)
    out = np.empty(3 * points.shape[0] + 16, dtype=np.uint32)
    length = _escape(points, brace, tables(), out)
    return str(out[:length].data, "utf-32-le", "surrogatepass")


@native
def _escape(text: NDArray[np.uint32], brace: bool, tables: Tables, out: NDArray[np.uint32]) -> int:
    """Write a text with each `<` that might begin a tag, and each `&` of a reference, escaped."""
    end, at = text.shape[0], 0
    for j in range(end):
        point = text[j]
        word = text[:0]
        if point == _LT and j + 1 < end:
            after = text[j + 1]
            if after in (_SLASH, _BANG, _QUESTION) or is_kind(after, LETTER, tables.kinds):
                word = _ESCAPED_LT
        elif point == _AMP and reference(text, j + 1, end, tables)[0] != NONE:
            word = _ESCAPED_AMP
        elif point == _BRACE and brace:
            word, brace = _ESCAPED_BRACE, False
        if word.shape[0] == 0:
            out[at] = point
            at += 1
        for k in range(word.shape[0]):
            out[at] = word[k]
            at += 1
    return at


@inner
def speaks_of_weight(bare: NDArray[np.uint32]) -> bool:
    """Tell whether the words of a text speak of bold or italic type; formulas do not count."""
    j, until = 0, 0
    while j < bare.shape[0]:
        point = bare[j]
        if until:
            until = 0 if point == until else until
        elif point >= BEYOND:
            if point in (IMAGE, AUDIO, VIDEO):
                until = ADDRESS_END
            elif point == FORMULA:
                until = FORMULA + END
        elif point in _FIRST or point | _LOWER in (_B, _I):
            for word in _HEAVY:
                stop = j + word.shape[0]
                if stop <= bare.shape[0] and is_word(bare, j, stop, word):
                    return True
        j += 1
    return False
