"""Texts of several parts, beside what Python makes of them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dedup_job.cleaning import Cleaner, CleaningSettings
from dedup_job.native.code_points import pack
from dedup_job.native.parts import BREAK, as_lines, has_breaks, parted, with_breaks

PART = st.text(st.characters(exclude_characters=BREAK), max_size=8)
PARTS = st.lists(st.lists(PART, min_size=1, max_size=4), max_size=8)
MARKUP = st.sampled_from(
    [
        "<p>",
        "</p>",
        "<b",
        "<!--",
        "<pre>",
        "<style>p{",
        "a<b",
        "&lt;",
        "答案：",
        "\n",
        " ",
        "文",
        "1",
    ]
)
HTML = st.lists(st.lists(st.lists(MARKUP, max_size=6).map("".join), min_size=1, max_size=4))


@given(PARTS)
def test_texts_with_breaks_are_their_parts_and_back(texts):
    marked = pack([BREAK.join(parts) for parts in texts])
    parts, counts = parted(marked)
    assert parts.texts() == [part for text in texts for part in text]
    assert counts.tolist() == [len(text) for text in texts]
    assert with_breaks(parts, counts).texts() == marked.texts()
    lines = as_lines(parts, counts).texts()
    assert lines == ["\n".join(part for part in text if part) for text in texts]
    assert has_breaks(marked) == any(len(text) > 1 for text in texts)


def test_of_some_texts_in_a_row_only_their_parts_are_told():
    marked = pack([f"a{BREAK}b", f"c{BREAK}", f"{BREAK}d", "e"])
    parts, counts = parted(marked.take(slice(1, 3)))
    assert parts.texts() == ["c", "", "", "d"]
    assert np.array_equal(counts, [2, 2])


@given(HTML)
def test_parts_are_cleaned_as_each_alone(texts):
    cleaner = Cleaner(CleaningSettings(cut_at=("答案：",)))
    clean, cut, same, marked = cleaner.parts_cleaned(pack([BREAK.join(parts) for parts in texts]))
    alone = [[cleaner.clean(part) for part in parts] for parts in texts]
    assert marked is not None
    assert marked.texts() == [BREAK.join(parts) for parts in alone]
    assert clean.texts() == ["\n".join(filter(None, parts)) for parts in alone]
    assert clean.texts() == cleaner.clean_all([BREAK.join(parts) for parts in texts])
    assert same.tolist() == [parts == one for parts, one in zip(texts, alone, strict=True)]
    one_by_one = [sum(cleaner.cleaned(pack([p])).cut[0] for p in parts) for parts in texts]
    assert cut.tolist() == one_by_one
