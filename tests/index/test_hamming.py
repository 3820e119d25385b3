"""The Hamming index finds what brute force finds, for every distance and every layout."""

from __future__ import annotations

import platform
import random
from itertools import chain, combinations, pairwise
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_job import _core
from dedup_job.index import HammingIndex, Layout, hamming, layout_of, pairs_within
from dedup_job.index.layout import Block
from dedup_job.native.growable_array import GrowableArray

ALL = 2**64 - 1
DISTANCES = range(8)


def array(values):
    return np.array(list(values), dtype=np.uint64)


def flags(values):
    return np.array(list(values), dtype=np.bool_)


def index_of(held, distance, **options):
    index = HammingIndex(distance, **options)
    index.extend(array(held))
    return index


def per_query(candidates):
    """Return for each query what was found, as (number, distance)."""
    pairs = list(zip(candidates.numbers.tolist(), candidates.distances.tolist(), strict=True))
    ends = candidates.offsets.tolist()
    assert (ends[0], ends[-1]) == (0, len(pairs))
    return [pairs[a:b] for a, b in pairwise(ends)]


def answers(index, queries, **options):
    return per_query(index.search(array(queries), **options))


def found(index, query, **options):
    (answer,) = answers(index, [query], **options)
    return answer


def brute(held, queries, distance):
    """Look at all that is held for each query: (number, distance), in order of arrival."""
    apart = np.bitwise_count(array(queries)[:, None] ^ array(held)[None, :])
    return [
        [(number, int(row[number])) for number in np.flatnonzero(row <= distance).tolist()]
        for row in apart
    ]


def flip(fingerprint, bits):
    for bit in bits:
        fingerprint ^= 1 << bit
    return fingerprint


def near(rng, centre, most):
    """Flip up to `most` bits anywhere."""
    return flip(centre, rng.sample(range(64), rng.randint(0, most)))


def bits_of(block):
    return range(block.offset, block.offset + block.bits)


def bits_beside(block):
    return sorted(set(range(64)) - set(bits_of(block)))


def spreads(errors, rooms):
    """Yield every way in which so many differing bits fall into parts that have room for them."""
    if not rooms:
        if errors == 0:
            yield ()
        return
    for here in range(min(errors, rooms[0]) + 1):
        for rest in spreads(errors - here, rooms[1:]):
            yield (here, *rest)


def spread_everywhere(rng, centre, errors, layout):
    """Differ from the centre in so many bits, spread over blocks and the rest in every way."""
    parts = [list(bits_of(block)) for block in layout.blocks]
    parts.append(sorted(set(range(64)).difference(*parts)))
    planted = []
    for spread in spreads(errors, [len(part) for part in parts]):
        chosen = [rng.sample(part, n) for part, n in zip(parts, spread, strict=True)]
        planted.append(flip(centre, chain.from_iterable(chosen)))
    return planted


def random_set(rng, _layout):
    return [rng.getrandbits(64) for _ in range(300)]


def clusters(rng, _layout):
    centres = [rng.getrandbits(64) for _ in range(10)]
    return [near(rng, centre, 8) for centre in centres for _ in range(30)]


def one_bucket(rng, layout):
    """Share the address in one block, so that a bucket holds everything."""
    block, address = rng.choice(layout.blocks), rng.getrandbits(64)
    beside = sum(1 << bit for bit in bits_beside(block))
    return [(address & ~beside & ALL) | (rng.getrandbits(64) & beside) for _ in range(300)]


def a_long_bucket_in_each_block(rng, layout):
    """Differ from the block's own centre in the 16 bits beside the block only."""
    held = []
    for block in layout.blocks:
        centre, end = rng.getrandbits(64), block.offset + block.bits
        beside = range(end, end + 16) if end <= 48 else range(block.offset - 16, block.offset)
        apart = [rng.randint(0, layout.distance + 1) for _ in range(60)]
        held += [flip(centre, rng.sample(beside, d)) for d in apart]
    return held


