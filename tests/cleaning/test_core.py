"""Numbers that are no characters do no harm."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup_job.cleaning import symbols
from dedup_job.cleaning.clean_batch import clean_batch
from dedup_job.native.code_points import TextColumn, points_of

MARKS = st.integers(symbols.BEYOND, symbols.BEYOND + 80) | st.sampled_from([0, 2**31, 2**32 - 1])
TEXTS = st.lists(
    MARKS.map(lambda mark: [mark])
    | st.sampled_from(
        ["<u>", "</u>", "<p class=dot>", "<td>", "`", "```", "\n", "x", "_", " ", "&lt;", "{a:b}"]
    ).map(lambda text: points_of(text).tolist()),
    max_size=30,
).map(lambda parts: [point for part in parts for point in part])


@settings(max_examples=500)
@given(st.lists(TEXTS, max_size=4), st.booleans(), st.booleans())
def test_numbers_that_are_no_characters_do_no_harm(texts: list[list[int]], html: bool, read: bool):
    points = np.array([point for text in texts for point in text], dtype=np.uint32)
    offsets = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    batch = clean_batch(TextColumn(points, offsets), html=html, read=read)
    assert len(batch.found) == len(texts)
    assert len(batch.texts.points) <= 10 * len(points) + 256 * len(texts)
