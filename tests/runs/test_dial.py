"""What a confidence means in figures."""

from __future__ import annotations

import numpy as np
import pytest

from dedup_job.judgment.model import load_model
from dedup_job.runs.dial import Dial
from dedup_job.runs.share import Share


def test_it_counts_the_pairs_that_are_as_likely():
    model = load_model(None)._replace(
        different=np.array([0.0, 0.5, 0.95, 1.0]), same=np.array([0.2, 0.95])
    )
    dial = Dial.of(model, 0.95)
    assert dial is not None
    assert (dial.different, dial.same) == (Share(2, 4), Share(1, 2))
    assert dial == Dial(0.95, Share(2, 4), Share(1, 2))


def test_its_figures_are_of_a_thousand_and_of_a_hundred():
    figures = Dial(0.975, Share(8, 1592), Share(463, 1123)).figures()
    assert figures["confidence"] == "0.975"
    names = ("different", "different_low", "different_high", "same", "same_low", "same_high")
    assert [figures[name] for name in names] == ["5", "3", "10", "41", "38", "44"]


@pytest.mark.parametrize("name", ["different", "same"])
def test_a_file_without_labelled_pairs_says_nothing(name: str):
    assert Dial.of(load_model(None)._replace(**{name: np.empty(0)}), 0.95) is None
