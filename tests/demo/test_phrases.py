"""The words of the demo corpus: every slot can be filled, every closing fits a subject."""

from __future__ import annotations

import random
import re
from itertools import chain

import pytest

from dedup_job.demo.phrases import CLAIMS, CLOSINGS, SENTENCES, WORDS, Filler

TEMPLATES = [*chain(*(chain(*part.values()) for part in (WORDS, SENTENCES, CLAIMS, CLOSINGS)))]


def test_every_slot_has_its_words():
    named = {name for text in TEMPLATES for name in re.findall(r"\[\*?([a-z]+)\]", text)}
    assert named - {"claim"} <= set(WORDS)
    assert set(SENTENCES) == set(CLAIMS)


@pytest.mark.parametrize("name", sorted(WORDS))
def test_no_word_is_given_twice(name):
    alternatives = WORDS[name]
    assert sorted(set(alternatives)) == sorted(alternatives)


@pytest.mark.parametrize("subject", sorted(SENTENCES))
def test_filled_templates_hold_no_slots(subject):
    fill = Filler(random.Random(1), CLAIMS[subject])
    for template in [*SENTENCES[subject], *CLOSINGS["exam"]]:
        assert not re.search(r"\[\*?[a-z]+\]|\.\.", fill(template))


def test_a_starred_slot_stays_the_same_throughout():
    fill = Filler(random.Random(5), [])
    assert len({fill("[*person]") for _ in range(20)}) == 1
    assert len({fill("[person]") for _ in range(20)}) > 1
