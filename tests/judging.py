"""The judge that ships, as the tests of what is around it use it."""

import functools

import numpy as np

from dedup_job.decision import CONFIDENCE, DecisionSettings
from dedup_job.fingerprint import load_lexicon
from dedup_job.judgment import APART, JOINED, Judge
from dedup_job.judgment.model import JoinedCount

DEFAULT = DecisionSettings()


@functools.cache
def judge_for(settings=DEFAULT):
    """Return the judge of some settings, None where texts are not compared."""
    if not settings.compares:
        return None
    by = str(settings.judge)
    return Judge(_lexicon(), CONFIDENCE, judging=by, similarity=settings.similarity)


def joined(kind, confidence):
    """Return the different and the same pairs that the model of a kind of text joins."""
    sides = (kind.different, kind.same)
    return tuple(JoinedCount(int((one >= confidence).sum()), len(one)) for one in sides)


@functools.cache
def _lexicon():
    return load_lexicon(lambda _: None)


@functools.cache
def verdict(text, other):
    """Return whether two texts are joined, how likely they are the same, and what is between."""
    row = np.zeros(1, dtype=np.int64)
    (one,) = judge_for().judge(([text], row, [other], row))
    likely = None if np.isnan(one["probability"]) else float(one["probability"])
    return one["state"] == JOINED, likely, APART[one["apart"]]
