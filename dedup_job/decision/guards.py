"""Guards: rules that refuse a pair of texts, however alike they are."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable
from enum import StrEnum
from typing import assert_never

from dedup_job.decision.numbers import numbers
from dedup_job.decision.polarity import PolarityWords
from dedup_job.fingerprint.folding import SEPARATOR, fold_text
from dedup_job.fingerprint.structure import Parts, parts_of

__all__ = ["Guard", "Guards", "PolarityWords"]

_ENDS = (
    "\n",
    "。",
    "，",
    "；",
    "？",
    ", ",
    ". ",
)  # of clauses; no number, no word reaches over them
_WIDTHS: dict[int, str | int | None] = {
    **{point: point - 0xFEE0 for point in range(0xFF01, 0xFF5F)},
    **dict(zip(map(ord, "\u3000−∶’‘"), " -:''", strict=True)),
}
_GAPS = re.compile(r"(?<=[\u4e00-\u9fff])\s+(?=[\u4e00-\u9fff])")
_LEAST_SLIP = 4  # characters
_HAN = r"[^（）()【】]*[\u4e00-\u9fff]{2}[^（）()【】]*"
_NOTE = re.compile(rf"\s*(?:（{_HAN}）|\({_HAN}\)|【{_HAN}】)\s*$")


class Guard(StrEnum):
    """What must not differ between two duplicates."""

    NUMBERS = "numbers"
    POLARITY = "polarity"
    OPTIONS = "options"


class Guards:
    """The chosen guards. None of them looks at a text's number, points and source.

    Where one text has answer choices and the other has none, that may be a version without its
    choices, or one whose choices were not recognised: either reading passes.
    """

    def __init__(self, chosen: tuple[Guard, ...], words: PolarityWords) -> None:
        self._chosen = tuple(guard for guard in Guard if guard in chosen)
        self._words = words

    def refuses(self, text: str, other: str) -> Guard | None:
        """Return the first guard that refuses the pair, None where none does; symmetric."""
        if not self._chosen:
            return None
        text, other = text.translate(_WIDTHS), other.translate(_WIDTHS)
        parts, others = _parts(text), _parts(other)
        for guard in self._chosen:
            match guard:
                case Guard.NUMBERS:
                    refused = _differ(parts, others, _numbers_differ)
                case Guard.POLARITY:
                    refused = _differ(parts, others, self._polarity_differs)
                case Guard.OPTIONS:
                    refused = _options_differ(parts, others, text, other)
                case _:
                    assert_never(guard)
            if refused:
                return guard
        return None

    def _polarity_differs(self, parts: Parts, others: Parts) -> bool:
        return self._words.differ(*unlike(_joined(parts), _joined(others)))


def _differ(parts: Parts, others: Parts, differ: Callable[[Parts, Parts], bool]) -> bool:
    """Compare texts of which one may lack its choices, or hold them in its stem."""
    if not differ(parts, others):
        return False
    if bool(parts.options) == bool(others.options):
        return True
    full, bare = (parts, others) if parts.options else (others, parts)
    within = Parts("", "\n".join([full.stem, *full.options]), ())
    return differ(Parts("", full.stem, ()), bare) and differ(within, bare)


def _numbers_differ(parts: Parts, others: Parts) -> bool:
    text, other = unlike(parts.stem, others.stem)
    if numbers(text) != numbers(other):
        return True
    if sorted(parts.options) == sorted(others.options):
        return False
    return sorted(map(numbers, parts.options)) != sorted(map(numbers, others.options))


def _parts(text: str) -> Parts:
    """Return the parts of a text, without the white space between Han characters."""
    parts = parts_of(text)
    options = tuple(_GAPS.sub("", option) for option in parts.options)
    return Parts(parts.prefix, _GAPS.sub("", parts.stem), options)


def unlike(text: str, other: str) -> tuple[str, str]:
    """Return the texts without the clauses that both begin with, and those that both end with.

    Texts that are alike differ in few places, and only these are worth a look.
    """
    most = min(len(text), len(other))
    same = bisect_left(range(most), True, key=lambda n: text[: n + 1] != other[: n + 1])
    start = max(text.rfind(end, 0, same) + len(end) if end in text[:same] else 0 for end in _ENDS)
    text, other = text[start:], other[start:]
    most -= start
    same = bisect_left(range(most), True, key=lambda n: text[-n - 1 :] != other[-n - 1 :])
    common = text[len(text) - same :]
    cut = min((n for n in map(common.find, _ENDS) if n >= 0), default=len(common))
    rest = len(common) - cut
    return text[: len(text) - rest], other[: len(other) - rest]


def _joined(parts: Parts) -> str:
    return "\n".join([parts.stem, *sorted(parts.options, key=fold_text)])


def _options_differ(parts: Parts, others: Parts, text: str, other: str) -> bool:
    if not parts.options or not others.options:
        return False
    if sorted(parts.options) == sorted(others.options):
        return False
    text, other = _without_note(text, other), _without_note(other, text)
    left, right = Counter(_folded_options(text)), Counter(_folded_options(other))
    mine, theirs = list((left - right).elements()), list((right - left).elements())
    if len(mine) == len(theirs) == 1:
        return not _is_slip(*sorted((mine[0], theirs[0]), key=len))
    return bool(mine or theirs)


def _folded_options(text: str) -> list[str]:
    """Return the folded answer choices."""
    return fold_text(text).split(SEPARATOR)[1:]


def _without_note(text: str, other: str) -> str:
    """Return the text without a remark in brackets at its end, where the other has none."""
    note = _NOTE.search(text)
    return text if note is None or _NOTE.search(other) else text[: note.start()]


def _is_slip(shorter: str, longer: str) -> bool:
    """Tell whether a choice lacks one character of the other, and is not too short for that.

    Another character in place of one could be another substance, person or sign.
    """
    if len(longer) != len(shorter) + 1 or len(shorter) < _LEAST_SLIP:
        return False
    same = next((i for i, c in enumerate(shorter) if c != longer[i]), len(shorter))
    return shorter[same:] == longer[same + 1 :]
