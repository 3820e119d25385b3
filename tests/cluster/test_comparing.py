"""The worker that holds a batch compares its texts; a lost worker is replaced."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("ray")

from dedup_job.cluster.comparing import RemotePairs
from dedup_job.cluster.processes import Lost


class Holder:
    """A worker that says who it is, of pairs that it was told to compare."""

    def __init__(self, name: int) -> None:
        self._name, self._compared, self.is_lost = name, set[int](), False

    def ask(self, method: str, number: int, *_: Any) -> Any:
        """Answer, as a workbench does."""
        if self.is_lost:
            raise Lost
        if method == "compare":
            self._compared.add(number)
        elif number not in self._compared:
            raise KeyError(number)
        return np.array([self._name])


class Homes:
    """Who holds a batch."""

    def __init__(self, holders: list[Holder]) -> None:
        self._holders = holders

    def home(self, number: int) -> Holder:
        """Return the first that is there."""
        del number
        return next(one for one in self._holders if not one.is_lost)


ROWS = np.array([0])


def test_a_worker_that_another_thread_found_lost_is_replaced_by_one_that_is_told_everything():
    holders = [Holder(1), Holder(2)]
    pairs = RemotePairs(Homes(holders), 100, slice(0, 1), 0)
    assert pairs.equal(ROWS, ROWS).tolist() == [1]
    holders[0].is_lost = True  # and `home` already names the second one
    assert pairs.equal(ROWS, ROWS).tolist() == [2]
