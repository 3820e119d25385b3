"""Ids are printed in a form that the commands understand again."""

import math
import uuid
from datetime import datetime

import bson
import pytest
from bson import (
    Binary,
    Code,
    DatetimeMS,
    Decimal128,
    Int64,
    MinKey,
    ObjectId,
    Timestamp,
    json_util,
)
from hypothesis import given
from hypothesis import strategies as st

from dedup_job.mongo import id_keys
from dedup_job.mongo import raw_bson as raw
from dedup_job.mongo.id_keys import parsed, readings, shown, unmistakable
from tests.mongo.test_raw_bson import SIMPLE as ANY
from tests.test_printing import commands

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"))
SIMPLE = st.one_of(
    *(ANY, TEXTS, TEXTS.map(lambda text: f"'{text}'"), TEXTS.map(lambda text: f'"{text}"')),
    st.from_regex(r"[0-9a-f]{24}|-?[0-9.e]{1,9}|null|true|NaN", fullmatch=True),
    *(st.floats(), st.uuids().map(Binary.from_uuid)),
    st.sampled_from([Decimal128("1E+6000"), -0.0]),
)
NAMES = st.one_of(
    TEXTS, st.sampled_from(["$oid", "$date", "$uuid", "$binary", "$numberLong", "$ref", "$id"])
)
IDS = st.one_of(SIMPLE, st.dictionaries(NAMES, st.one_of(SIMPLE, st.lists(SIMPLE)), max_size=4))


def key_of(value):
    return raw.fields({"_id": value})


def same(a, b):
    """Tell whether a server takes both for the same id: the value counts, not its bits."""

    def without_sizes(value):
        if isinstance(value, dict):
            return {name: without_sizes(part) for name, part in value.items()}
        if isinstance(value, list):
            return [without_sizes(part) for part in value]
        if isinstance(value, float) and math.isnan(value):
            return math.nan  # whatever bits follow
        return int(value) if isinstance(value, Int64) else value

    return key_of(without_sizes(a)) == key_of(without_sizes(b))


@given(IDS)
def test_the_first_reading_of_what_is_shown_is_that_id(value):
    key = key_of(value)
    text = shown(key)
    assert commands(text) == []
    assert "\n" not in text
    read = id_keys.stored(next(readings(text)))
    assert same(id_keys.id_value(read), id_keys.id_value(key))


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (ObjectId("65a0a0a0a0a0a0a0a0a0a0a0"), "65a0a0a0a0a0a0a0a0a0a0a0"),
        ("65a0a0a0a0a0a0a0a0a0a0a0", '"65a0a0a0a0a0a0a0a0a0a0a0"'),
        (17, "17"),
        (Int64(17), "17"),
        (2.5, "2.5"),
        ("17", '"17"'),
        ("a \"b\" 'c'", '"a \\"b\\" \'c\'"'),
        ("题\x1b\u202e", '"题\\u001b\\u202e"'),
        (Decimal128("1.50"), '{"$numberDecimal":"1.50"}'),
        (datetime(2024, 5, 6, 7, 8, 9, 123000), '{"$date":"2024-05-06T07:08:09.123Z"}'),
        (Binary.from_uuid(uuid.UUID(int=7)), '{"$uuid":"00000000-0000-0000-0000-000000000007"}'),
        (Binary(b"\0\xff"), '{"$binary":{"base64":"AP8=","subType":"00"}}'),
        ({"year": 2020, "no": Int64(3)}, '{"year":2020,"no":3}'),
    ],
)
def test_ids_are_24_digits_or_extended_json(value, form):
    assert shown(key_of(value)) == form


