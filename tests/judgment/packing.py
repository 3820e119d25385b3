"""Canonical forms written down by hand, as the native judge takes them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dedup_job.judgment.forms import (
    CUT_LEFT,
    CUT_RIGHT,
    MAX_CHOICES,
    QUESTION,
    SEQUENCE,
    SHORT,
    SPELLING,
    Forms,
)
from dedup_job.native.code_points import offsets_of, points_of
from tests.reference.judge import Form


def packed(forms: Sequence[Form]) -> Forms:
    """Return the forms; their clauses, joined, must be the stem, with commas before some."""
    texts, cuts, clauses, counts = [], [], [], [0]
    for form in forms:
        ends = [len(form.stem)]
        text = form.stem
        for k in range(MAX_CHOICES):
            text += form.choices[k] if k < len(form.choices) else ""
            ends.append(len(text))
        for rest in (form.answer, form.emphasis):
            text += rest
            ends.append(len(text))
        texts.append(text)
        cuts.append(ends)
        at = 0
        for clause in form.clauses or [form.stem]:
            at = form.stem.index(clause, at) + len(clause)
            clauses.append(at)
        counts.append(len(clauses))
    return Forms(
        points_of("".join(texts)),
        offsets_of(texts),
        np.array(cuts, dtype=np.int32),
        np.array([len(form.choices) for form in forms], dtype=np.uint8),
        np.array([_flags(form) for form in forms], dtype=np.uint8),
        np.zeros(len(forms), dtype=np.float32),
        np.array(clauses, dtype=np.int32),
        np.array(counts, dtype=np.int64),
    )


def _flags(form: Form) -> int:
    flags = {
        QUESTION: form.question,
        CUT_LEFT: form.cut_left,
        CUT_RIGHT: form.cut_right,
        SPELLING: form.spelling,
        SEQUENCE: form.sequence,
        SHORT: form.short,
    }
    return sum(flag for flag, is_so in flags.items() if is_so)
