"""XXH3 of many strings is that of the package xxhash."""

from __future__ import annotations

import random

import xxhash
from hypothesis import given
from hypothesis import strategies as st

from dedup_job.native.bytes_column import digests_of, strings_of


def test_all_lengths_up_to_several_blocks_are_hashed_alike():
    rng = random.Random(1)
    strings = [rng.randbytes(length) for length in range(2200)] + [rng.randbytes(100_001)]
    assert digests_of(strings_of(strings)).tolist() == [
        xxhash.xxh3_64_intdigest(string) for string in strings
    ]


@given(st.lists(st.binary(max_size=300), max_size=5))
def test_any_strings_are_hashed_alike(strings):
    found = digests_of(strings_of(strings)).tolist()
    assert found == [xxhash.xxh3_64_intdigest(string) for string in strings]
