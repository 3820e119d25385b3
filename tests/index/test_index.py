"""The index finds the same as brute force and as a dictionary, in memory and in files."""

import itertools
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dedup_job import index as kept
from dedup_job.columns import Fingerprints, KeptPage, Sketches
from dedup_job.documents import Channel
from dedup_job.index import IndexCounts, IndexSettings, KeptIndex
from dedup_job.native import snapshot
from dedup_job.native.bytes_column import strings_of

ALL = 2**64 - 1
DISTANCES = range(8)
KEY_BITS = 30
LAST = 2**KEY_BITS - 1
SCATTER = 0x9E3779B97F4A7C15
NEW_DIGESTS = itertools.count(0, 10**6)  # of texts that are not equal to earlier ones


def prints_of(values, short=None, keys=None, bits=None, digests=None):
    """Return fingerprints with these values; by default without keys, and with new digests."""
    values = np.array(list(values), dtype=np.uint64)
    n = len(values)
    short = np.zeros(n, dtype=np.bool_) if short is None else np.array(short, dtype=np.bool_)
    if digests is None:
        first = np.uint64(next(NEW_DIGESTS))
        digests = (first + np.arange(n, dtype=np.uint64)) * np.uint64(SCATTER)
    sketches = None
    if keys is not None:
        bits = np.empty((n, 0)) if bits is None else bits
        channels = (Channel.MINHASH,) * keys.shape[1]
        sketches = Sketches(keys.astype(np.uint32), np.array(bits, dtype=np.uint64), channels)
    return Fingerprints.of(values, np.array(digests, dtype=np.uint64), short, sketches)


def keyed(keys):
    return prints_of([0] * len(keys), [True] * len(keys), keys)


def ids(count, first=0):
    return strings_of([b"\x10_id\0" + n.to_bytes(4, "little") for n in range(first, first + count)])


def index_of(*batches, **options):
    index = KeptIndex(IndexSettings(**options))
    for batch in batches:
        index.add(ids(len(batch), len(index)), batch)
    return index


def found(index, texts, *fields):
    """Look texts up; return the values of these fields of FOUND, for each text."""
    answers = [[] for _ in range(len(texts))]
    for one in index.find(texts):
        answers[one["row"]].append(tuple(int(one[name]) for name in fields))
    return answers


def near(index, queries):
    return found(index, prints_of(queries), "number", "distance")


def brute(stored, queries, distance):
    """Return number and distance of each stored fingerprint near a query, at most 16 equal ones."""
    first = {}
    for number, one in enumerate(stored):
        first.setdefault(one, []).append(number)
    numbers = sorted(number for same in first.values() for number in same[:16])
    return [
        [(n, (query ^ stored[n]).bit_count()) for n in numbers
         if (query ^ stored[n]).bit_count() <= distance]
        for query in queries
    ]  # fmt: skip


def flip(fingerprint, bits):
    for bit in bits:
        fingerprint ^= 1 << bit
    return fingerprint


def nearby(rng, centre, most):
    return flip(centre, rng.sample(range(64), rng.randint(0, most)))


def random_set(rng):
    return [rng.getrandbits(64) for _ in range(300)]


def clusters(rng):
    centres = [rng.getrandbits(64) for _ in range(10)]
    return [nearby(rng, centre, 8) for centre in centres for _ in range(30)]


def long_buckets(rng):
    """Return fingerprints that differ in a few neighbouring bits."""
    centre, first = rng.getrandbits(64), rng.choice([0, 16, 28, 48])
    beside = range(first, first + 16)
    return [flip(centre, rng.sample(beside, rng.randint(0, 8))) for _ in range(120)]


def all_equal(rng):
    return [rng.getrandbits(64)] * 100


def extremes(_):
    return [0, ALL, 1, ALL - 1, 1 << 63, ALL >> 1, 0xFFFF, 0xFFFF << 48, 0x7F, 0xFF, 0x1FF] * 3


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("make", [random_set, clusters, long_buckets, all_equal, extremes])
def test_all_fingerprints_within_the_distance_are_found(distance, make):
    rng = random.Random(distance)
    stored = make(rng)
    exactly = [flip(stored[0], rng.sample(range(64), distance + i % 2)) for i in range(600)]
    queries = [*stored[::5], *(nearby(rng, f, 8) for f in stored[::5]), 0, ALL, *exactly]
    index = index_of(prints_of(stored), distance=distance)
    assert near(index, queries) == brute(stored, queries, distance)


