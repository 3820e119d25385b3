"""Columns of strings and of texts, and their hashes."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_job.cleaning import Cleaner, CleaningSettings
from dedup_job.native import bytes_column as columns
from dedup_job.native.bytes_column import (
    BREAK,
    concat_rowwise,
    concat_rowwise_bytes,
    pack,
    parted,
    strings_of,
)

STRINGS = st.lists(st.binary(max_size=9), max_size=8)


@given(STRINGS, st.randoms())
def test_strings_come_back_whole_and_in_any_order(strings, rng):
    packed = strings_of(strings)
    assert packed.list() == strings == [packed.at(row) for row in range(len(strings))]
    rows = rng.sample(range(len(strings)), len(strings))
    assert packed.take(np.array(rows, dtype=np.int64)).list() == [strings[row] for row in rows]


@given(st.integers(0, 6).flatmap(lambda n: st.lists(
    st.lists(st.binary(max_size=9), min_size=n, max_size=n), min_size=1, max_size=4)))  # fmt: skip
def test_parts_are_joined_string_by_string(parts):
    whole = concat_rowwise_bytes([strings_of(part) for part in parts])
    assert whole.list() == [b"".join(pieces) for pieces in zip(*parts, strict=True)]
    assert whole.data.tobytes() == b"".join(whole.list())


def test_strings_at_some_rows_leave_the_others_empty():
    some = strings_of([b"a", b"bc"]).scattered(np.array([3, 1]), 5)
    assert some.list() == [b"", b"bc", b"", b"a", b""]
    assert strings_of([b"a", b"bc"]).where(np.array([False, True])).list() == [b"", b"bc"]
    assert strings_of([b"abc", b"de"]).between(1, np.array([2, 2])).list() == [b"b", b"e"]
    numbers = columns.elements_of(np.array([1, 256], dtype="<u2"))
    assert numbers.list() == [b"\1\0", b"\0\1"]
    assert columns.repeated(b"ab", 2).list() == [b"ab", b"ab"]


TEXTS = st.lists(st.text(st.characters(exclude_categories=()), max_size=6), max_size=6)


def test_every_character_is_read_and_written_by_the_core():
    """Lone surrogates, too."""
    words = [f"a{chr(point)}b" for point in range(sys.maxunicode + 1)]
    words = [word for word in words if not word[1].isspace() and word[1] not in "\u200b\ufeff"]
    cleaner = Cleaner(CleaningSettings(html="never"))
    assert cleaner.cleaned(pack([f"{word}  " for word in words])).texts.texts() == words


@given(TEXTS, TEXTS)
def test_columns_of_texts_are_lists(some, more):
    texts, n = pack(some), len(some)
    few = pack(more[:n])
    changed = [*more[:n], *some[len(few) :]]
    rows = np.arange(len(few))
    results = {
        texts: some,
        few.scattered(n - 1 - rows, n): [*[""] * (n - len(few)), *more[:n][::-1]],
        texts.replaced(rows, few): changed,
        texts.take(slice(1, None)): some[1:],
        concat_rowwise(texts, texts): [text + text for text in some],
    }
    for column, right in results.items():
        assert column.texts() == right == [column.text(row) for row in range(len(right))]
        assert column.lengths.tolist() == [*map(len, right)]
        assert column.utf8().list() == [text.encode("utf-8", "surrogatepass") for text in right]


PART = st.text(st.characters(exclude_characters=BREAK), max_size=8)
PARTS = st.lists(st.lists(PART, min_size=1, max_size=4), max_size=8)
WORDS = "<p> </p> <b <!-- <pre> <style>p{ a<b &lt; 答案： 文 1"
MARKUP = st.sampled_from([*WORDS.split(), "\n", " "])
HTML = st.lists(st.lists(st.lists(MARKUP, max_size=6).map("".join), min_size=1, max_size=4))


@given(PARTS)
def test_texts_with_breaks_are_their_parts_and_back(texts):
    marked = pack([BREAK.join(parts) for parts in texts])
    parts, counts = parted(marked)
    assert parts.texts() == [part for text in texts for part in text]
    assert counts.tolist() == [len(text) for text in texts]
    assert columns.rejoined(parts, counts).texts() == marked.texts()
    lines = columns.as_lines(parts, counts).texts()
    assert lines == ["\n".join(part for part in text if part) for text in texts]
    assert columns.has_breaks(marked) == any(len(text) > 1 for text in texts)


def test_a_slice_of_a_column_has_its_own_parts():
    marked = pack([f"a{BREAK}b", f"c{BREAK}", f"{BREAK}d", "e"])
    parts, counts = parted(marked.take(slice(1, 3)))
    assert parts.texts() == ["c", "", "", "d"]
    assert np.array_equal(counts, [2, 2])


@given(HTML)
def test_parts_are_cleaned_as_each_alone(texts):
    cleaner = Cleaner(CleaningSettings(cut_at=("答案：",)))
    clean, cut, same, marked = cleaner.clean_by_parts(pack([BREAK.join(parts) for parts in texts]))
    alone = [[cleaner.clean(part) for part in parts] for parts in texts]
    assert marked.texts() == [BREAK.join(parts) for parts in alone]
    assert clean.texts() == ["\n".join(filter(None, parts)) for parts in alone]
    assert clean.texts() == cleaner.clean_all([BREAK.join(parts) for parts in texts])
    assert same.tolist() == [parts == one for parts, one in zip(texts, alone, strict=True)]
    one_by_one = [sum(cleaner.cleaned(pack([p])).cut[0] for p in parts) for parts in texts]
    assert cut.tolist() == one_by_one


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", 0xEF46DB3751D8E999), ("a", 0xD24EC4F1A98C6E5B), ("abc", 0x44BC2CF5AD770999)],
)
def test_the_hash_of_a_text_is_xxh64_with_seed_0_as_published(text, expected):
    assert columns.is_text_hash(expected, text)
    assert not columns.is_text_hash(expected, f"{text}x")