def all_equal(rng, _layout):
    return [rng.getrandbits(64)] * 100


def extremes(_rng, _layout):
    return [0, ALL, 1, ALL - 1, 1 << 63, ALL >> 1, 0xFFFF, 0xFFFF << 48, 0x7F, 0xFF, 0x1FF] * 3


SETS = [
    random_set,
    clusters,
    one_bucket,
    a_long_bucket_in_each_block,
    all_equal,
    extremes,
]


@pytest.mark.parametrize("distance", DISTANCES)
def test_it_finds_what_brute_force_finds(distance):
    rng = random.Random(distance)
    for make in SETS:
        index = HammingIndex(distance)
        held = make(rng, index.layout)
        index.extend(array(held))
        queries = [*held[::5], *(near(rng, f, 8) for f in held[::5]), 0, ALL, rng.getrandbits(64)]
        assert answers(index, queries) == brute(held, queries, distance), make.__name__


@st.composite
def layouts(draw):
    """Any layout that passes its own rule: blocks of any width and radius, gaps between them."""
    blocks, end = [], 0
    for _ in range(draw(st.integers(1, 8))):
        offset = end + draw(st.integers(0, 20))
        end = offset + draw(st.integers(1, 10))
        if end > 64:
            break
        blocks.append(Block(offset, end - offset, draw(st.integers(0, 3))))
    return Layout(
        draw(st.integers(0, min(7, sum(b.radius + 1 for b in blocks) - 1))), tuple(blocks)
    )


def index_laid_out_as(layout):
    with patch.object(hamming, "layout_of", return_value=layout):
        return HammingIndex(layout.distance)


@given(layouts(), st.integers(0, 999))
def test_any_layout_that_passes_its_own_rule_misses_nothing(layout, seed):
    rng = random.Random(seed)
    index = index_laid_out_as(layout)
    centre = rng.getrandbits(64)
    held = [near(rng, centre, 9) for _ in range(60)]
    index.extend(array(held))
    assert answers(index, [centre, *held]) == brute(held, [centre, *held], layout.distance)


def test_what_differs_only_beside_a_block_is_found_far_back_in_its_bucket():
    """The bits beside the second block are those of the first, whose own bucket is long, too."""
    rng = random.Random(1)
    index = index_laid_out_as(Layout(3, (Block(32, 8, 1), Block(48, 8, 1))))
    strangers = [rng.getrandbits(64) & ~(0xFF << 32) for _ in range(100)]
    planted = [flip(0, bits) for bits in combinations(range(32, 40), 3)]
    index.extend(array(strangers + planted))
    assert found(index, 0) == [(100 + i, 3) for i in range(56)]


@pytest.mark.parametrize("distance", DISTANCES)
def test_planted_at_the_distance_is_found_and_one_bit_further_is_not(distance):
    """In every way of spreading the differing bits over the blocks and the bits of none."""
    rng = random.Random(distance)
    layout = HammingIndex(distance).layout
    centre = rng.getrandbits(64)
    within = spread_everywhere(rng, centre, distance, layout)
    beyond = spread_everywhere(rng, centre, distance + 1, layout)
    around = index_of(beyond + within, distance)
    assert around.layout == layout
    expected = [(len(beyond) + i, distance) for i in range(len(within))]
    assert found(around, centre) == expected
    alone = index_of([centre], distance)
    assert answers(alone, within) == [[(0, distance)]] * len(within)
    assert answers(alone, beyond) == [[]] * len(beyond)


def test_a_query_looks_into_as_many_buckets_as_the_layout_says():
    for distance in DISTANCES:
        layout = layout_of(distance, 10**4)
        buckets = index_laid_out_as(layout).buckets
        for place, block in enumerate(layout.blocks):
            flips = buckets.flips(place).tolist()
            assert len(set(flips)) == len(flips) == block.probes
            assert all(f < 2**block.bits for f in flips)


