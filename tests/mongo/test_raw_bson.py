"""Raw BSON is taken apart and put together again without a byte being lost."""

import struct
from datetime import UTC

import bson
import pytest
from bson.binary import Binary
from bson.code import Code
from bson.datetime_ms import DatetimeMS
from bson.dbref import DBRef
from bson.decimal128 import Decimal128
from bson.int64 import Int64
from bson.max_key import MaxKey
from bson.min_key import MinKey
from bson.objectid import ObjectId
from bson.regex import Regex
from bson.timestamp import Timestamp
from hypothesis import given
from hypothesis import strategies as st

from dedup_job.mongo import id_keys
from dedup_job.mongo import raw_bson as raw

UTF8 = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NAMES = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8
).filter(lambda name: name != "_id")  # which encoding puts first
INT32 = st.integers(-(2**31), 2**31 - 1)
INT64 = st.integers(-(2**63), 2**63 - 1)
OBJECT_IDS = st.binary(min_size=12, max_size=12).map(ObjectId)
SIMPLE = (
    st.none()
    | st.booleans()
    | INT32
    | INT64.map(Int64)
    | st.floats(allow_nan=False)
    | UTF8
    | OBJECT_IDS
    | st.decimals(allow_nan=False, places=4, min_value=-(10**20), max_value=10**20).map(Decimal128)
    | st.sampled_from(["NaN", "Infinity", "-0E+6"]).map(Decimal128)
    | st.builds(Regex, NAMES, st.sampled_from(["", "i", "imsx"]))
    | st.builds(Code, UTF8)
    | st.builds(Code, UTF8, st.dictionaries(NAMES, INT32, max_size=2))
    | st.builds(Binary, st.binary(max_size=20), st.sampled_from([0, 1, 2, 5, 6, 128, 255]))
    | st.builds(Binary, st.binary(min_size=16, max_size=16), st.sampled_from([3, 4]))
    | st.builds(Timestamp, st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
    | st.datetimes(timezones=st.just(UTC))
    | INT64.map(DatetimeMS)
    | st.builds(DBRef, UTF8, OBJECT_IDS, st.none() | UTF8)
    | st.just(MinKey())
    | st.just(MaxKey())
)
VALUES = st.recursive(
    SIMPLE,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
DOCUMENTS = st.dictionaries(NAMES, VALUES, max_size=6)
OTHERS = st.dictionaries(
    NAMES.filter(lambda name: name not in ("text", "dedup")), VALUES, max_size=4
)


def element(kind, name, value):
    return bytes([kind]) + name.encode() + b"\0" + value


def counted(data):
    return struct.pack("<i", len(data) + 1) + data + b"\0"


# Fields of types that no driver writes any more.
DEPRECATED = {
    "undefined": element(0x06, "old", b""),
    "symbol": element(0x0E, "old", counted("符号".encode())),
    "DBPointer": element(0x0C, "old", counted(b"db.c") + b"twelve bytes"),
    "code with scope": element(
        0x0F,
        "old",
        struct.pack("<i", 4 + len(counted(b"f()")) + 5) + counted(b"f()") + b"\x05\0\0\0\0",
    ),
    "old binary": element(0x05, "old", struct.pack("<i", 7) + b"\x02" + b"\x03\0\0\0abc"),
    "old uuid": element(0x05, "old", struct.pack("<i", 16) + b"\x03" + bytes(range(16))),
    "text that is not UTF-8": element(0x02, "old", counted(b"\xff\xfe")),
    "date out of Python's range": element(0x09, "old", struct.pack("<q", 2**62)),
    "NaN with a payload": element(0x01, "old", b"\x01\0\0\0\0\0\xf8\x7f"),
    "false as 2": element(0x08, "old", b"\x02"),
}


@given(DOCUMENTS)
def test_the_fields_of_a_document_are_its_names_and_values_without_a_gap(values):
    whole = bson.encode(values)
    parts = list(raw.elements(whole))
    assert b"".join(whole[p.start : p.end] for p in parts) == whole[4:-1]
    assert [p.name.decode() for p in parts] == list(values)
    for part, (name, value) in zip(parts, values.items(), strict=True):
        assert raw.join_fields(whole[part.start : part.end]) == bson.encode({name: value})
        assert whole[part.start] == part.kind
        assert whole[part.start + 1 : part.value] == name.encode() + b"\0"


@pytest.mark.parametrize("old", DEPRECATED.values(), ids=DEPRECATED)
def test_deprecated_and_broken_values_are_stepped_over_and_can_be_taken_away(old):
    before, after = raw.fields({"_id": 1}), raw.fields({"text": "old text", "z": 1})
    whole = raw.join_fields(before, old, after)
    assert [part.name for part in raw.elements(whole)] == [b"_id", b"old", b"text", b"z"]
    found = raw.find(whole, b"old")
    assert whole[found.start : found.end] == old
    changed = raw.replace_texts(whole, ["text"], iter(["new"]))
    assert changed == raw.join_fields(before, old, raw.fields({"text": "new", "z": 1}))
    assert raw.without(whole, b"old") == raw.join_fields(before, after)


@pytest.mark.parametrize("kind", [0x00, 0x14, 0x7E, 0x80, 0xFE])
def test_a_type_that_bson_does_not_have_is_refused(kind):
    whole = raw.join_fields(element(kind, "x", b"1234"))
    with pytest.raises(ValueError, match=f"unknown BSON type 0x{kind:02x}"):
        list(raw.elements(whole))


@given(OTHERS, OTHERS, UTF8, UTF8, OTHERS, OTHERS)
def test_replacing_at_a_dotted_path_keeps_every_other_byte(a, b, old, new, c, d):
    def whole(text):
        inner = raw.join_fields(raw.fields(b), raw.fields({"text": text}), raw.fields(c))
        middle = raw.join_fields(raw.fields({"x": 1}), element(0x03, "内", inner))
        return raw.join_fields(raw.fields(a), element(0x03, "text", middle), raw.fields(d))

    assert raw.replace_texts(whole(old), ["text", "内", "text"], iter([new])) == whole(new)


def test_of_repeated_names_the_last_is_found_and_replaced_as_decoders_read_it():
    first, second = raw.fields({"text": "first"}), raw.fields({"text": "second"})
    whole = raw.join_fields(first, raw.fields({"n": 1}), second)
    assert bson.decode(whole)["text"] == "second"
    changed = raw.replace_texts(whole, ["text"], iter(["new"]))
    assert changed == raw.join_fields(first, raw.fields({"n": 1}), raw.fields({"text": "new"}))
    first, second = (
        raw.fields({"a": {"text": "first"}}),
        raw.fields({"a": {"text": "second"}}),
    )
    changed = raw.replace_texts(raw.join_fields(first, second), ["a", "text"], iter(["new"]))
    assert changed == raw.join_fields(first, raw.fields({"a": {"text": "new"}}))


@pytest.mark.parametrize("path", [["b"], ["a", "c"], ["a", "b", "c"], ["n", "b"], ["b", "a"]])
def test_a_path_to_no_text_is_an_error(path):
    whole = bson.encode({"a": {"b": {}}, "n": 1})
    with pytest.raises(KeyError):
        raw.replace_texts(whole, path, iter(["new"]))


def test_without_leaves_the_name_alone_where_it_is_no_field():
    values = {"_id": 1, "a": {"dedup": 1}, "b": "dedup", "c": "\0dedup\0", "dedupe": 1, "xdedup": 2}
    assert raw.without(bson.encode(values), b"dedup") == bson.encode(values)


@given(OTHERS, VALUES, OTHERS)
def test_without_takes_the_field_away_wherever_and_however_often_it_stands(before, value, after):
    parts = raw.fields(before), raw.fields({"dedup": value}), raw.fields(after)
    for more in (b"", parts[1]):
        whole = raw.join_fields(*parts, more)
        assert raw.without(whole, b"dedup") == raw.join_fields(parts[0], parts[2])


@pytest.mark.parametrize("values", [{}, {"a": {"_id": 1}}, {"id": 1, "a_id": 2}])
def test_a_document_without_id_is_an_error(values):
    with pytest.raises(ValueError, match="no _id"):
        id_keys.id_key_in(bson.encode(values))


@pytest.mark.parametrize("length", [-1, -9, -(2**31)])
def test_a_length_below_zero_is_an_error_and_no_endless_walk(length):
    damaged = raw.join_fields(b"\x02_id\0" + struct.pack("<i", length))
    with pytest.raises(ValueError, match="a BSON field of length -"):
        id_keys.id_key_in(damaged)


@pytest.mark.parametrize("length", [9, 100, 2**31 - 1])
def test_an_id_that_ends_outside_of_its_document_is_an_error(length):
    """In a page the bytes of the next document would be taken for its own."""
    damaged = raw.join_fields(b"\x02_id\0" + struct.pack("<i", length) + b"12345678"[: length - 2])
    with pytest.raises(ValueError, match="outside of its document"):
        id_keys.id_key_in(damaged)


def test_a_field_is_read_beside_malformed_ones():
    broken = b"\x05_id\0\x08\0\0\0\x02\x05\0\0\0abcd"  # binary data that is shorter than it says
    assert raw.field(raw.join_fields(broken, raw.fields({"run": 4})), "run") == 4
