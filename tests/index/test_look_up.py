"""A batch looked up at once finds what its texts would find one by one."""

from __future__ import annotations

from functools import partial
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup_job.columns import Fingerprints, Sketches
from dedup_job.documents import Channel
from dedup_job.index import IndexSettings, KeptIndex, bands, look_up
from dedup_job.index import segment as segment_module
from dedup_job.index.candidates import BY_SIMHASH

A = 0x0F0F_1234_5678_9ABC
CHANNELS = {
    "simhash": (),
    "minhash": (Channel.MINHASH,) * 3,
    "sentences": (Channel.SENTENCES,),
    "both": (Channel.MINHASH,) * 3 + (Channel.SENTENCES,),
}


def made(rows, channels):
    """Make fingerprints of (value, short, keys, bits)."""
    n, columns = len(rows), len(channels)
    sketches = None
    if channels:
        keys = np.array([row[2][:columns] for row in rows], dtype=np.uint32).reshape(n, columns)
        bits = np.array([[row[3]] for row in rows], dtype=np.uint64).reshape(n, 1)
        bits = bits if Channel.MINHASH in channels else bits[:, :0]
        sketches = Sketches(keys, bits, channels)
    return Fingerprints(
        np.array([row[0] for row in rows], dtype=np.uint64),
        np.arange(n, dtype=np.uint64),
        np.array([row[1] for row in rows], dtype=np.bool_),
        sketches,
    )


def naive(kept, row, channels, simhash, least, most_equal):
    """Return (number, columns, distance, agreement) of what a text finds among the kept ones."""
    found = []
    for number, other in enumerate(kept):
        columns = 0
        before = kept[:number]
        apart = (row[0] ^ other[0]).bit_count()
        twins = sum(one[0] == other[0] and not one[1] for one in before)
        if simhash and not row[1] and not other[1] and apart <= 3 and twins < most_equal:
            columns += BY_SIMHASH
        for j in range(len(channels)):
            same = sum(one[2][j] == other[2][j] for one in before)
            if row[2][j] == other[2][j] and same < most_equal:
                columns += 2**j
        sketched = Channel.MINHASH in channels
        agreement = 64 - (row[3] ^ other[3]).bit_count() if sketched else 0
        if columns and (not sketched or agreement >= least):
            found.append((number, columns, apart, agreement))
    return found


def found_by(found, row):
    """Return what a text finds: of the kept documents, and of the batch by row."""
    offsets, columns = found.candidates.offsets, found.candidates[1:5]
    places = slice(offsets[row], offsets[row + 1])
    pairs = list(zip(*(column[places].tolist() for column in columns), strict=True))
    before = [pair for pair in pairs if pair[0] < found.held]
    assert before == pairs[: len(before)]
    return before, [(number - found.held, *rest) for number, *rest in pairs[len(before) :]]


ROWS = st.lists(
    st.tuples(
        st.sampled_from([A, A, A ^ 1, A ^ 0b111, A ^ 0b11110000, 0]),
        st.sampled_from([False, False, False, True]),
        st.tuples(*[st.integers(0, 2)] * 4),
        st.sampled_from([0, 1, 7, 2**40 - 1, 2**64 - 1]),
    ),
    min_size=6,
    max_size=30,
)


@pytest.mark.parametrize("name", CHANNELS)
@settings(max_examples=60)
@given(ROWS, st.lists(st.integers(1, 20), min_size=1, max_size=4), st.data())
def test_each_text_finds_what_it_would_find_alone_among_the_kept_ones(name, rows, cuts, data):
    """Some texts are kept, others not; of equal keys the first so many are found."""
    channels, least = CHANNELS[name], data.draw(st.sampled_from([0, 30, 64]))
    simhash, sealing = name != "minhash", data.draw(st.booleans())
    most_equal = data.draw(st.sampled_from([1, 2, 128]))
    is_kept = [data.draw(st.booleans()) for _ in rows]
    chosen = IndexSettings(candidate_generators=("simhash",) if simhash else ("minhash",))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(look_up, "MOST_EQUAL", most_equal)
        patch.setattr(look_up, "MOST_SKETCHED", most_equal)
        few = partial(bands.BandIndex, most_equal=most_equal)
        patch.setattr(segment_module, "BandIndex", few)
        index, kept = KeptIndex(chosen), []
        bounds = sorted({0, *(min(cut, len(rows)) for cut in cuts), len(rows)})
        for start, stop in pairwise(bounds):
            batch = made(rows[start:stop], channels)
            found = index.look_up(batch, np.full(stop - start, least))
            places = {}
            for row in range(stop - start):
                before, within = found_by(found, row)
                within = [
                    (places[number], seen, apart, agreement)
                    for number, columns, apart, agreement in within
                    if (seen := columns & int(found.turns.visible[number]))
                ]
                expected = naive(kept, rows[start + row], channels, simhash, least, most_equal)
                assert before + within == expected
                assert not (found.alone[row] and expected)
                if is_kept[start + row]:
                    if not found.alone[row]:  # of these nobody needs to be told
                        found.turns.keep(row)
                    places[row] = len(kept)
                    kept.append(rows[start + row])
            rows_kept = np.zeros(stop - start, dtype=np.bool_)
            rows_kept[list(places)] = True
            found.turns.store_columns(rows_kept)
            index.add([b"key"] * len(places), batch[list(places)], found.turns.stored[list(places)])
            if sealing:
                index.seal()


def test_alone_is_what_finds_nothing_and_meets_no_other_text():
    """A key in common is enough, however few bits are equal, and so is a fingerprint."""
    channels = CHANNELS["both"]
    index, far = KeptIndex(IndexSettings()), 0x5555_5555_5555_5555
    index.add([b"key"], made([(A, False, (1, 1, 1, 1), 0)], channels))
    rows = [
        (A, False, (2, 2, 2, 2), 0),  # found before
        (far, True, (3, 3, 3, 3), 0),
        (far, True, (4, 4, 4, 4), 0),  # equal fingerprints, which tell nothing of short texts
        (far << 1, True, (5, 5, 5, 5), 0),
        (~far % 2**64 ^ 0xFFFF, True, (6, 5, 6, 6), 2**64 - 1),  # a key in common
        (0xFF, True, (7, 7, 7, 7), 0),
    ]
    found = index.look_up(made(rows, channels), np.zeros(6, dtype=np.int64))
    assert found.alone.tolist() == [False] * 5 + [True]


@given(st.lists(st.tuples(st.integers(0, 3), st.lists(st.integers(0, 2), min_size=8, max_size=8))))
def test_meetings_are_the_pairs_with_an_equal_key_in_every_fourth_column(rows):
    texts = made([(value, False, keys, 0) for value, keys in rows], (Channel.MINHASH,) * 8)
    pairs = list(combinations([keys for _, keys in rows], 2))
    shared = sum(a[column] == b[column] for a, b in pairs for column in (0, 4))
    assert look_up.meetings(texts) == 4 * shared


@given(st.lists(st.integers(0, 3)))
def test_without_keys_meetings_are_the_pairs_with_an_equal_fingerprint(values):
    texts = made([(value, False, [], 0) for value in values], ())
    assert look_up.meetings(texts) == sum(a == b for a, b in combinations(values, 2))