@pytest.mark.parametrize("distance", DISTANCES)
def test_of_equal_ones_only_the_first_is_found_where_they_are_collapsed(distance):
    rng = random.Random(distance)
    kinds = [near(rng, 0, 8) for _ in range(40)]
    held = [rng.choice(kinds) for _ in range(400)]
    index = index_of(held, distance)
    first = {fingerprint: held.index(fingerprint) for fingerprint in held}
    expected = [
        [(number, d) for number, d in answer if first[held[number]] == number]
        for answer in brute(held, kinds, distance)
    ]
    assert answers(index, kinds, most_equal=1) == expected
    assert answers(index, kinds) == brute(held, kinds, distance)


@pytest.mark.parametrize("distance", [2, 3, 7])
def test_a_query_with_more_candidates_than_there_is_room_for_is_answered(distance):
    """Three times the first room, found by the middle one of three queries."""
    held = [flip(0, bits) for bits in combinations(range(64), 2)] + [
        flip(0, bits) for bits in combinations(range(20), 3)
    ]
    index = index_of(held, distance)
    expected = brute(held, [1, 0, ALL], distance)
    assert len(expected[1]) > 1024
    assert answers(index, [1, 0, ALL]) == expected
    assert answers(index, [1, 0, ALL]) == expected  # with the larger room, too
    assert found(index, ALL) == []  # and what lies in the room from before is not told again


@pytest.mark.parametrize("distance", DISTANCES)
def test_growth_over_many_doublings_changes_no_answer(distance, monkeypatch):
    """In steps of all sizes, some longer than a doubling; a third are equal to earlier ones."""
    monkeypatch.setattr("dedup_job.index.layout.LEAST_SIZE", 64)
    monkeypatch.setattr(hamming, "AT_ONCE", 50)
    rng = random.Random(distance)
    index = HammingIndex(distance)
    held, searchable, seen = [], [], set()
    for step in [1, 1, 60, 1, 1, 1, 300, 1, 700, 5000, 1, 1001, 1, 8000]:
        for _ in range(step):
            again = held and rng.random() < 0.3
            held.append(near(rng, rng.choice(held), 8) if again else rng.getrandbits(64))
            held[-1] = rng.choice(held) if rng.random() < 0.1 else held[-1]
            searchable.append(rng.random() < 0.9)
        index.extend(array(held[-step:]), flags(searchable[-step:]))
        seen.add(index.layout)
        queries = [held[-1], *rng.sample(held, min(len(held), 15)), rng.getrandbits(64)]
        assert index.fingerprints.tolist() == held
        assert answers(index, queries) == [
            [(number, d) for number, d in answer if searchable[number]]
            for answer in brute(held, queries, distance)
        ]
    assert len(seen) >= 3


@pytest.mark.parametrize("distance", [0, 3, 7])
def test_it_takes_no_more_than_32_bytes_a_fingerprint_from_half_full_on(distance):
    size = 47 << 12
    held = np.random.default_rng(distance).integers(0, 2**64, size, dtype=np.uint64)
    index = HammingIndex(distance)
    for part in np.split(held, 512):
        index.extend(part)
        if len(index) > size // 2:
            assert 15 < index.nbytes / len(index) < 32
            assert index.nbytes == pytest.approx(
                index.layout.bytes_each(len(index)) * len(index), rel=0.04
            )


def test_more_than_it_can_number_are_refused_and_leave_it_as_it_was(monkeypatch):
    monkeypatch.setattr(hamming, "MOST", 5)
    index = index_of([1, 2, 3], 0)
    with pytest.raises(OverflowError, match="6 fingerprints; one index holds 5 at most"):
        index.extend(array([4, 5, 6]))
    assert (len(index), found(index, 4)) == (3, [])
    index.extend(array([4, 5]))
    assert answers(index, [1, 2, 3, 4, 5]) == [[(n, 0)] for n in range(5)]
    with pytest.raises(OverflowError):
        index.extend(array([6]))


