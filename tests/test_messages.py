"""Sentences in the language of the user."""

from __future__ import annotations

import pickle

import pytest

from dedup_job.messages import Message, in_language, joined


def test_sentences_are_joined_by_a_space_in_english_only():
    said = joined([Message("One."), Message("Two.")])
    assert (str(said), in_language(said, "zh")) == ("One. Two.", "One.Two.")


@pytest.mark.parametrize(("separator", "chinese"), [(", ", "，"), ("; ", "；"), ("\n", "\n")])
def test_separators_are_those_of_the_language(separator, chinese):
    said = joined(["a", "b", "c"], separator)
    assert str(said) == separator.join("abc")
    assert in_language(said, "zh") == chinese.join("abc")


def test_a_text_within_a_sentence_stays_as_it_is():
    text = "一。 二, 三"
    assert in_language(Message("{name}: {text}", name="甲", text=text), "zh").endswith(text)


def test_what_is_joined_comes_whole_from_another_process():
    said = pickle.loads(pickle.dumps(joined(["a", "b"], ", ")))
    assert (str(said), in_language(said, "zh")) == ("a, b", "a，b")


def test_nothing_joined_is_nothing():
    assert in_language(joined([]), "zh") == ""
