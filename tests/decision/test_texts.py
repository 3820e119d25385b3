"""Texts of kept documents: one question for many, and none for what was at hand lately."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_job.columns import NumberedTexts
from dedup_job.decision import compared, texts
from dedup_job.decision.compared import ReadLately
from dedup_job.decision.texts import KeptTexts, by_key
from dedup_job.native.bytes_column import strings_of
from dedup_job.native.code_points import pack


class Held:
    """What a target holds, and the questions it was asked."""

    def __init__(self, count):
        self.texts = {f"key {i}".encode(): f"text {i}" for i in range(count)}
        self.asked = []

    def fetch(self, keys):
        """Return what is there."""
        self.asked.append(list(keys))
        return {key: self.texts[key] for key in keys if key in self.texts}


@pytest.fixture
def held():
    return Held(100)


@pytest.fixture
def kept(held):
    return Texts(held)


class Texts(KeptTexts):
    """Kept texts as plain values."""

    def __init__(self, held):
        """Take what the target holds."""
        super().__init__(
            by_key(held.fetch), lambda numbers: strings_of([f"key {n}".encode() for n in numbers])
        )

    def get(self, numbers):
        """Return the texts by number."""
        found = super().get(np.array(numbers, dtype=np.int64))
        return dict(zip(found.numbers.tolist(), found.texts.texts(), strict=True))

    def add(self, start, texts):
        """Hold texts given as values."""
        super().add(start, pack(texts))


def test_many_texts_are_one_question(held, kept):
    assert kept.get(range(50)) == {i: f"text {i}" for i in range(50)}
    assert [len(keys) for keys in held.asked] == [50]


def test_very_many_are_asked_for_in_parts(held, kept, monkeypatch):
    monkeypatch.setattr(texts, "_MOST_KEYS", 40)
    assert len(kept.get(range(100))) == 100
    assert [len(keys) for keys in held.asked] == [40, 40, 20]


def test_what_is_gone_is_left_out_and_asked_for_again(held, kept):
    del held.texts[b"key 7"]
    assert kept.get([6, 7]) == {6: "text 6"}
    assert kept.get([7]) == {}
    assert held.asked[1] == [b"key 7"]


def test_nothing_asked_for_is_no_question(held, kept):
    assert kept.get([]) == {}
    assert held.asked == []


def test_a_text_that_is_not_written_yet_is_never_asked_for_however_little_is_remembered(
    held, kept, monkeypatch
):
    monkeypatch.setattr(texts, "_MOST_BYTES", 0)
    kept.begin_batch()
    kept.add(200, ["of the batch"])
    kept.get(range(10))
    assert kept.get([200]) == {200: "of the batch"}
    kept.begin_batch()  # the one before is on its way
    kept.get(range(10))
    assert kept.get([200]) == {200: "of the batch"}
    kept.arrived()
    kept.begin_batch()
    assert kept.get([200]) == {}
    assert held.asked[-1] == [b"key 200"]


def test_a_text_that_was_written_lately_is_not_asked_for(held, kept):
    kept.begin_batch()
    kept.add(200, ["of the batch"])
    kept.arrived()
    kept.begin_batch()
    assert kept.get([200]) == {200: "of the batch"}
    assert held.asked == []


def test_nothing_is_held_after_the_end(held, kept):
    kept.begin_batch()
    kept.add(0, ["text 0"])
    kept.arrived()
    kept.end()
    assert kept.get([0, 1]) == {0: "text 0", 1: "text 1"}
    assert held.asked == [[b"key 0", b"key 1"]]


THERE = {number: f"text {number}" for number in range(50)}


class Lately(ReadLately):
    """Texts of kept documents as they are compared, as plain values."""

    def __init__(self):
        """Let THERE be all that the target holds."""
        self.fetched = []
        super().__init__(self.ask, lambda found: list(found.texts()))

    def ask(self, numbers):
        """Note what is asked for; return what is there."""
        self.fetched.append(numbers.tolist())
        return NumberedTexts.of({n: THERE[n] for n in numbers.tolist() if n in THERE})

    def texts(self, numbers):
        """Return the text of each number, None where it is gone."""
        found = {}
        for which, read, places in self.places(np.array(numbers, dtype=np.int64)):
            found |= {int(i): read[place] for i, place in zip(which, places, strict=True)}
        return [found.get(i) for i in range(len(numbers))]


@given(asked=st.lists(st.lists(st.integers(0, 60)), max_size=30), forgets=st.integers(1, 5))
def test_each_number_has_its_text_whatever_was_compared_before(asked, forgets):
    lately = Lately()
    for i, numbers in enumerate(asked):
        assert lately.texts(numbers) == [THERE.get(n) for n in numbers]
        if i % forgets == 0:
            lately.begin_part()


def test_what_was_compared_lately_is_not_fetched_again():
    lately = Lately()
    lately.texts([3, 1, 3])
    lately.texts([1, 2, 3])
    assert lately.fetched == [[1, 3], [2]]


def test_what_is_gone_is_asked_for_once_a_part():
    lately = Lately()
    assert lately.texts([1, 99]) == lately.texts([1, 99]) == ["text 1", None]
    assert lately.fetched == [[1, 99]]
    lately.begin_part()
    assert lately.texts([1, 99]) == ["text 1", None]
    assert lately.fetched == [[1, 99], [99]]


@pytest.mark.parametrize(
    ("limit", "most"), [("_MOST_CHARACTERS", 2 * len("text 1")), ("_PARTS", 3)]
)
def test_what_was_compared_first_is_forgotten_first(monkeypatch, limit, most):
    monkeypatch.setattr(compared, limit, most)
    lately = Lately()
    for number in range(3):
        lately.texts([number])
        lately.begin_part()
    assert lately.texts([0, 1, 2]) == ["text 0", "text 1", "text 2"]
    assert lately.fetched == [[0], [1], [2], [0]]
