"""UTF-8 is read and written as Python does it; texts in columns are those of lists."""

from __future__ import annotations

import sys

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from dedup_job.cleaning import Cleaner, CleaningSettings
from dedup_job.native.bytes_column import BytesColumn, strings_of
from dedup_job.native.code_points import concatenated, decoded, pack

EDGES = (
    "80 bf c0 c1bf c280 dfbf e09fbf e0a080 ed9fbf eda080 ee8080 efbfbf f08fbfbf f0908080 f48fbfbf"
    " f4908080 f5808080 ff 61"
)
PIECES = st.sampled_from([bytes.fromhex(edge) for edge in EDGES.split()])
JOINED = st.lists(PIECES, max_size=4).map(b"".join)
DATA = st.binary(max_size=8) | JOINED | st.text().map(str.encode)
TEXTS = st.lists(st.text(st.characters(exclude_categories=()), max_size=6), max_size=6)


def python(data):
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


@given(st.lists(DATA, max_size=6))
@example([b"\xe4\xb8", b"\xad"])
@example([b"\xf0\x90\x80", b"\x80"])
def test_bytes_are_texts_where_python_says_so(given_bytes):
    texts, valid = decoded(strings_of(given_bytes))
    found = [texts.text(i) if is_valid else None for i, is_valid in enumerate(valid.tolist())]
    assert found == list(map(python, given_bytes))
    assert texts.lengths.tolist() == [len(text or "") for text in found]


def test_every_character_is_read_and_written_by_the_core():
    """Lone surrogates, too."""
    words = [f"a{chr(point)}b" for point in range(sys.maxunicode + 1)]
    words = [word for word in words if not word[1].isspace() and word[1] not in "\u200b\ufeff"]
    cleaner = Cleaner(CleaningSettings(html="never"))
    assert cleaner.cleaned(pack([f"{word}  " for word in words])).texts.texts() == words


def test_texts_anywhere_in_the_data_are_read():
    data = np.frombuffer(bytearray("题目".encode() * 3), dtype=np.uint8)
    texts, valid = decoded(BytesColumn(data, np.array([6, 0, 3]), np.array([6, 3, 0])))
    assert texts.texts() == ["题目", "题", ""]
    assert valid.all()


@given(TEXTS, TEXTS)
def test_columns_of_texts_are_lists(some, others):
    texts, n = pack(some), len(some)
    few = pack(others[:n])
    changed = [*others[:n], *some[len(few) :]]
    rows = np.arange(len(few))
    results = {
        texts: some,
        few.spread(n - 1 - rows, n): [*[""] * (n - len(few)), *others[:n][::-1]],
        texts.replaced(rows, few): changed,
        texts.take(slice(1, None)): some[1:],
        concatenated(texts, texts): [text + text for text in some],
    }
    for column, right in results.items():
        assert column.texts() == right == [column.text(row) for row in range(len(right))]
        assert column.lengths.tolist() == [*map(len, right)]
        assert column.utf8().list() == [text.encode("utf-8", "surrogatepass") for text in right]
