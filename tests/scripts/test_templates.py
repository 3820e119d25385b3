"""The bank of templates holds questions of few forms, and repetitions that come after them."""

from __future__ import annotations

from itertools import pairwise

from dedup_job.judgment.canonical import forms_of, main_of
from dedup_job.judgment.words import Words
from dedup_job.native.code_points import pack
from scripts.bench.templates import bank

QUESTIONS, PLANTED = 800, 40


def canonical(texts):
    """Return the canonical forms of texts."""
    return main_of(forms_of(pack(texts), Words.load(None), 0.2)).texts()


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
    assert len(set(canonical(questions))) == QUESTIONS
    ends = sorted(text[-20:] for text in questions)
    assert 1 + sum(a != b for a, b in pairwise(ends)) == 8


def test_a_repetition_in_another_form_has_the_canonical_form_and_one_with_a_typo_is_not():
    made = bank(QUESTIONS, PLANTED)
    forms = canonical(made.texts)
    for i, (of, typo) in enumerate(zip(made.of, made.typo, strict=True)):
        if of >= 0:
            assert made.texts[i] != made.texts[of]
            assert (forms[i] == forms[of]) != typo


def test_the_same_seed_gives_the_same_bank():
    assert bank(80, 4) == bank(80, 4)
    assert bank(80, 4) != bank(80, 4, seed=2)
