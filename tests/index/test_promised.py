"""What was promised is loaded when it is used first, by whatever thread."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from dedup_job.index import IndexSettings, KeptIndex, Promised
from tests.index.test_index import ids, prints_of

FIRST = np.zeros(1, dtype=np.int64)
USES = {
    "documents": lambda index: index.documents(FIRST)[1].tolist(),
    "find": lambda index: index.find(prints_of([1]))["number"].tolist(),
    "find_ids": lambda index: index.find_ids(ids(3)).tolist(),
    "held_ids": lambda index: index.held_ids()(ids(2)).tolist(),
    "live_numbers": lambda index: index.live_numbers().tolist(),
    "to_merge": lambda index: index.to_merge(),
}


@pytest.mark.parametrize("use", USES)
def test_until_it_is_used_it_is_counted_only_and_a_load_that_fails_is_tried_again(use):
    whole, index, calls = KeptIndex(IndexSettings()), KeptIndex(IndexSettings()), []
    whole.add(ids(3), prints_of([1, 2, 3]))

    def load():
        calls.append(1)
        if len(calls) == 1:
            raise OSError
        index.add(ids(3), prints_of([1, 2, 3]))

    index.promise(Promised(3, 2, 7), load)
    assert (len(index), index.live, index.unindexed, calls) == (3, 2, 7, [])
    with pytest.raises(OSError):  # it says nothing
        USES[use](index)
    assert USES[use](index) == USES[use](index) == USES[use](whole)
    assert (len(index), index.live, index.unindexed, len(calls)) == (3, 3, 0, 2)


def test_while_one_thread_loads_others_wait_for_it():
    index, begun, may_end = KeptIndex(IndexSettings()), threading.Event(), threading.Event()

    def load():
        begun.set()
        assert may_end.wait(60)
        index.add(ids(1), prints_of([7]))

    index.promise(Promised(1, 1, 0), load)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(index.live_numbers)
        assert begun.wait(60)
        second = pool.submit(index.live_numbers)
        with pytest.raises(TimeoutError):
            second.result(timeout=0.2)
        may_end.set()
        assert first.result().tolist() == second.result().tolist() == [0]
