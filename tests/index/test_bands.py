"""The band index finds what a dictionary of lists finds, whatever the keys and however it grows."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dedup_job.fingerprint.sketch import KEY_BITS
from dedup_job.index.bands import MOST_EQUAL, BandIndex
from dedup_job.index.sharing import pairs_sharing
from dedup_job.native.growable_array import zeros_on_large_pages
from tests.reference.sketch import NaiveBands

LAST = 2**KEY_BITS - 1
COLUMNS = 3
# equal in their addresses but not above, equal above but not in their addresses, and the extremes
KEYS = st.sampled_from(
    [0, 1, LAST, LAST - 1, *(i << 14 for i in range(1, 12)), *(5 + (1 << i) for i in range(13, 30))]
)
ROWS = st.lists(st.tuples(*[KEYS] * COLUMNS), max_size=12)
many_examples = settings(
    max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def array(rows, columns=COLUMNS):
    return np.array(rows, dtype=np.uint32).reshape(-1, columns)


def random_keys(rng, n, columns=COLUMNS):
    return rng.integers(0, 2**KEY_BITS, (n, columns), dtype=np.uint32)


def skewed_keys(rng, n, columns=COLUMNS):
    """Return keys of which some are everywhere, and many begin in the same bucket."""
    few = rng.integers(0, 2**KEY_BITS, 40, dtype=np.uint32)
    kinds = rng.integers(0, 3, (n, columns))
    crowded = rng.integers(0, 2**16, (n, columns), dtype=np.uint32) << np.uint32(14)
    popular = few[np.minimum(rng.geometric(0.2, (n, columns)), 40) - 1]
    return np.choose(kinds, [crowded, popular, random_keys(rng, n, columns)])


def equal_keys(_, n, columns=COLUMNS):
    return np.full((n, columns), 12345, dtype=np.uint32)


def rows_of(shared):
    """Return (number, columns) pairs of each row."""
    assert shared.offsets.dtype == shared.numbers.dtype == np.int64
    assert shared.columns.dtype == np.uint32
    assert shared.offsets[0] == 0
    assert shared.offsets[-1] == len(shared.numbers) == len(shared.columns)
    pairs = list(zip(shared.numbers.tolist(), shared.columns.tolist(), strict=True))
    return [pairs[a:b] for a, b in pairwise(shared.offsets.tolist())]


def assert_naive(index, naive, queries):
    assert len(index) == naive.size
    assert index.dropped.tolist() == naive.dropped
    assert rows_of(index.search(queries)) == [naive.search(row) for row in queries.tolist()]


def both(keys, step=1000, **options):
    """Return an index and the naive one that hold the keys."""
    index, naive = BandIndex(keys.shape[1], **options), NaiveBands(keys.shape[1], **options)
    for start in range(0, len(keys), step):
        index.extend(keys[start : start + step])
    for row in keys.tolist():
        naive.add(row)
    return index, naive


@pytest.fixture
def growing(monkeypatch):
    """Let columns be made anew from the start, whenever it has grown by an eighth."""
    monkeypatch.setattr("dedup_job.index.bands._LEAST", 50)


@pytest.mark.parametrize("bit", range(KEY_BITS))
def test_keys_that_differ_in_any_bit_are_told_apart(bit):
    index = BandIndex(1)
    index.extend(array([[0], [LAST]], 1))
    queries = array([[1 << bit], [LAST ^ 1 << bit]], 1)
    assert rows_of(index.search(queries)) == [[], []]


@pytest.mark.parametrize("columns", [1, 2, 21, 32])
@pytest.mark.parametrize("make", [random_keys, skewed_keys, equal_keys])
def test_it_finds_what_a_dictionary_finds(make, columns):
    rng = np.random.default_rng(columns)
    keys = make(rng, 1500, columns)
    index, naive = both(keys)
    queries = np.concatenate([make(rng, 60, columns), keys[:40], random_keys(rng, 5, columns)])
    assert_naive(index, naive, queries)


@pytest.mark.usefixtures("growing")
@pytest.mark.parametrize("make", [random_keys, skewed_keys, equal_keys])
@pytest.mark.parametrize("step", [1, 700, 10_000])
def test_it_finds_what_a_dictionary_finds_after_its_columns_were_made_anew(make, step):
    rng = np.random.default_rng(step)
    keys = make(rng, 7000)
    index, naive = both(keys, step)
    assert 7000 <= index._planned < 8000  # it was made for 50
    assert_naive(index, naive, np.concatenate([make(rng, 100), keys[::70]]))


@pytest.mark.usefixtures("growing")
@many_examples
@given(st.lists(st.tuples(ROWS, st.integers(0, 5000)), max_size=5), st.integers(1, 12))
def test_it_agrees_with_the_dictionary_at_every_step(steps, most_equal):
    """Between steps it grows by rows that nothing else shares."""
    rng = np.random.default_rng(0)
    index, naive = BandIndex(COLUMNS, most_equal=most_equal), NaiveBands(COLUMNS, most_equal)
    for rows, others in steps:
        for more in (array(rows), random_keys(rng, others)):
            index.extend(more)
            for row in more.tolist():
                naive.add(row)
        assert_naive(index, naive, array(rows))


@pytest.mark.parametrize("most_equal", [1, 9, 10, 11, 20, 21, MOST_EQUAL])
def test_of_equal_keys_the_first_are_held_and_the_others_counted(most_equal):
    index = BandIndex(2, most_equal=most_equal)
    index.extend(array([[7, i] for i in range(200)], 2))
    index.extend(array([[7, 0], [8, 8]], 2))
    assert index.dropped.tolist() == [201 - most_equal, 2 * (most_equal == 1)]
    found = [number for number, _ in rows_of(index.search(array([[7, 500]], 2)))[0]]
    assert found == list(range(most_equal))


@pytest.mark.parametrize("columns", [0, -1, 33])
def test_columns_out_of_range_are_refused(columns):
    with pytest.raises(ValueError, match="columns"):
        BandIndex(columns)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (array([[1, 2]], 2), "shape"),
        (np.zeros(3, np.uint32), "shape"),
        (array([[1, 2, LAST + 1]]), "below"),
    ],
)
def test_keys_that_are_none_are_refused(keys, message):
    index = BandIndex(COLUMNS)
    with pytest.raises(ValueError, match=message):
        index.extend(keys)
    with pytest.raises(ValueError, match=message):
        index.search(keys)
    assert len(index) == 0


def test_too_many_documents_are_refused(monkeypatch):
    index = BandIndex(1)
    index.extend(array([[1]], 1))
    monkeypatch.setattr("dedup_job.index.bands._MOST", 3)
    with pytest.raises(OverflowError):
        index.extend(array([[1]] * 3, 1))
    assert len(index) == 1


@pytest.mark.usefixtures("growing")
@pytest.mark.parametrize("make", [random_keys, equal_keys])
def test_without_memory_for_more_it_stays_what_it_is(monkeypatch, make):
    """Whichever of its arrays cannot be had; later it grows."""
    rng = np.random.default_rng(1)
    first, more = make(rng, 2000), make(rng, 1000)
    for array in range(2 * COLUMNS):
        index, naive = both(first)
        made = []

        def hesitant(size, dtype, array=array, made=made):
            made.append(size)
            if len(made) > array:
                raise MemoryError
            return zeros_on_large_pages(size, dtype)

        with monkeypatch.context() as patched:
            patched.setattr("dedup_job.index.bands.zeros_on_large_pages", hesitant)
            patched.setattr(index, "_planned", len(index))
            with pytest.raises(MemoryError):
                index.extend(more)
        assert len(made) == array + 1
        assert_naive(index, naive, first[::40])
        index.extend(more)
        for row in more.tolist():
            naive.add(row)
        assert_naive(index, naive, np.concatenate([first[::40], more[::40]]))


@pytest.mark.usefixtures("growing")
def test_keys_that_all_find_the_same_bucket_full_are_found(monkeypatch):
    """More of them than the table of a column was made for."""
    monkeypatch.setattr("dedup_job.index.bands._AT_ONCE", 40)
    rng = np.random.default_rng(3)
    near = rng.integers(0, 200, (3000, COLUMNS), dtype=np.uint32)
    index, naive = both(near, 500)
    assert all(one.spilled > 2000 for one in index.buckets.columns)
    assert_naive(index, naive, near[::100])


def test_keys_of_any_memory_layout_are_taken():
    keys = random_keys(np.random.default_rng(1), 50, 2 * COLUMNS)
    index, naive = both(keys[:, ::2])
    assert_naive(index, naive, np.asfortranarray(keys[:, ::2]))


@pytest.mark.usefixtures("growing")
@pytest.mark.parametrize("make", [random_keys, skewed_keys, equal_keys])
def test_a_column_says_what_it_holds(make):
    keys = make(np.random.default_rng(6), 3000)
    index, naive = both(keys)
    for column, table in enumerate(naive.tables):
        expected = [(key, number) for key, numbers in table.items() for number in numbers]
        items = index.column(column)
        assert items.dtype == np.uint64
        assert [divmod(item, 2**32) for item in sorted(items.tolist())] == sorted(expected)


def test_it_says_what_memory_it_takes():
    index, columns = BandIndex(2), 2
    assert index.nbytes < 1000
    rng = np.random.default_rng(1)
    for size in range(200_000, 1_000_000, 200_000):
        index.extend(random_keys(rng, 200_000, columns))
        assert 5 < index.nbytes / size / columns < 7


@pytest.mark.parametrize("make", [random_keys, skewed_keys, equal_keys])
def test_pairs_among_many_rows_are_those_of_a_dictionary(make):
    keys = make(np.random.default_rng(2), 300, 21)
    naive = NaiveBands(21, 300)
    for row, found in zip(keys.tolist(), rows_of(pairs_sharing(keys)), strict=True):
        assert found == naive.search(row)
        naive.add(row)
