"""What a text has that the other one of a joined pair lacks."""

from __future__ import annotations

from typing import Final

from dedup_job.judgment.classes import CLASSES, Difference
from dedup_job.judgment.edits import Room
from dedup_job.judgment.forms import ANSWER, EXPLAINED, MOST_CHOICES, Forms
from dedup_job.judgment.forms import IMAGE as IMAGE_MARK
from dedup_job.native.jit import inner

RICHER: Final = ("image", "answer", "explanation", "choice", "sentence", "rest")
"""What a text can have more: bit i stands for name i. `rest`: of a text that was cut off."""

_IMAGE, _ANSWER, _EXPLANATION, _CHOICE, _SENTENCE, _REST = (1 << i for i in range(len(RICHER)))
_ADDED, _TRUNCATED = (CLASSES.index(kind) for kind in (Difference.ADDED, Difference.TRUNCATED))
_PICTURE, _EQUALS = ord(IMAGE_MARK), ord("=")


@inner
def richer(one: Forms, i: int, other: Forms, j: int, room: Room, count: int) -> int:
    """Return what form i of one has that form j of other lacks, as bits.

    room: holds all `count` differences of the two, whose spans are of one, then of other.
    """
    bits = 0
    if _has_answer(one, i) and not _has_answer(other, j):
        bits |= _ANSWER
    if one.flags[i] & EXPLAINED and not other.flags[j] & EXPLAINED:
        bits |= _EXPLANATION
    stem_end = one.offsets[i] + one.cuts[i, 0]
    for at in range(count):
        kind, spans = room.kinds[at], room.spans
        p, q, r, s = spans[at, 0], spans[at, 1], spans[at, 2], spans[at, 3]
        if kind not in (_ADDED, _TRUNCATED) or q - p <= s - r:
            continue
        if _pictures(one, p, q) > _pictures(other, r, s):
            bits |= _IMAGE
        elif kind == _ADDED:
            bits |= _ANSWER if p > one.offsets[i] and one.points[p - 1] == _EQUALS else _SENTENCE
        else:
            bits |= _CHOICE if r == s and p >= stem_end else _REST
    return bits


@inner
def _has_answer(forms: Forms, i: int) -> bool:
    return bool(forms.cuts[i, ANSWER] > forms.cuts[i, MOST_CHOICES])


@inner
def _pictures(forms: Forms, start: int, stop: int) -> int:
    count = 0
    for k in range(start, stop):
        count += forms.points[k] == _PICTURE
    return count


def names_of_richer(bits: int) -> tuple[str, ...]:
    """Return the names of what a text has more, in order."""
    return tuple(name for i, name in enumerate(RICHER) if bits >> i & 1)