@pytest.mark.parametrize("distance", DISTANCES)
def test_pairs_within_a_batch_are_those_of_brute_force(distance):
    rng = random.Random(distance)
    for make in (random_set, clusters, all_equal, extremes):
        batch = make(rng, None)
        searchable = [rng.random() < 0.8 for _ in batch]
        pairs = pairs_within(array(batch), flags(searchable), distance)
        assert per_query(pairs) == [
            [hit for hit in answer if hit[0] < i and searchable[i] and searchable[hit[0]]]
            for i, answer in enumerate(brute(batch, batch, distance))
        ]


def kinds_of_code() -> int | None:
    """Return how many kinds of code this processor runs, None where the system does not say."""
    facts = Path("/proc/cpuinfo")
    if platform.machine() != "x86_64":
        return 1
    if not facts.exists():
        return None
    has = set(facts.read_text().split("flags", 1)[1].split("\n", 1)[0].split())
    widest = {f"avx512{part}" for part in ("f", "dq", "bw", "vl", "_bitalg", "_vpopcntdq")}
    return 1 + ("avx2" in has) + (has >= {"avx2"} | widest)


@pytest.mark.parametrize("limit", [0, 1, 7, 16])
@pytest.mark.parametrize("check", [0, 1, 0x8001, 0xFFFF])
def test_each_kind_of_code_counts_the_same_bits(check, limit):
    rng = np.random.default_rng(check)
    pool: GrowableArray = GrowableArray(50, 16, np.uint32)
    chunks = pool.array[:50]
    chunks[:] = rng.integers(0, 2**32, (50, 16), dtype=np.uint32)
    checks = chunks.view(np.uint16)[:, -10:]
    checks[rng.random((50, 10)) < 0.5] = check ^ (1 << check % 16)
    near = (np.bitwise_count(checks ^ np.uint16(check)) <= limit) @ (1 << np.arange(10))
    values = rng.integers(0, 2**16, 77, dtype=np.uint64)
    count = np.count_nonzero(np.bitwise_count(values ^ np.uint64(check)) <= limit)
    said = _core.lanes_say(chunks, check, limit, values)
    assert said
    assert kinds_of_code() in (None, len(said))
    for masks, nexts, counted in said:
        assert (masks.tolist(), nexts.tolist()) == (near.tolist(), chunks[:, 0].tolist())
        assert counted == count


def mixed(index, batch, searchable):
    """Ask for all of a batch at once, then add it: the answers as if each had come alone."""
    start = len(index)
    before = answers(index, batch)
    among = per_query(pairs_within(array(batch), flags(searchable), index.distance))
    index.extend(array(batch), flags(searchable))
    return [
        held + [(start + number, d) for number, d in new] if asked else []
        for held, new, asked in zip(before, among, searchable, strict=True)
    ]


centres = st.sampled_from([0, ALL, 0xF0F0 << 24])
fingerprints = st.tuples(centres, st.sets(st.integers(0, 63), max_size=9))
batches = st.lists(st.lists(st.tuples(fingerprints, st.booleans()), max_size=25), max_size=5)


@given(st.integers(0, 7), st.integers(1, 64), batches)
def test_queries_and_insertions_in_batches_are_as_one_after_the_other(distance, planned, steps):
    """As a list in which all are looked at, while the index is laid out anew often."""
    with patch("dedup_job.index.layout.LEAST_SIZE", planned):
        index, held = HammingIndex(distance), []
        for step in steps:
            batch = [flip(centre, bits) for (centre, bits), _ in step]
            searchable = [asked for _, asked in step]
            expected = []
            for fingerprint, asked in zip(batch, searchable, strict=True):
                apart = [
                    (n, (fingerprint ^ f).bit_count()) for n, (f, there) in enumerate(held) if there
                ]
                expected.append([hit for hit in apart if hit[1] <= distance] if asked else [])
                held.append((fingerprint, asked))
            assert mixed(index, batch, searchable) == expected
