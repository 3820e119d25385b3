"""The default judge, shared by the tests of the stages around it."""

import functools

import numpy as np

from dedup_job.decision import CONFIDENCE, DecisionSettings
from dedup_job.fingerprint import load_lexicon
from dedup_job.judgment import APART, JOINED, Judge
from dedup_job.judgment.model import JoinedCount

DEFAULT = DecisionSettings()


@functools.cache
def judge_for(settings=DEFAULT):
    """Return the judge of some settings, None if they compare no texts."""
    if not settings.compares:
        return None
    by = str(settings.judge)
    return Judge(_lexicon(), CONFIDENCE, judging=by, similarity=settings.similarity)


def joined(kind, confidence):
    """Return how many different and how many same pairs the model of a text kind joins."""
    sides = (kind.different, kind.same)
    return tuple(JoinedCount(int((one >= confidence).sum()), len(one)) for one in sides)


@functools.cache
def _lexicon():
    return load_lexicon(lambda _: None)


@functools.cache
def verdict(text, reference):
    """Return whether two texts are joined, their probability or None, and the guard between."""
    row = np.zeros(1, dtype=np.int64)
    (one,) = judge_for().judge(([text], row, [reference], row))
    likely = None if np.isnan(one["probability"]) else float(one["probability"])
    return one["state"] == JOINED, likely, APART[one["apart"]]
