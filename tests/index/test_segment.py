"""A segment finds what brute force and a dictionary find, however it grows."""

from __future__ import annotations

import random
from itertools import chain, combinations, pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dedup_job.columns import Fingerprints, Sketches
from dedup_job.documents import Channel
from dedup_job.fingerprint.sketch import KEY_BITS
from dedup_job.index import IndexSettings, bands, hamming
from dedup_job.index.candidates import BY_SIMHASH
from dedup_job.index.hamming import HammingIndex
from dedup_job.index.layout import layout_of
from dedup_job.index.segment import Segment, sealed
from dedup_job.native import snapshot
from dedup_job.native.bytes_column import strings_of
from dedup_job.native.growable_array import zeros_on_large_pages
from tests.reference.sketch import NaiveBands

ALL = 2**64 - 1
DISTANCES = range(8)
LAST = 2**KEY_BITS - 1
COLUMNS = 3


def segment(distance=3):
    return Segment(IndexSettings(distance=distance))


def prints_of(values, searchable=None, keys=None):
    """Return fingerprints of texts, and the keys of their sketches."""
    values = np.array(list(values), dtype=np.uint64)
    short = np.zeros(len(values), np.bool_) if searchable is None else ~np.array(searchable, bool)
    sketches = None
    if keys is not None:
        channels = (Channel.MINHASH,) * keys.shape[1]
        sketches = Sketches(keys, np.empty((len(keys), 0), np.uint64), channels)
    return Fingerprints(values, values, short, sketches)


def keyed(keys):
    """Return texts that nothing but keys finds."""
    return prints_of([0] * len(keys), [False] * len(keys), keys)


def add(index, texts):
    index.add(strings_of([b"key"] * len(texts)), texts)


def answers(index, texts, most_same=0):
    """Return for each text what is found, as (number, columns, distance)."""
    none = np.empty((len(texts), 0), np.uint64), np.zeros(len(texts), np.int64)
    found = index.find(texts, *none, most_same).candidates
    columns = (column.tolist() for column in found[1:4])
    pairs = list(zip(*columns, strict=True))
    return [pairs[a:b] for a, b in pairwise(found.offsets.tolist())]


def near(index, queries, most_same=0):
    """Return for each fingerprint what is found, as (number, distance)."""
    found = answers(index, prints_of(queries), most_same)
    return [[(number, apart) for number, _, apart in one] for one in found]


def brute(held, queries, distance):
    """Return for each query all that is held within the distance, as (number, distance)."""
    held, queries = (np.array(list(part), dtype=np.uint64) for part in (held, queries))
    return [
        [(number, int(row[number])) for number in np.flatnonzero(row <= distance).tolist()]
        for row in np.bitwise_count(queries[:, None] ^ held[None, :])
    ]


def flip(fingerprint, bits):
    for bit in bits:
        fingerprint ^= 1 << bit
    return fingerprint


def nearby(rng, centre, most):
    """Return a fingerprint with up to `most` bits flipped anywhere."""
    return flip(centre, rng.sample(range(64), rng.randint(0, most)))


def random_set(rng, _):
    return [rng.getrandbits(64) for _ in range(300)]


def clusters(rng, _):
    centres = [rng.getrandbits(64) for _ in range(10)]
    return [nearby(rng, centre, 8) for centre in centres for _ in range(30)]


def a_long_bucket_in_each_block(rng, distance):
    """Return fingerprints that differ in the 16 bits beside the block only."""
    held = []
    for block in layout_of(distance, 1):
        centre, end = rng.getrandbits(64), block.offset + block.bits
        beside = range(end, end + 16) if end <= 48 else range(block.offset - 16, block.offset)
        apart = [rng.randint(0, distance + 1) for _ in range(60)]
        held += [flip(centre, rng.sample(beside, d)) for d in apart]
    return held


def all_equal(rng, _):
    return [rng.getrandbits(64)] * 100


def extremes(_rng, _):
    return [0, ALL, 1, ALL - 1, 1 << 63, ALL >> 1, 0xFFFF, 0xFFFF << 48, 0x7F, 0xFF, 0x1FF] * 3


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize(
    "make", [random_set, clusters, a_long_bucket_in_each_block, all_equal, extremes]
)
def test_it_finds_all_fingerprints_within_the_distance(distance, make):
    rng, index = random.Random(distance), segment(distance)
    held = make(rng, distance)
    add(index, prints_of(held))
    queries = [*held[::5], *(nearby(rng, f, 8) for f in held[::5]), 0, ALL, rng.getrandbits(64)]
    assert near(index, queries) == brute(held, queries, distance)


