"""A judge of few rules, for tests of what is around the judge."""

from __future__ import annotations

from dedup_job.decision import DecisionSettings
from dedup_job.fingerprint.lexicon_cache import load_lexicon
from dedup_job.judgment import (
    APART,
    JOINED,
    REFUSED,
    RICHER,
    UNLIKELY,
    DifferenceKind,
    Found,
    Judge,
    ReadTexts,
    unknown_verdicts,
)
from dedup_job.native.code_points import pack

_MOST = 6


def verdict(text: str, other: str) -> tuple[bool, float, str]:
    """Join texts with the same digits in the same order and nearly the same length.

    Return with it how likely they are the same, and what keeps them apart.
    """
    digits, others = ([c for c in t if c.isdecimal()] for t in (text, other))
    longer = abs(len(text) - len(other))
    likely = 1 / (1 + longer)
    if digits != others:
        return False, likely, "number"
    return longer <= _MOST, likely, UNLIKELY


def is_richer(text: str, other: str) -> bool:
    """Tell whether a text that is joined to another has a sentence that the other one lacks."""
    return verdict(text, other)[0] and len(text) - len(other) > _MOST // 2


class DigitJudge(Judge):
    """Judges by `verdict`, where differences decide."""

    def __init__(self, settings: DecisionSettings | None = None) -> None:
        """Read texts as any judge does."""
        chosen = settings or DecisionSettings()
        lexicon, by = load_lexicon(lambda _: None), str(chosen.judge)
        self._written = {}
        super().__init__(lexicon, 0.5, judging=by, similarity=chosen.similarity)

    def read(self, texts):
        """Remember what was read."""
        if isinstance(texts, ReadTexts):
            return texts
        read = super().read(texts)
        self._written[id(read.texts)] = read.texts, pack(texts).texts()
        return read

    def judge(self, pairs, threads=1):
        """Judge pair by pair."""
        if self.judging != "differences":
            return super().judge(pairs, threads)
        verdicts = unknown_verdicts(len(pairs[1]))
        for one, (text, other) in zip(verdicts, self._texts(*pairs), strict=True):
            joined, one["probability"], apart = verdict(text, other)
            one["state"], one["apart"] = JOINED if joined else REFUSED, APART.index(apart)
            one["richer"] = is_richer(text, other) << RICHER.index("sentence")
        return verdicts

    def each_differences(self, pairs, threads=1):  # noqa: ARG002
        """Name one difference of each pair, of the whole texts."""
        for text, other in self._texts(*pairs):
            yield [Found(DifferenceKind.REPLACED, "stem", text, other)]

    def _texts(self, left, left_rows, right, right_rows):
        sides = (self.read(left), left_rows), (self.read(right), right_rows)
        each = ((self._written[id(read.texts)][1], rows + read.first) for read, rows in sides)
        return list(zip(*([texts[i] for i in rows] for texts, rows in each), strict=True))
