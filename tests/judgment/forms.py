"""Calls of the compiled judge, and its comparison with the reference."""

import functools

import numpy as np

from dedup_job import _core
from dedup_job.cleaning import Cleaner
from dedup_job.judgment.features import GUARDS
from dedup_job.judgment.model import KINDS
from dedup_job.native.bytes_column import pack
from tests.judging import judge_for
from tests.reference.form import form_of
from tests.reference.pair import features_of
from tests.reference.similarity import canonical_of


@functools.cache
def judge():
    return judge_for()


def sketched(texts, by=None):
    """Return the sketch of each text: keys, then bits. by: a judge that writes canonical texts."""
    keys, bits, _ = _core.sketch(pack(texts).utf8(), by, minhash=True, whole=True)
    return [
        (*a.tolist(), *b.tolist())
        for a, b in zip(keys.reshape(len(texts), -1), bits.reshape(len(texts), -1), strict=True)
    ]


def canonical(texts):
    """Return canonical texts by the reference; assert that their sketches are those of the core."""
    canonical = [*map(canonical_of, texts)]
    assert sketched(texts, judge().core) == sketched(canonical)
    return canonical


def compared(pairs):
    """Return PAIR_FEATURES of pairs, and of the same with the sides exchanged."""
    one, other = (judge().parsed([*side]) for side in zip(*pairs, strict=True))
    rows = np.arange(len(pairs))
    sides = (one, rows, other, rows), (other, rows, one, rows)
    return tuple(judge().explain(side)[0] for side in sides)


def verdict(text, other, by=None):
    (found,) = (by or judge()).judge(([text], np.array([0]), [other], np.array([0])))
    return found


def differences(text, other):
    return judge().explain(([text], np.array([0]), [other], np.array([0])))[1][0]


def are_same(text, other):
    """Return whether two texts differ in notation and the order of choices alone."""
    return bool(compared([(text, other)])[0]["equal"][0])


def held_of(bits):
    return [guard for k, guard in enumerate(GUARDS) if bits >> k & 1]


def guards_of(a, b):
    """Return the names of the guards that hold for two texts, in both orders."""
    (found,), (turned,) = compared([tuple(Cleaner().clean_all([a, b]))])
    assert found["guards"] == turned["guards"]
    return held_of(found["guards"])


def kind_of(a, b):
    """Return the kind of two texts, in both orders."""
    (found,), (turned,) = compared([(a, b)])
    assert found["kind"] == turned["kind"]
    return KINDS[found["kind"]]


def check_pairs(pairs):
    """Assert that pairs have the features of the reference, and the same in both orders."""
    found, turned = compared(pairs)
    check_equal(found, turned)
    for (a, b), one in zip(pairs, found, strict=True):
        assert one["features"].tolist() == features_of(form_of(a), form_of(b)), (a, b)


def check_equal(one, other):
    """Assert that records are equal; NaN is equal to itself."""
    np.testing.assert_equal(
        *({name: each[name] for name in each.dtype.names} for each in (one, other))
    )


def check(texts):
    """Assert that texts, and cut copies of them, are read and compared like the reference."""
    canonical(texts)
    halves = [len(text) // 2 for text in texts]
    check_pairs([(t, t[:half] + t[half + 2 :]) for t, half in zip(texts, halves, strict=True)])
