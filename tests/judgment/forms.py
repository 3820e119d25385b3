"""Forms of the compiled core as the reference writes them."""

from __future__ import annotations

import functools

import numpy as np

from dedup_job import _core
from dedup_job.fingerprint.lexicon_cache import load_lexicon
from dedup_job.judgment import relations
from dedup_job.judgment.form_tables import Flag, Kind, form_tables
from dedup_job.native.code_points import TextColumn, pack, text_of
from tests.reference.form import Form, Token


@functools.cache
def judge() -> _core.Judge:
    return _core.Judge(form_tables(load_lexicon(print)), relations.packed())


def forms_of(texts: list[str]) -> list[Form]:
    return unpacked(judge().forms(judge().outlines(*pack(texts))))


def unpacked(forms: _core.Forms) -> list[Form]:
    """Return forms as values."""
    points, columns = text_of(forms.points()), forms.tokens()
    places = [forms.place(row) for row in range(len(forms))]
    return [_form(place, points, columns) for place in places]


def _form(place, points, columns):
    start, first, parts = place

    def tokens(i):
        return [token(first + k) for k in range(int(parts[2 * i]), int(parts[2 * i + 1]))]

    def token(k):
        one = {name: column[k].item() for name, column in columns.items()}
        text = points[start + one["begin"] : start + one["end"]]
        flags, kind = Flag(one["flags"]), Kind(one["kind"])
        return Token(text, kind, one["weight"], one["clause"], flags, one["key"])

    stem, answer, explanation, notes, *choices = map(tokens, range(len(parts) // 2))
    return Form(stem, choices, answer, explanation, notes)


def gists_of(texts: list[str]) -> list[str]:
    rows = np.arange(len(texts))
    return TextColumn(*judge().gist(judge().outlines(*pack(texts)), rows)).texts()
