"""The bank of templates holds questions of few forms, and repetitions that come after them."""

from __future__ import annotations

from itertools import pairwise

from dedup_job.judgment.folding import fold_text
from scripts.bench.templates import bank

QUESTIONS, PLANTED = 800, 40


def test_each_repetition_comes_after_what_it_repeats():
    made = bank(QUESTIONS, PLANTED)
    assert len(made.texts) == len(made.of) == len(made.typo) == QUESTIONS + 2 * PLANTED
    repeated = [(i, of) for i, of in enumerate(made.of) if of >= 0]
    assert len(repeated) == 2 * PLANTED
    assert sum(made.typo) == PLANTED
    for i, of in repeated:
        assert of < i
        assert made.of[of] == -1


def test_questions_are_all_unlike_and_of_eight_forms():
    made = bank(QUESTIONS, PLANTED)
    questions = [text for text, of in zip(made.texts, made.of, strict=True) if of < 0]
    assert len(set(map(fold_text, questions))) == QUESTIONS
    ends = sorted(text[-20:] for text in questions)
    assert 1 + sum(a != b for a, b in pairwise(ends)) == 8


def test_a_repetition_in_another_form_is_equal_when_folded_and_one_with_a_typo_is_not():
    made = bank(QUESTIONS, PLANTED)
    for text, of, typo in zip(made.texts, made.of, made.typo, strict=True):
        if of >= 0:
            assert text != made.texts[of]
            assert (fold_text(text) == fold_text(made.texts[of])) != typo


def test_the_same_seed_gives_the_same_bank():
    assert bank(80, 4) == bank(80, 4)
    assert bank(80, 4) != bank(80, 4, seed=2)