def test_a_query_with_thousands_of_candidates_is_answered():
    stored = [flip(0, bits) for n in (2, 3) for bits in combinations(range(30), n)]
    assert near(index_of(prints_of(stored)), [1, 0, ALL]) == brute(stored, [1, 0, ALL], 3)


@pytest.mark.parametrize("distance", [0, 3, 7])
def test_an_index_that_grows_finds_the_same_and_takes_few_bytes(distance):
    rng = np.random.default_rng(distance)
    stored = rng.integers(0, 2**64, 200_000, dtype=np.uint64)
    index = index_of(*(prints_of(part) for part in np.split(stored, 40)), distance=distance)
    queries = [*map(int, stored[::4001]), *(int(one) ^ 1 for one in stored[::4001])]
    apart = [np.bitwise_count(stored ^ np.uint64(query)) for query in queries]
    expected = [
        [(n, int(own[n])) for n in np.flatnonzero(own <= distance).tolist()] for own in apart
    ]
    assert near(index, queries) == expected
    assert index.growing_bytes < 100 * len(stored)


def test_short_texts_are_found_by_their_keys_only():
    texts = prints_of([5, 5], [False, True], np.ones((2, 1)))
    assert found(index_of(texts), texts, "number") == [[(0,), (1,)]] * 2
    assert near(index_of(prints_of([5, 5], [False, True])), [5]) == [[(0, 0)]]


def random_keys(rng, n, columns):
    return rng.integers(0, 2**KEY_BITS, (n, columns), dtype=np.uint32)


def skewed_keys(rng, n, columns):
    """Return keys, some of which are very frequent, and many of the same bucket."""
    few = rng.integers(0, 2**KEY_BITS, 40, dtype=np.uint32)
    kinds = rng.integers(0, 3, (n, columns))
    crowded = rng.integers(0, 2**16, (n, columns), dtype=np.uint32) << np.uint32(14)
    popular = few[np.minimum(rng.geometric(0.2, (n, columns)), 40) - 1]
    return np.choose(kinds, [crowded, popular, random_keys(rng, n, columns)])


def equal_keys(_, n, columns):
    return np.full((n, columns), 12345, dtype=np.uint32)


def neighbours(rng, n, columns):
    """Return n random keys a column, of so few values that each bucket overflows."""
    return rng.integers(0, 200, (n, columns), dtype=np.uint32)


def by_dictionary(stored, queries, most=128):
    """Return the numbers with a key in common; one key of a column finds the first `most`."""
    answers, columns = [set() for _ in queries], stored.shape[1]
    for column in range(columns):
        known = {}
        for number, key in enumerate(stored[:, column].tolist()):
            if len(known.setdefault(key, [])) < most:
                known[key].append(number)
        for answer, key in zip(answers, queries[:, column].tolist(), strict=True):
            answer.update(known.get(key, []))
    return [[(number,) for number in sorted(answer)] for answer in answers]


def saved_and_loaded(index, folder):
    with snapshot.writing(folder / "one") as writer:
        index.dump(writer)
    loaded = KeptIndex(index._settings)
    loaded.load(snapshot.read(folder / "one"))
    return loaded


