"""Ids of kept documents are found by their hashes, and only those."""

from __future__ import annotations

import numpy as np
import pytest
from bson import ObjectId, encode
from hypothesis import given
from hypothesis import strategies as st

from dedup_job.columns import Fingerprints
from dedup_job.index import IndexSettings, KeptIndex, kept
from dedup_job.index.held_ids import HeldIds
from dedup_job.mongo.bson.edit import id_element
from dedup_job.native.bytes_column import strings_of

values = st.one_of(st.integers(-5, 5), st.text(max_size=3), st.builds(ObjectId), st.none())


def keys_of(ids):
    """Return the keys of ids."""
    return strings_of([id_element(encode({"_id": id_})) for id_ in ids])


def held_of(ids):
    """Return what finds ids of documents that are numbered in this order."""
    keys = keys_of(ids)
    return HeldIds(len(ids), keys.take, lambda numbers: np.zeros(len(numbers), dtype=np.bool_))


@pytest.mark.parametrize("collide", [False, True])
@given(st.lists(values, max_size=20), st.lists(values, max_size=20))
def test_those_are_found_that_are_held_whether_or_not_their_hashes_are_told_apart(
    collide, ids, others
):
    with pytest.MonkeyPatch.context() as patch:
        if collide:
            patch.setattr("dedup_job.index.held_ids.digests_of", all_alike)
        held, asked = held_of(ids), keys_of([*others, *ids])
        there = keys_of(ids).list()
        expected = [there.index(key) if key in there else -1 for key in asked.list()]
        assert held.numbers(asked).tolist() == expected
        assert held(asked).tolist() == [number >= 0 for number in expected]


def all_alike(strings):
    """Return the same hash for all."""
    return np.full(len(strings.lengths), 7, dtype=np.uint64)


def index_of(*parts):
    """Return an index with sealed parts, and an empty one that grows."""
    index = KeptIndex(IndexSettings(candidate_generators=["simhash"]))
    for ids in parts:
        values = np.arange(len(index), len(index) + len(ids), dtype=np.uint64)
        index.add(keys_of(ids), Fingerprints(values, values, values < 0))
        index.seal()
    return index


def test_an_index_tells_of_its_sealed_segments():
    held = index_of([1, "a"], [2]).held_ids()
    assert held(keys_of([2, 3, 1, "a", "b"])).tolist() == [True, False, True, True, False]


@pytest.mark.parametrize("parts", [[], [[1, 2, 3], [4]]])
def test_where_nothing_is_sealed_or_too_much_there_is_no_table(monkeypatch, parts):
    monkeypatch.setattr(kept, "_MOST_IDS", 3)
    assert index_of(*parts).held_ids() is None
