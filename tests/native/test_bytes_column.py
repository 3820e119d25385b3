"""Byte strings in columns are those of lists."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_job.native import bytes_column as columns
from dedup_job.native.bytes_column import are_equal, joined, strings_of

STRINGS = st.lists(st.binary(max_size=9), max_size=8)


@given(STRINGS, st.randoms())
def test_strings_come_back_whole_and_in_any_order(strings, rng):
    packed = strings_of(strings)
    assert packed.list() == strings == [packed.at(row) for row in range(len(strings))]
    rows = rng.sample(range(len(strings)), len(strings))
    assert packed.take(np.array(rows, dtype=np.int64)).list() == [strings[row] for row in rows]


@given(st.integers(0, 6).flatmap(lambda n: st.lists(
    st.lists(st.binary(max_size=9), min_size=n, max_size=n), min_size=1, max_size=4)))  # fmt: skip
def test_parts_are_joined_string_by_string(parts):
    whole = joined([strings_of(part) for part in parts])
    assert whole.list() == [b"".join(pieces) for pieces in zip(*parts, strict=True)]
    assert whole.data.tobytes() == b"".join(whole.list())


@given(STRINGS, STRINGS)
def test_equal_strings_are_told_from_others(one, other):
    count = min(len(one), len(other))
    found = are_equal(strings_of(one[:count]), strings_of(other[:count]))
    assert found.tolist() == [a == b for a, b in zip(one, other, strict=False)]


@pytest.mark.parametrize("at", [0, 50, 99])
def test_a_single_other_byte_is_seen(at):
    one = bytes(100)
    other = one[:at] + b"\1" + one[at + 1 :]
    assert are_equal(strings_of([one, one]), strings_of([one, other])).tolist() == [True, False]


def test_strings_at_some_rows_leave_the_others_empty():
    some = strings_of([b"a", b"bc"]).spread(np.array([3, 1]), 5)
    assert some.list() == [b"", b"bc", b"", b"a", b""]
    assert strings_of([b"a", b"bc"]).where(np.array([False, True])).list() == [b"", b"bc"]
    assert strings_of([b"abc", b"de"]).between(1, np.array([2, 2])).list() == [b"b", b"e"]
    numbers = columns.elements_of(np.array([1, 256], dtype="<u2"))
    assert numbers.list() == [b"\1\0", b"\0\1"]
    assert columns.repeated(b"ab", 2).list() == [b"ab", b"ab"]