@pytest.mark.parametrize("make", [random_keys, skewed_keys, equal_keys, neighbours])
@pytest.mark.parametrize(
    ("columns", "size", "step"),
    [(1, 30_000, 7000), (3, 900, 1), (3, 20_000, 20_000), (21, 6000, 300), (32, 9000, 4096)],
)
def test_keys_are_found_as_by_a_dictionary(tmp_path, make, columns, size, step):
    rng = np.random.default_rng(step)
    keys = make(rng, size, columns)
    queries = np.concatenate([make(rng, 40, columns), keys[:: size // 40]])
    index = index_of(*(keyed(keys[at : at + step]) for at in range(0, size, step)))
    expected = by_dictionary(keys, queries)
    assert found(index, keyed(queries), "number") == expected
    assert found(saved_and_loaded(index, tmp_path), keyed(queries), "number") == expected


@pytest.mark.parametrize("bit", range(KEY_BITS))
def test_keys_that_differ_in_one_bit_are_different(bit):
    index = index_of(keyed(np.array([[0], [LAST]])))
    assert found(index, keyed(np.array([[1 << bit], [LAST ^ 1 << bit]])), "number") == [[], []]


def test_a_key_takes_six_bytes():
    index, without, rng = index_of(), index_of(), np.random.default_rng(1)
    for size in range(200_000, 1_000_000, 200_000):
        texts = keyed(random_keys(rng, 200_000, 20))
        index.add(ids(200_000), texts)
        without.add(ids(200_000), replace(texts, sketches=None))
        assert 5 < (index.growing_bytes - without.growing_bytes) / size / 20 < 7


# Documents that nearly all find each other: value, digest, short, keys, bits.
DOCUMENTS = st.lists(
    st.tuples(
        st.sampled_from([5, 5, 4, 0b10101, 2**60]),
        st.integers(0, 3),
        st.sampled_from([False, False, True]),
        st.tuples(st.integers(0, 2), st.integers(0, 2)),
        st.sampled_from([0, 1, 7, 2**40 - 1]),
    ),
    min_size=1,
    max_size=30,
)


def texts_of(rows):
    values, digests, short, keys, bits = zip(*rows, strict=True)
    return prints_of(values, short, np.array(keys), [[one] for one in bits], digests)


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    DOCUMENTS,
    st.lists(st.integers(0, 30), max_size=4),
    st.sampled_from([1, 2, 128]),
    st.lists(st.sampled_from(["file", "memory", "other", "bury", "restore", ""]), max_size=5),
    st.randoms(),
)
def test_segments_find_the_same_as_one_index(tmp_path, rows, cuts, most, steps, rng):
    """In files, in memory or of a reference collection; some documents are tombstoned."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept, "LIMITS", (most,) * 3)
        whole, segments, is_first = index_of(), index_of(), True
        bounds = sorted({0, *(min(cut, len(rows)) for cut in cuts), len(rows)})
        for (start, stop), step in zip(pairwise(bounds), [*steps, *[""] * 5], strict=False):
            texts, keys = texts_of(rows[start:stop]), ids(stop - start, start)
            whole.add(keys, texts)
            if step == "other" and is_first:
                reference = index_of()
                reference.add(keys, texts)
                segments.add_reference("a.b", reference)
            else:
                is_first = False
                segments.add(keys, texts)
            if step in ("bury", "restore") and not segments.counts.referenced:
                some = {key for key in ids(stop).list() if rng.random() < 0.5}
                for index in (whole, segments):
                    index.tombstone(some, gone=step == "bury")
            if step == "memory":
                segments.spill_growing(lambda dump: snapshot.mapped(tmp_path, dump))
            if step == "file" and not segments.counts.referenced:
                segments = saved_and_loaded(segments, tmp_path)
        fields = "number", "distance", "agreement", "is_equal"
        query = texts_of(rows)
        assert found(segments, query, *fields) == found(whole, query, *fields)
        own = np.arange(segments.counts.referenced, len(segments))
        assert (
            segments.keys_and_fingerprints(own)[0].list()
            == whole.keys_and_fingerprints(own)[0].list()
        )
        assert segments.live_numbers().tolist() == [n for n in whole.live_numbers() if n in own]


def test_many_segments_are_merged_in_a_file(tmp_path):
    rng = np.random.default_rng(1)
    batches = [texts_of([(int(v), int(v), False, (1, 2), 5)]) for v in rng.integers(0, 9, 40)]
    index = index_of(*batches[:10])
    for batch in batches[10:]:
        index.spill_growing(lambda dump: snapshot.mapped(tmp_path, dump))
        index.add(ids(1, len(index)), batch)
    assert len(index.core.segments) == 31
    query = texts_of([(5, 5, False, (1, 0), 5)])
    merged = saved_and_loaded(index, tmp_path)
    assert len(merged.core.segments) == 2  # with the one that grows
    assert found(merged, query, "number") == found(index, query, "number")


@pytest.mark.parametrize(
    ("sizes", "first"),
    [
        ([], 0),
        ([5], 0),
        ([100, 5], 0),  # small ones are merged
        ([300, 5], 1),  # a large one stays as it is
        ([300, 80], 0),  # not beside one that is a quarter as large
        ([2000, 300, 5], 2),
        ([2000, 300, 80], 1),
        ([2000, 300, 100, 80, 70], 0),
    ],
)
def test_merges_keep_segments_falling_in_size(tmp_path, monkeypatch, sizes, first):
    monkeypatch.setattr(kept, "_LEAST", 200)
    index = index_of()
    for number, size in enumerate(sizes):
        if number:
            index.spill_growing(lambda dump: snapshot.mapped(tmp_path, dump))
        index.add(ids(size, len(index)), prints_of(range(size)))
    assert index.first_to_merge() == first


IDS = st.one_of(
    st.binary(min_size=12, max_size=12).map(lambda one: b"\x07_id\0" + one),
    st.binary(min_size=5, max_size=40).map(lambda one: b"\x02_id\0" + one),
)


@given(st.lists(IDS, unique=True, min_size=1, max_size=40), st.data())
def test_documents_are_found_by_their_ids_and_return_them(all_ids, data):
    index = KeptIndex(IndexSettings())
    index.add(strings_of(all_ids), prints_of(range(len(all_ids))))
    removed = set(data.draw(st.lists(st.sampled_from(all_ids))))
    index.tombstone(removed)
    sought = [*all_ids, b"\x07_id\0another one.", b"\x02_id\0"]
    expected = [-1 if one in removed else n for n, one in enumerate(all_ids)] + [-1, -1]
    assert index.core.find_ids(strings_of(sought)).tolist() == expected
    keys, values = index.keys_and_fingerprints(np.arange(len(all_ids)))
    assert (keys.list(), values.tolist()) == (all_ids, [*range(len(all_ids))])
    assert (index.live, len(index)) == (len(all_ids) - len(removed), len(all_ids))


def test_a_document_that_is_kept_again_has_its_last_number():
    index = index_of(prints_of(range(3)))
    assert index.core.find_ids(ids(4)).tolist() == [0, 1, 2, -1]
    index.tombstone({ids(1).at(0)})
    index.add(ids(1), prints_of([7]))
    assert index.core.find_ids(ids(4)).tolist() == [3, 1, 2, -1]
    index.tombstone({ids(1).at(0)})
    index.tombstone({ids(1).at(0)}, gone=False)
    assert index.live_numbers().tolist() == [1, 2, 3]


def page(*rows):
    """Return a page of kept documents from pairs (run, number)."""
    numbers = [number for _, number in rows]
    keys = [ids(1, number).at(0) for number in numbers]
    return KeptPage(keys, prints_of(numbers), np.array([run for run, _ in rows], dtype=np.int64))


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ([1, 1, 1, 1], [0, 1, 2, 3]),
        ([1, 2, 1, 2], [0, 2, 1, 3]),
        ([3, 10, 3, 2], [3, 0, 2, 1]),  # an earlier run appears late
        ([4, 3, 2, 1], [3, 2, 1, 0]),
    ],
)
@pytest.mark.parametrize("size", [1, 2, 4])
def test_documents_are_numbered_by_run_and_then_in_the_order_of_the_pages(runs, expected, size):
    rows = [(run, number) for number, run in enumerate(runs)]
    pages = [page(*rows[i : i + size]) for i in range(0, 4, size)]
    index = KeptIndex(IndexSettings())
    index.rebuild(lambda: iter(pages))
    assert index.keys_and_fingerprints(np.arange(4))[1].tolist() == expected


FIRST = np.zeros(1, dtype=np.int64)
USES = {
    "documents": lambda index: index.keys_and_fingerprints(FIRST)[1].tolist(),
    "find": lambda index: index.find(prints_of([1]))["number"].tolist(),
    "find_ids": lambda index: index.core.find_ids(ids(3)).tolist(),
    "membership": lambda index: index.membership_test()(ids(2)).tolist(),
    "live_numbers": lambda index: index.live_numbers().tolist(),
    "first_to_merge": lambda index: index.first_to_merge(),
}


@pytest.mark.parametrize("use", USES)
def test_an_index_is_loaded_at_its_first_use_and_again_after_an_error(use):
    whole, index, calls = KeptIndex(IndexSettings()), KeptIndex(IndexSettings()), []
    whole.add(ids(3), prints_of([1, 2, 3]))

    def load():
        calls.append(1)
        if len(calls) == 1:
            raise OSError
        index.add(ids(3), prints_of([1, 2, 3]))

    index.load_later(IndexCounts(3, 0, 2, 7), load)
    assert (len(index), index.live, index.counts.unindexed, calls) == (3, 2, 7, [])
    with pytest.raises(OSError):  # without a message
        USES[use](index)
    assert USES[use](index) == USES[use](index) == USES[use](whole)
    assert (len(index), index.live, index.counts.unindexed, len(calls)) == (3, 3, 0, 2)


def test_other_threads_wait_for_the_one_that_loads():
    index, begun, may_end = KeptIndex(IndexSettings()), threading.Event(), threading.Event()

    def load():
        begun.set()
        assert may_end.wait(60)
        index.add(ids(1), prints_of([7]))

    index.load_later(IndexCounts(1, 0, 1, 0), load)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(index.live_numbers)
        assert begun.wait(60)
        second = pool.submit(index.live_numbers)
        with pytest.raises(TimeoutError):
            second.result(timeout=0.2)
        may_end.set()
        assert first.result().tolist() == second.result().tolist() == [0]
