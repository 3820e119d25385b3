"""Ids come back as they were given, whatever their type."""

from __future__ import annotations

import uuid

import bson
import numpy as np
import pytest
from bson import Binary, Decimal128, Int64, ObjectId
from hypothesis import given
from hypothesis import strategies as st

from dedup_job.index.equal import Ids
from dedup_job.native.bytes_column import strings_of

KINDS = [
    ObjectId("0123456789abcdef01234567"),
    1,
    Int64(2**40),
    "一道题",
    "",
    b"bytes",
    Binary(uuid.UUID(int=7).bytes, 4),
    {"book": 3, "page": {"line": [1, 2]}},
    2.5,
    True,
    None,
    Decimal128("0.1"),
    "x" * 1000,
]


def key_of(value):
    return bson.encode({"_id": value})[4:-1]


def all_of(ids):
    return ids.of(np.arange(len(ids))).list()


@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_ids_of_all_types_come_back_in_order(size):
    keys = [key_of(value) for value in KINDS]
    ids = Ids()
    for start in range(0, len(keys), size):
        ids.extend(strings_of(keys[start : start + size]))
    assert all_of(ids) == keys


def test_an_object_id_takes_thirteen_bytes():
    ids = Ids()
    ids.extend(strings_of([key_of(ObjectId()) for _ in range(100_000)]))
    assert ids.nbytes / len(ids) < 14.5
    assert np.unique(np.array(all_of(ids))).size == 100_000


@pytest.mark.parametrize("number", [-1, 3, 10**9])
def test_a_number_that_was_not_given_is_an_error(number):
    ids = Ids()
    ids.extend(strings_of([key_of(i) for i in range(3)]))
    with pytest.raises(IndexError, match="there are 3"):
        ids.of(np.array([0, number]))


@given(
    st.lists(
        st.lists(
            st.binary(max_size=40)
            | st.builds(lambda b: b"\x07_id\0" + b, st.binary(min_size=12, max_size=12))
        )
    )
)
def test_any_bytes_come_back(steps):
    ids = Ids()
    for step in steps:
        ids.extend(strings_of(step))
    assert all_of(ids) == [key for step in steps for key in step]
