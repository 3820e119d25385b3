"""What is remembered, compared with what the target holds: every difference is found and named."""

import random

import numpy as np

from dedup_job.columns import Fingerprints, KeptPage
from dedup_job.index import IndexSettings, KeptIndex
from dedup_job.index.kept import Comparison


def page(rows):
    """Make a page of (key, fingerprint, digest, short)."""
    keys, values, digests, short = zip(*rows, strict=True) if rows else ((), (), (), ())
    return KeptPage(
        list(keys),
        Fingerprints.of(
            np.array(values, dtype=np.uint64),
            np.array(digests, dtype=np.uint64),
            np.array(short, dtype=np.bool_),
        ),
        np.ones(len(keys), dtype=np.int64),
    )


def documents(n, seed=1):
    rng = random.Random(seed)
    return [
        (f"key {i}".encode(), rng.getrandbits(64), rng.getrandbits(64), rng.random() < 0.2)
        for i in range(n)
    ]


def compare(remembered, held, per_page=7):
    kept = KeptIndex(IndexSettings())
    kept.remember(lambda: [page(remembered)] if remembered else [])
    compared = Comparison(kept)
    for start in range(0, len(held), per_page):
        compared.add(page(held[start : start + per_page]))
    return compared


def outcome(compared):
    return [(d.count, sorted(d.keys)) for d in (compared.missing, compared.surplus())]


def test_the_same_in_another_order_does_not_differ():
    rows = documents(100)
    assert outcome(compare(rows, rows[50:] + rows[:50])) == [(0, [])] * 2


def test_nothing_is_the_same_as_nothing():
    assert outcome(compare([], [])) == [(0, [])] * 2


def test_what_one_side_lacks_is_counted_and_named():
    rows = documents(40)
    assert outcome(compare(rows[:38], rows[3:])) == [
        (2, [b"key 38", b"key 39"]),
        (3, [b"key 0", b"key 1", b"key 2"]),
    ]


def test_of_many_the_first_few_are_named():
    rows = documents(60)
    compared = compare([], rows)
    assert compared.missing.count == 60
    assert compared.missing.keys == [f"key {i}".encode() for i in range(5)]


def test_a_key_that_is_remembered_twice_is_one_too_many():
    rows = documents(5)
    assert outcome(compare([*rows, rows[2]], rows))[1] == (1, [b"key 2"])
