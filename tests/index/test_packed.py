"""Packed columns find what the index finds that they were made of, or several one after another."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dedup_job.fingerprint.sketch import KEY_BITS
from dedup_job.index import snapshot
from dedup_job.index.bands import BandIndex
from dedup_job.index.packed import PackedColumns, pack
from tests.reference.sketch import NaiveBands

LAST = 2**KEY_BITS - 1
# equal in their addresses but not above, equal above but not in their addresses, and the extremes
KEYS = st.sampled_from(
    [0, 1, LAST, LAST - 1, *(i << 4 for i in range(1, 9)), 1 << 29, (1 << 29) + 5]
)
many_examples = settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def random_keys(rng, n, columns):
    return rng.integers(0, 2**KEY_BITS, (n, columns), dtype=np.uint32)


def crowded_keys(rng, n, columns):
    """Return keys of which a third share the lowest bits, and a third are one of nine."""
    low = rng.integers(0, 2**12, (n, columns), dtype=np.uint32) << np.uint32(18)
    few = np.uint32(7919) * rng.integers(0, 9, (n, columns), dtype=np.uint32)
    return np.choose(rng.integers(0, 3, (n, columns)), [low, few, random_keys(rng, n, columns)])


def packed_of(sources, folder):
    file = folder / "columns"
    saved = written(file, *pack(sources))
    return PackedColumns(saved.facts, saved.parts)


def written(file, facts, arrays):
    snapshot.write(file, facts, arrays.items())
    return snapshot.read(file)


def rows_of(found):
    pairs = list(zip(found.numbers.tolist(), found.columns.tolist(), strict=True))
    return [pairs[a:b] for a, b in pairwise(found.offsets.tolist())]


def filled(keys, **options):
    index = BandIndex(keys.shape[1], **options)
    index.extend(keys)
    return index


SIZES = [
    pytest.param(n, columns, marks=pytest.mark.thorough if n > 2000 and columns != 3 else ())
    for n, columns in product([0, 1, 15, 16, 17, 1000, 1023, 1024, 70_000], [1, 3, 21, 32])
]


@pytest.mark.parametrize(("n", "columns"), SIZES)
def test_they_find_what_a_dictionary_finds(tmp_path, n, columns):
    rng = np.random.default_rng(n)
    n = n if columns < 21 else n // 10
    keys = crowded_keys(rng, n, columns)
    naive = NaiveBands(columns)
    for row in keys.tolist():
        naive.add(row)
    index = filled(keys)
    packed = packed_of([index], tmp_path)
    assert len(packed) == n
    assert packed.dropped.tolist() == index.dropped.tolist() == naive.dropped
    queries = np.concatenate([keys[:: n // 300 + 1], crowded_keys(rng, 100, columns)])
    assert rows_of(packed.search(queries)) == [naive.search(row) for row in queries.tolist()]


@many_examples
@given(
    st.lists(st.lists(st.tuples(KEYS, KEYS), max_size=40), min_size=1, max_size=4),
    st.integers(1, 5),
    st.integers(0, 4),
)
def test_several_packed_as_one_hold_what_they_hold(tmp_path, parts, most_equal, packed_before):
    """Some of them packed before, as where a night's segment is merged with a former one."""
    sources, expected, first = [], [set() for _ in range(2)], 0
    for place, rows in enumerate(parts):
        keys = np.array(rows, dtype=np.uint32).reshape(-1, 2)
        index = filled(keys, most_equal=most_equal)
        for column in range(2):
            held = index.column(column).tolist()
            expected[column] |= {(item >> 32, (item & LAST) + first) for item in held}
        sources.append(packed_of([index], tmp_path) if place < packed_before else index)
        first += len(rows)
    whole = packed_of(sources, tmp_path)
    assert len(whole) == first
    for column in range(2):
        items = whole.column(column).tolist()
        assert {(item >> 32, item & LAST) for item in items} == expected[column]
        assert len(items) == len(expected[column])


def test_what_finds_more_than_there_is_room_for_is_found(tmp_path):
    keys = np.random.default_rng(4).integers(0, 3, (400, 21), dtype=np.uint32)
    index = filled(keys)
    assert rows_of(packed_of([index], tmp_path).search(keys)) == rows_of(index.search(keys))


def test_keys_that_are_none_are_refused(tmp_path):
    packed = packed_of([filled(np.zeros((3, 2), dtype=np.uint32))], tmp_path)
    for keys in (np.zeros((1, 3), np.uint32), np.full((1, 2), LAST + 1, np.uint32)):
        with pytest.raises(ValueError, match=r"columns|below"):
            packed.search(keys)


def test_they_take_less_than_five_bytes_a_document_and_column(tmp_path):
    for n in (2**17 - 1, 2**17, 200_000):
        index = filled(random_keys(np.random.default_rng(n), n, 4))
        assert 4 < packed_of([index], tmp_path).nbytes / n / 4 < 4.8