@pytest.mark.parametrize(
    "key",
    [
        b"\x02_id\0\x04\0\0\0a\xffb\0",  # a string that is not UTF-8
        b"\x0e_id\0\x02\0\0\0a\0",  # a symbol
        b"\x03_id\0" + raw.document(b"\x10a\0\1\0\0\0", b"\x10a\0\2\0\0\0"),  # a name twice
        key_of(Binary(b"\x02_id\0\x02\0\0\0a\0", 0xD1)),
        b"\x05_id\0\x08\0\0\0\x02\x03\0\0\0abcd",  # old binary data of a wrong length
        key_of({"a": {"$oid": "65a0a0a0a0a0a0a0a0a0a0a0"}}),
    ],
)
def test_an_id_that_no_value_stands_for_is_read_back_to_the_byte(key):
    assert id_keys.stored(next(readings(shown(key)))) == key


@given(IDS)
def test_no_string_is_mistaken_for_the_unmistakable_form(value):
    key = key_of(value)
    text = unmistakable(key)
    assert text[0] in '{"'
    assert id_keys.stored(next(readings(text))) == key or same(next(readings(text)), value)


@given(st.recursive(SIMPLE, lambda x: st.one_of(st.lists(x), st.dictionaries(NAMES, x))))
def test_whatever_is_written_has_a_reading(value):

    for text in (json_util.dumps(value), str(value)):
        assert all(id_keys.stored(reading) for reading in readings(text))


@pytest.mark.parametrize(
    "written",
    [
        '{"$numberDecimal": "x"}',
        '{"$date": null}',
        '{"$timestamp": 5}',
        '{"$uuid": 5}',
        '{"$binary": {"base64": "AAAA", "subType": "d1"}}',
        "[" * 100_000,
        '{"a":' * 100_000,
    ],
)
def test_what_is_no_id_is_taken_for_a_string(written):
    assert list(readings(written)) == [written]


@pytest.mark.parametrize(
    ("written", "said"), [('{"a": 1, "a": 2}', "'a' stands twice"), ("[" * 100_000, "recursion")]
)
def test_a_filter_that_would_lose_a_part_or_is_too_deep_is_refused(written, said):
    """`json_util` alone takes the last of two."""
    with pytest.raises(ValueError, match=said):
        parsed(written)


def test_the_server_finds_each_of_them(database):
    from dedup_job.mongo.records import _key

    collection = database.ids
    values = [
        *(5, "5", Int64(2**40), 2.5, Decimal128("7.5"), None, True, MinKey(), Timestamp(1, 2)),
        *(ObjectId(), "a b", Binary(b"x", 0), Binary.from_uuid(uuid.uuid4()), Code("x"), {"a": 1}),
        *({"a": {"b": 1}}, datetime(2024, 5, 6), DatetimeMS(2**60), Binary(b"x", 0xD1)),
    ]
    keys = [key_of(value) for value in values] + [b"\x02_id\0\x04\0\0\0a\xffb\0"]
    for key in keys:
        collection.insert_one(bson.raw_bson.RawBSONDocument(raw.document(key)))
    for key in keys:
        assert _key(collection, next(readings(shown(key)))) == key


def test_the_forms_in_which_ids_are_shown_are_understood():
    hexadecimal = "65a0" * 6
    object_id = ObjectId(hexadecimal)
    assert list(readings(hexadecimal)) == [object_id, hexadecimal]
    assert next(readings(f"ObjectId('{hexadecimal}')")) == object_id
    assert list(readings("'a b'")) == ["'a b'"]
    assert list(readings("17")) == [17, "17"]
    assert list(readings('"17"')) == ["17"]  # as it is printed: '"17"' would be "\\"17\\""
    assert list(readings("{'a': 1}")) == ["{'a': 1}"]
    assert list(readings("abc")) == ["abc"]
    assert list(readings(str(2**80))) == [str(2**80)]
    assert list(readings('{"$oid": "x"}')) == ['{"$oid": "x"}']
    assert next(readings('{"$numberLong": "5"}')) == Int64(5)
    assert list(readings('{"$gt": 1}')) == ['{"$gt": 1}']  # no server takes such an object
