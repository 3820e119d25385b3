"""A limit to the documents per second."""

from __future__ import annotations

import time

import pytest

from dedup_job.job.rate_limit import RateLimit


def test_without_a_rate_nothing_waits():
    start = time.monotonic()
    assert list(RateLimit().paced([[1, 2]] * 1000, lambda: False)) == [[1, 2]] * 1000
    assert time.monotonic() - start < 1


@pytest.mark.parametrize("rate", [100.0, 1000.0])
def test_pages_come_no_faster_than_their_documents_may(rate):
    start = time.monotonic()
    times = [time.monotonic() - start for _ in RateLimit(rate).paced([[0] * 10] * 6, lambda: False)]
    assert all(at >= i * 10 / rate for i, at in enumerate(times))


def test_lost_time_is_not_made_up_for():
    pages = RateLimit(100).paced([[0] * 10] * 4, lambda: False)
    next(pages)
    time.sleep(0.3)
    next(pages)
    start = time.monotonic()
    next(pages)
    assert time.monotonic() - start > 0.09


def test_a_stop_ends_the_waiting():
    pages = RateLimit(0.001).paced([[0]] * 2, lambda: True)
    start = time.monotonic()
    assert list(pages) == [[0], [0]]
    assert time.monotonic() - start < 1
