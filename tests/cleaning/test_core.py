"""Arrays that do not fit are refused; numbers that are no characters do no harm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup_job import _core
from dedup_job.cleaning import symbols, vocabulary
from dedup_job.cleaning.clean_batch import clean_batch
from dedup_job.native.code_points import TextColumn, points_of

TABLES = {
    "classes": symbols.classes(),
    "kinds": symbols.kinds(),
    "elements": vocabulary.ELEMENTS,
    "references": vocabulary.REFERENCES,
    "attributes": vocabulary.ATTRIBUTES,
    "class_words": vocabulary.CLASSES,
    "styles": vocabulary.STYLES,
    "field_types": vocabulary.FIELD_TYPES,
    "accents": vocabulary.ACCENTS,
}
CORE = _core.Cleaner(**TABLES)
POINTS = points_of("<p>a</p>")
MARKS = st.integers(symbols.BEYOND, symbols.BEYOND + 80) | st.sampled_from([0, 2**31, 2**32 - 1])
TEXTS = st.lists(
    MARKS.map(lambda mark: [mark])
    | st.sampled_from(
        ["<u>", "</u>", "<p class=dot>", "<td>", "`", "```", "\n", "x", "_", " ", "&lt;", "{a:b}"]
    ).map(lambda text: points_of(text).tolist()),
    max_size=30,
).map(lambda parts: [point for part in parts for point in part])


@pytest.mark.parametrize(
    ("points", "offsets", "refused"),
    [
        (POINTS, np.array([], dtype=np.int64), ValueError),
        (POINTS, np.array([0, 9]), ValueError),
        (POINTS, np.array([-1, 8]), ValueError),
        (POINTS, np.array([0, 5, 4, 8]), ValueError),
        (POINTS, np.array([0, 8], dtype=np.int32), TypeError),
        (POINTS.astype(np.uint64), np.array([0, 8]), TypeError),
        (POINTS[::2], np.array([0, 4]), TypeError),
        (POINTS.reshape(2, 4), np.array([0, 8]), TypeError),
        (None, np.array([0, 8]), TypeError),
    ],
)
def test_arrays_that_do_not_fit_are_refused(points: Any, offsets: Any, refused: type[Exception]):
    with pytest.raises(refused):
        CORE.clean(points, offsets, html=True, read=False)


@pytest.mark.parametrize(
    ("table", "changed"),
    [
        ("classes", lambda classes: classes[:0]),
        ("kinds", lambda kinds: kinds[:-1]),
        ("kinds", lambda kinds: kinds + 250),
        ("elements", lambda elements: [*elements, ("x", "flies", 0, 0)]),
        ("elements", lambda elements: [*elements, ("é", "none", 0, 0)]),
        ("attributes", lambda attributes: attributes[1:]),
        ("styles", lambda styles: styles[1:]),
        ("references", lambda references: {**references, "none": ""}),
        ("references", lambda references: {**references, "three": "abc"}),
        ("class_words", lambda words: {**words, "": 1}),
        ("field_types", lambda words: {**words, "x": -1}),
        ("accents", lambda accents: {**accents, "overoverline": "x"}),
    ],
)
def test_tables_that_do_not_fit_are_refused(table: str, changed: Callable[[Any], Any]):
    with pytest.raises(ValueError, match=r"\w"):
        _core.Cleaner(**TABLES | {table: changed(TABLES[table])})


@settings(max_examples=500)
@given(st.lists(TEXTS, max_size=4), st.booleans(), st.booleans())
def test_numbers_that_are_no_characters_do_no_harm(texts: list[list[int]], html: bool, read: bool):
    points = np.array([point for text in texts for point in text], dtype=np.uint32)
    offsets = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    batch = clean_batch(TextColumn(points, offsets), html=html, read=read)
    assert len(batch.found) == len(texts)
    assert len(batch.texts.points) <= 10 * len(points) + 256 * len(texts)
