"""Threads of a run: results and errors come in the order of the items.

That queues are bounded and no thread is left: test_pipeline.
"""

import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_job.job import OrderedWriters, Pace, ordered_map, prefetch


@given(st.lists(st.integers(0, 3), max_size=12), st.integers(1, 4))
def test_items_come_in_order_from_any_number_of_threads(delays, threads):
    def slow(delay):
        time.sleep(delay / 2000)
        return delay

    with prefetch(delays, threads) as ahead:
        assert list(ordered_map(slow, ahead, threads)) == delays


def test_an_error_is_raised_after_the_items_before_it():
    def breaking():
        yield from (0, 1, 2)
        raise ZeroDivisionError

    with prefetch(breaking(), 10) as items:
        assert [next(items), next(items), next(items)] == [0, 1, 2]
        with pytest.raises(ZeroDivisionError):
            next(items)
    results = ordered_map(lambda number: 6 // (number - 2), range(5), 3)
    assert [next(results), next(results)] == [-3, -6]
    with pytest.raises(ZeroDivisionError):
        next(results)


class Book:
    """Records written and settled items; an item is its duration in units of 0.5 ms."""

    def __init__(self):
        self.at_once, self.most, self.settled = set(), 0, []
        self.alone = set()

    def write(self, item, number):
        self.at_once.add(number)
        self.most = max(self.most, len(self.at_once))
        assert not self.at_once & self.alone or len(self.at_once) == 1
        assert number not in self.alone or len(self.settled) == number - 1
        time.sleep(item / 2000)
        self.at_once.discard(number)

    def settle(self, item, number):
        self.settled.append(item)
        assert len(self.settled) == number


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=12), st.integers(1, 4))
def test_items_written_concurrently_are_settled_in_order_and_some_alone(items, threads):
    book = Book()
    with OrderedWriters(book.write, book.settle, 2, threads) as writers:
        for number, (item, alone) in enumerate(items, 1):
            if alone:
                book.alone.add(number)
            writers.put(item, alone=alone)
    assert book.settled == [item for item, _ in items]
    assert book.most <= threads


def test_two_items_are_written_concurrently():
    both = threading.Barrier(2, timeout=60)
    with OrderedWriters(lambda *_: both.wait(), lambda *_: None, 2, 2) as writers:
        writers.put(1)
        writers.put(2)


def test_after_an_error_no_later_item_is_settled():
    settled, behind = [], threading.Event()

    def write(item, _):
        if item == 2:
            assert behind.wait(60)
            time.sleep(0.05)
            raise KeyError(item)
        if item == 3:
            behind.set()

    with pytest.raises(KeyError):
        hand_over(OrderedWriters(write, lambda item, _: settled.append(item), 2, 2), *range(99))
    assert settled == [0, 1]


def hand_over(writers, *items, then=None):
    with writers:
        for item in items:
            writers.put(item)
        if then is not None:
            raise then


def test_queued_items_are_settled_although_the_block_raises():
    settled = []
    writers = OrderedWriters(lambda *_: None, lambda item, _: settled.append(item), 5)
    with pytest.raises(KeyError):
        hand_over(writers, 1, 2, then=KeyError)
    assert settled == [1, 2]


def test_a_keyboard_interrupt_waits_only_for_the_items_in_work():
    begun, release, written = threading.Event(), threading.Event(), []

    def write(number, _):
        begun.set()
        release.wait(60)
        written.append(number)

    class Interrupted(KeyboardInterrupt):
        def __init__(self):
            begun.wait(60)

    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        hand_over(OrderedWriters(write, lambda *_: None, 5, patience=0.1), 1, 2, then=Interrupted)
    assert time.monotonic() - start < 30
    release.set()
    time.sleep(0.1)
    assert written == [1]


@pytest.mark.parametrize("rate", [100.0, 1000.0])
def test_pages_come_at_most_at_the_rate(rate):
    start = time.monotonic()
    times = [time.monotonic() - start for _ in Pace(rate, lambda: False)([[0] * 10] * 6)]
    assert all(at >= i * 10 / rate for i, at in enumerate(times))


def test_lost_time_is_not_caught_up():
    pages = Pace(100, lambda: False)([[0] * 10] * 4)
    next(pages)
    time.sleep(0.3)
    next(pages)
    start = time.monotonic()
    next(pages)
    assert time.monotonic() - start > 0.09