def spreads(errors, rooms):
    """Yield every way in which so many differing bits fall into parts that have room for them."""
    if not rooms:
        if errors == 0:
            yield ()
        return
    for here in range(min(errors, rooms[0]) + 1):
        for rest in spreads(errors - here, rooms[1:]):
            yield (here, *rest)


def spread_everywhere(rng, errors, distance):
    """Return fingerprints with so many bits set, spread over blocks and the rest in every way."""
    blocks = layout_of(distance, 1)
    parts = [list(range(block.offset, block.offset + block.bits)) for block in blocks]
    parts.append(sorted(set(range(64)).difference(*parts)))
    planted = []
    for spread in spreads(errors, [len(part) for part in parts]):
        chosen = [rng.sample(part, n) for part, n in zip(parts, spread, strict=True)]
        planted.append(flip(0, chain.from_iterable(chosen)))
    return planted


@pytest.mark.parametrize("distance", DISTANCES)
def test_what_is_at_the_distance_is_found_and_one_bit_further_is_not(distance):
    rng, index = random.Random(distance), segment(distance)
    within, beyond = (spread_everywhere(rng, distance + more, distance) for more in (0, 1))
    add(index, prints_of(beyond + within))
    assert near(index, [0]) == [[(len(beyond) + i, distance) for i in range(len(within))]]
    alone = segment(distance)
    add(alone, prints_of([0]))
    assert near(alone, within + beyond) == [[(0, distance)]] * len(within) + [[]] * len(beyond)


@pytest.mark.parametrize("distance", DISTANCES)
def test_of_equal_fingerprints_only_the_first_are_found(distance):
    rng, index = random.Random(distance), segment(distance)
    kinds = [nearby(rng, 0, 8) for _ in range(40)]
    held = [rng.choice(kinds) for _ in range(400)]
    add(index, prints_of(held))
    first = {fingerprint: held.index(fingerprint) for fingerprint in held}
    expected = [
        [(number, d) for number, d in answer if first[held[number]] == number]
        for answer in brute(held, kinds, distance)
    ]
    assert near(index, kinds, most_same=1) == expected


def test_a_query_with_thousands_of_candidates_is_answered():
    index = segment()
    held = [flip(0, bits) for n in (2, 3) for bits in combinations(range(30), n)]
    add(index, prints_of(held))
    assert near(index, [1, 0, ALL]) == brute(held, [1, 0, ALL], 3)


@pytest.mark.parametrize("distance", DISTANCES)
def test_growth_over_many_doublings_changes_no_answer(distance, monkeypatch):
    """In steps of all sizes, some longer than a doubling; a third are equal to earlier ones."""
    monkeypatch.setattr("dedup_job.index.layout.LEAST_SIZE", 64)
    monkeypatch.setattr(hamming, "AT_ONCE", 50)
    rng, index = random.Random(distance), segment(distance)
    held, searchable = [], []
    for step in [1, 1, 60, 1, 1, 1, 300, 1, 700, 5000, 1, 1001, 1, 8000]:
        for _ in range(step):
            again = held and rng.random() < 0.3
            held.append(nearby(rng, rng.choice(held), 8) if again else rng.getrandbits(64))
            held[-1] = rng.choice(held) if rng.random() < 0.1 else held[-1]
            searchable.append(rng.random() < 0.9)
        add(index, prints_of(held[-step:], searchable[-step:]))
        queries = [held[-1], *rng.sample(held, min(len(held), 15)), rng.getrandbits(64)]
        assert near(index, queries) == [
            [(number, d) for number, d in answer if searchable[number]]
            for answer in brute(held, queries, distance)
        ]


@pytest.mark.parametrize("distance", [0, 3, 7])
def test_fingerprints_take_no_more_than_32_bytes_from_half_full_on(distance):
    size = 47 << 12
    held = np.random.default_rng(distance).integers(0, 2**64, size, dtype=np.uint64)
    index = HammingIndex(distance)
    for part in np.split(held, 512):
        index.extend(part, np.ones(len(part), np.bool_))
        if len(index) > size // 2:
            assert 15 < index.nbytes / len(index) < 32


@pytest.mark.parametrize(("room", "name"), [(hamming, "MOST"), (bands, "_MOST")])
def test_more_than_it_can_number_are_refused(monkeypatch, room, name):
    monkeypatch.setattr(room, name, 2)
    with pytest.raises(OverflowError, match="one index holds 2"):
        add(segment(), prints_of([1] * 3, keys=np.ones((3, 1), np.uint32)))


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


def neighbours(rng, n, columns=COLUMNS):
    """Return keys that all find the same buckets full."""
    return rng.integers(0, 200, (n, columns), dtype=np.uint32)


