"""Work in threads: in order, and its errors come out where its results do.

That it is bounded, ends at once and leaves no thread: test_pipeline.
"""

import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_job.job import Pace, Writers, in_order, prefetch


def breaking(count):
    yield from range(count)
    raise ZeroDivisionError("at the end")


@given(st.lists(st.integers(), max_size=30), st.integers(1, 5))
def test_what_is_got_ahead_comes_whole_and_in_order(items, depth):
    with prefetch(items, depth) as ahead:
        assert list(ahead) == items


@given(st.lists(st.integers(0, 3), max_size=12), st.integers(1, 4))
def test_threads_of_any_number_give_results_in_order(delays, threads):
    def slow(delay):
        time.sleep(delay / 2000)
        return delay

    assert list(in_order(slow, delays, threads)) == delays


def test_an_error_ahead_is_raised_after_what_came_before_it():
    got = []
    with prefetch(breaking(3), 10) as items:
        assert [next(items), next(items), next(items)] == [0, 1, 2]
    with (
        prefetch(breaking(3), 10) as items,
        pytest.raises(ZeroDivisionError, match="at the end"),
    ):
        got.extend(items)
    assert got == [0, 1, 2]


def test_an_error_in_a_thread_is_raised_in_its_turn():
    def divide(number):
        return 6 // (number - 2)

    results = in_order(divide, range(5), 3)
    assert [next(results), next(results)] == [-3, -6]
    with pytest.raises(ZeroDivisionError):
        next(results)


class Book:
    """What is written, at once or alone, and settled; an item is how long it takes, in 2 ms."""

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
def test_what_is_written_at_once_is_settled_in_order_and_what_is_alone_stands_alone(items, threads):
    book = Book()
    with Writers(book.write, book.settle, 2, threads) as writers:
        for number, (item, alone) in enumerate(items, 1):
            if alone:
                book.alone.add(number)
            writers.put(item, alone=alone)
    assert book.settled == [item for item, _ in items]
    assert book.most <= threads


def test_several_are_written_at_once():
    both = threading.Barrier(2, timeout=60)
    with Writers(lambda *_: both.wait(), lambda *_: None, 2, 2) as writers:
        writers.put(1)
        writers.put(2)


def test_an_error_ends_it_and_nothing_behind_it_is_settled():
    settled, behind = [], threading.Event()

    def write(item, _):
        if item == 2:
            assert behind.wait(60)
            time.sleep(0.05)
            raise KeyError(item)
        if item == 3:
            behind.set()

    with pytest.raises(KeyError):
        hand_over(Writers(write, lambda item, _: settled.append(item), 2, 2), *range(99))
    assert settled == [0, 1]


def hand_over(writers, *items, then=None):
    with writers:
        for item in items:
            writers.put(item)
        if then is not None:
            raise then


def test_what_was_handed_over_is_done_though_the_block_breaks():
    done = []
    writers = Writers(lambda *_: None, lambda item, _: done.append(item), 5)
    with pytest.raises(KeyError):
        hand_over(writers, 1, 2, then=KeyError)
    assert done == [1, 2]


def test_a_keyboard_interrupt_waits_no_longer_than_for_the_work_in_hand():
    begun, release, done = threading.Event(), threading.Event(), []

    def write(number, _):
        begun.set()
        release.wait(60)
        done.append(number)

    class Interrupted(KeyboardInterrupt):
        def __init__(self):
            begun.wait(60)

    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        hand_over(Writers(write, lambda *_: None, 5, patience=0.1), 1, 2, then=Interrupted)
    assert time.monotonic() - start < 30
    release.set()
    time.sleep(0.1)
    assert done == [1]  # the second was not begun


@pytest.mark.parametrize("rate", [100.0, 1000.0])
def test_pages_come_no_faster_than_their_documents_may(rate):
    start = time.monotonic()
    times = [time.monotonic() - start for _ in Pace(rate, lambda: False)([[0] * 10] * 6)]
    assert all(at >= i * 10 / rate for i, at in enumerate(times))


def test_lost_time_is_not_made_up_for():
    pages = Pace(100, lambda: False)([[0] * 10] * 4)
    next(pages)
    time.sleep(0.3)
    next(pages)
    start = time.monotonic()
    next(pages)
    assert time.monotonic() - start > 0.09
