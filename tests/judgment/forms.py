"""The compiled judge beside the reference."""

from __future__ import annotations

import functools

import numpy as np

from dedup_job import _core
from dedup_job.fingerprint.lexicon_cache import load_lexicon
from dedup_job.judgment import relations
from dedup_job.judgment.form_tables import form_tables
from dedup_job.native.code_points import TextColumn, pack
from tests.reference.form import form_of
from tests.reference.gist import gist_of
from tests.reference.pair import compare


@functools.cache
def judge() -> _core.Judge:
    return _core.Judge(form_tables(load_lexicon(print)), relations.packed(), len(_core.TEXT_KINDS))


def gists_of(texts: list[str]) -> list[str]:
    rows = np.arange(len(texts))
    return TextColumn.of(judge().gist(judge().outlines(pack(texts).utf8()), rows)).texts()


def compared(pairs):
    """Return features, guards and whether nothing differs, of pairs and of them turned."""
    one, other = (judge().outlines(pack([*side]).utf8()) for side in zip(*pairs, strict=True))
    rows = np.arange(len(pairs))
    found = judge().features(one, rows, other, rows), judge().features(other, rows, one, rows)
    return [(features.reshape(len(pairs), -1), *rest) for features, *rest in found]


def are_same(text, other):
    """Tell whether two texts differ in nothing but notation and the order of choices."""
    return bool(compared([(text, other)])[0][2][0])


def check_pairs(pairs):
    """Compare features and guards with those of the reference, in both orders."""
    (features, guards, *_), (turned, also, *_) = compared(pairs)
    assert np.array_equal(features, turned)
    assert np.array_equal(guards, also)
    for (a, b), row, bits in zip(pairs, features, guards, strict=True):
        expected = compare(form_of(a), form_of(b))
        assert row.tolist() == expected.features, (a, b)
        held = [name for k, name in enumerate(_core.GUARDS) if bits >> k & 1]
        assert held == expected.guards, (a, b)


def check(texts):
    """Compare what texts ask, and how each differs from itself with two characters left out."""
    assert gists_of(texts) == [*map(gist_of, texts)]
    halves = [len(text) // 2 for text in texts]
    check_pairs([(t, t[:half] + t[half + 2 :]) for t, half in zip(texts, halves, strict=True)])