class Keyed:
    """A segment and a dictionary that hold the same keys."""

    def __init__(self, keys, step=1000):
        self.index, self.naive = segment(), NaiveBands(keys.shape[1])
        for start in range(0, len(keys), step):
            self.add(keys[start : start + step])

    def add(self, keys):
        """Add texts to both."""
        add(self.index, keyed(keys))
        self.hold(keys)

    def hold(self, keys):
        """Add texts to the dictionary."""
        for row in keys.tolist():
            self.naive.add(row)

    def check(self, queries, index=None):
        """Compare what both find."""
        index = index or self.index
        assert index.bands.dropped.tolist() == self.naive.dropped
        found = [[pair[:2] for pair in one] for one in answers(index, keyed(queries))]
        assert found == [self.naive.search(row) for row in queries.tolist()]


@pytest.fixture
def growing(monkeypatch):
    """Let columns be made anew from the start, whenever they have grown by an eighth."""
    monkeypatch.setattr("dedup_job.index.bands._LEAST", 50)


@pytest.mark.parametrize("bit", range(KEY_BITS))
def test_keys_that_differ_in_any_bit_are_told_apart(bit):
    index = segment()
    add(index, keyed(np.array([[0], [LAST]], np.uint32)))
    queries = np.array([[1 << bit], [LAST ^ 1 << bit]], np.uint32)
    assert answers(index, keyed(queries)) == [[], []]


@pytest.mark.usefixtures("growing")
@pytest.mark.parametrize("make", [random_keys, skewed_keys, equal_keys, neighbours])
@pytest.mark.parametrize(("columns", "step"), [(1, 700), (3, 1), (3, 10_000), (21, 300), (31, 900)])
def test_keys_are_found_as_by_a_dictionary_also_in_a_file(tmp_path, make, columns, step):
    rng = np.random.default_rng(step)
    keys = make(rng, 1500, columns)
    both = Keyed(keys, step)
    queries = np.concatenate([make(rng, 40, columns), keys[::40]])
    both.check(queries)
    snapshot.write(tmp_path / "one", *sealed(IndexSettings(), [both.index]))
    saved = snapshot.read(tmp_path / "one")
    both.check(queries, Segment.load(IndexSettings(), saved.facts, saved.parts))


# equal in their addresses but not above, equal above but not in their addresses, and the extremes
KEYS = st.sampled_from(
    [0, 1, LAST, LAST - 1, *(i << 14 for i in range(1, 12)), *(5 + (1 << i) for i in range(13, 30))]
)
ROWS = st.lists(st.tuples(*[KEYS] * COLUMNS), max_size=12)


@pytest.mark.usefixtures("growing")
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(ROWS, st.integers(0, 5000)), max_size=5))
def test_it_agrees_with_the_dictionary_at_every_step(steps):
    """Between steps it grows by rows that nothing else shares."""
    rng = np.random.default_rng(0)
    both = Keyed(np.empty((0, COLUMNS), np.uint32))
    for rows, others in steps:
        keys = np.array(rows, np.uint32).reshape(-1, COLUMNS)
        both.add(keys)
        both.add(random_keys(rng, others))
        both.check(keys)


@pytest.mark.usefixtures("growing")
@pytest.mark.parametrize("make", [random_keys, equal_keys])
def test_without_memory_for_more_keys_it_stays_what_it_is(monkeypatch, make):
    """Whichever of its arrays cannot be had; later it grows."""
    rng = np.random.default_rng(1)
    first, more = make(rng, 2000), make(rng, 1000)
    for array in range(2 * COLUMNS):
        both, made = Keyed(first), []

        def hesitant(size, dtype, array=array, made=made):
            made.append(size)
            if len(made) > array:
                raise MemoryError
            return zeros_on_large_pages(size, dtype)

        with monkeypatch.context() as patched:
            patched.setattr(bands, "zeros_on_large_pages", hesitant)
            patched.setattr(both.index.bands, "_planned", len(both.index))
            with pytest.raises(MemoryError):
                both.index.bands.extend(more)
        both.check(first[::40])
        both.index.bands.extend(more)
        both.hold(more)


def test_keys_take_six_bytes_each():
    index = bands.BandIndex(2)
    rng = np.random.default_rng(1)
    for size in range(200_000, 1_000_000, 200_000):
        index.extend(random_keys(rng, 200_000, 2))
        assert 5 < index.nbytes / size / 2 < 7


def test_a_short_text_is_found_by_its_keys_alone():
    index, keys = segment(), np.ones((2, 1), np.uint32)
    add(index, prints_of([5, 5], [True, False], keys))
    found = answers(index, prints_of([5, 5], [True, False], keys))
    assert found == [[(0, BY_SIMHASH | 1, 0), (1, 1, 0)], [(0, 1, 0), (1, 1, 0)]]
