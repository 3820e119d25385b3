"""UTF-8 is read and written as Python does it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dedup_job import _core
from dedup_job.native.bytes_column import BytesColumn, strings_of
from dedup_job.native.code_points import decoded, pack

EDGES = (
    "80 bf c0 c1bf c280 dfbf e09fbf e0a080 ed9fbf eda080 ee8080 efbfbf f08fbfbf f0908080 f48fbfbf"
    " f4908080 f5808080 ff 61"
)
PIECES = st.sampled_from([bytes.fromhex(edge) for edge in EDGES.split()])
JOINED = st.lists(PIECES, max_size=4).map(b"".join)
DATA = st.binary(max_size=8) | JOINED | st.text().map(str.encode)


def python(data):
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


@given(st.lists(DATA, max_size=6))
@example([b"\xe4\xb8", b"\xad"])
@example([b"\xf0\x90\x80", b"\x80"])
def test_bytes_are_decoded_as_by_python(given_bytes):
    texts, valid = decoded(strings_of(given_bytes))
    found = [texts.text(i) if is_valid else None for i, is_valid in enumerate(valid.tolist())]
    assert found == list(map(python, given_bytes))


def test_every_character_comes_back():
    points = [*range(0xD800), *range(0xE000, 0x110000)]
    texts = [chr(point) for point in points]
    utf8 = pack(texts).utf8()
    assert utf8.list() == [text.encode() for text in texts]
    assert decoded(utf8)[0].texts() == texts


@given(st.text(alphabet="a\x7f\x80߿ࠀ\ud800\udfff\uffff\U00010000\U0010ffff"))
def test_lone_surrogates_take_three_bytes(text):
    assert pack([text]).utf8().list() == [text.encode("utf-8", "surrogatepass")]


def test_texts_anywhere_in_the_data_are_read():
    data = np.frombuffer(bytearray("题目".encode() * 3), dtype=np.uint8)
    texts, valid = decoded(BytesColumn(data, np.array([6, 0, 3]), np.array([6, 3, 0])))
    assert texts.texts() == ["题目", "题", ""]
    assert valid.all()


def test_only_utf8_is_decoded():
    data = np.frombuffer(b"abc\xff", dtype=np.uint8)
    texts, valid = decoded(BytesColumn(data, np.array([0, 1]), np.array([3, 3])))
    assert (valid.tolist(), texts.texts()) == ([True, False], ["abc", ""])
    with pytest.raises(ValueError, match="text 1 is not UTF-8"):
        _core.decode((data, np.array([0, 1]), np.array([3, 3])))


@given(st.lists(st.text(), max_size=6), st.data())
def test_texts_in_utf8_are_as_if_decoded(given_texts, data):
    texts, _ = decoded(strings_of([text.encode() for text in given_texts]))
    packed, rows = pack(given_texts), data.draw(st.lists(st.booleans()))
    rows = np.array([*rows, *[True] * len(given_texts)][: len(given_texts)], dtype=np.bool_)
    assert texts.lengths.tolist() == packed.lengths.tolist()
    assert texts.take(rows).texts() == packed.take(rows).texts()
    assert [texts.text(row) for row in range(len(given_texts))] == given_texts
    assert texts.utf8().list() == packed.utf8().list()
    assert np.array_equal(texts.points, packed.points)
    assert texts.replaced({0: "\ud800"} if given_texts else {}).texts() == [
        *(["\ud800"] if given_texts else []),
        *given_texts[1:],
    ]
