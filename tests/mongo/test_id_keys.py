"""Ids are printed in forms that commands understand, and are the same where a server says so."""

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
    MaxKey,
    MinKey,
    ObjectId,
    Regex,
    Timestamp,
    json_util,
)
from bson.raw_bson import RawBSONDocument
from hypothesis import given
from hypothesis import strategies as st
from pymongo.errors import BulkWriteError

from dedup_job.mongo import id_keys
from dedup_job.mongo import raw_bson as raw
from dedup_job.mongo.id_keys import as_asked, equality_key, parsed, readings, shown, unmistakable
from dedup_job.mongo.reading import Reader, in_commands
from dedup_job.mongo.target import Target
from tests.mongo.test_raw_bson import SIMPLE as ANY
from tests.proving import command, good
from tests.running import assert_each_source_id_is_in_one_place, outcome, run_here
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
    """Return whether a server takes both for the same id: the value counts, not its bits."""

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
def test_the_first_reading_of_a_shown_id_is_that_id(value):
    key = key_of(value)
    text = shown(key)
    assert commands(text) == []
    assert "\n" not in text
    read = id_keys.key_from_value(next(readings(text)))
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
        b"\x03_id\0" + raw.join_fields(b"\x10a\0\1\0\0\0", b"\x10a\0\2\0\0\0"),  # a name twice
        key_of(Binary(b"\x02_id\0\x02\0\0\0a\0", 0xD1)),
        b"\x05_id\0\x08\0\0\0\x02\x03\0\0\0abcd",  # old binary data of a wrong length
        key_of({"a": {"$oid": "65a0a0a0a0a0a0a0a0a0a0a0"}}),
    ],
)
def test_an_id_that_no_value_represents_is_read_back_to_the_byte(key):
    assert id_keys.key_from_value(next(readings(shown(key)))) == key


@given(IDS)
def test_no_string_is_mistaken_for_the_unmistakable_form(value):
    key = key_of(value)
    text = unmistakable(key)
    assert text[0] in '{"'
    assert id_keys.key_from_value(next(readings(text))) == key or same(next(readings(text)), value)


@given(st.recursive(SIMPLE, lambda x: st.one_of(st.lists(x), st.dictionaries(NAMES, x))))
def test_any_text_has_a_reading(value):

    for text in (json_util.dumps(value), str(value)):
        assert all(id_keys.key_from_value(reading) for reading in readings(text))


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
def test_invalid_extended_json_is_read_as_a_string(written):
    assert list(readings(written)) == [written]


@pytest.mark.parametrize(
    ("written", "message"), [('{"a": 1, "a": 2}', "'a' stands twice"), ("[" * 100_000, "recursion")]
)
def test_a_filter_that_would_lose_a_part_or_is_too_deep_is_refused(written, message):
    """`json_util` alone takes the last of two."""
    with pytest.raises(ValueError, match=message):
        parsed(written)


def test_the_server_finds_each_of_them(database):
    collection = database.ids
    values = [
        *(5, "5", Int64(2**40), 2.5, Decimal128("7.5"), None, True, MinKey(), Timestamp(1, 2)),
        *(ObjectId(), "a b", Binary(b"x", 0), Binary.from_uuid(uuid.uuid4()), Code("x"), {"a": 1}),
        *({"a": {"b": 1}}, datetime(2024, 5, 6), DatetimeMS(2**60), Binary(b"x", 0xD1)),
    ]
    keys = [key_of(value) for value in values] + [b"\x02_id\0\x04\0\0\0a\xffb\0"]
    for key in keys:
        collection.insert_one(bson.raw_bson.RawBSONDocument(raw.join_fields(key)))
    for key in keys:
        read = id_keys.key_from_value(next(readings(shown(key))))
        assert [row.key for row in Reader(collection).look_up(id_keys.id_filter([read]))] == [key]


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


TEXT = "在标准状况下，将一定量的二氧化碳通入澄清石灰水，观察到溶液先变浑浊后变澄清。"
_NUMBERS = [
    *(5, Int64(5), 5.0, Decimal128("5"), Decimal128("5.00"), Decimal128("0.5E1")),
    *(0, -0.0, 0.0, Decimal128("-0"), Decimal128("0E+3")),
    *(0.1, Decimal128("0.1"), Decimal128("0.1000000000000000055511151231257827")),
    *(Int64(2**53 + 1), float(2**53), Int64(2**53), 2.0**70, Decimal128(str(2**70))),
    *(1e300, float("inf"), Decimal128("Infinity"), float("-inf"), Decimal128("-Infinity")),
    *(float("nan"), Decimal128("NaN"), 5e-324, -5, -5.0),
]
_OTHERS = [
    *("5", "五", True, False, None, ObjectId("5" * 24), b"5", Code("5"), Timestamp(5, 0)),
    *(MinKey(), MaxKey()),
]
_WITHIN = [
    *({"a": number, "b": "x"} for number in (5, 5.0, Int64(6), Decimal128("6"))),
    *({"a": {"b": [number, "x"]}} for number in (5, 5.0, Decimal128("5.0"))),
    *({"b": "x", "a": 5}, {"a": 5}, {"A": 5}, {}, {"a": Regex("5")}, {"a": True}),
]
_SYMBOLS = [  # which drivers no longer write
    raw.join_fields(bytes([kind]) + b"_id\0\x02\0\0\0x\0") for kind in (0x02, 0x0E, 0x0D)
]


def key(value):
    return raw.fields({"_id": value})


def test_ids_compare_as_on_the_server(database):
    raws = [bson.encode({"_id": value}) for value in (*_NUMBERS, *_OTHERS, *_WITHIN)]
    keys = [*map(id_keys.id_key_in, (*raws, *_SYMBOLS))]
    documents = [RawBSONDocument(raw.join_fields(one)) for one in keys]
    with pytest.raises(BulkWriteError) as refused:
        database.ids.insert_many(documents, ordered=False)
    repeated = {error["index"] for error in refused.value.details["writeErrors"]}
    seen = set()
    for i, one in enumerate(keys):
        assert (equality_key(one) in seen) is (i in repeated), one
        seen.add(equality_key(one))


@given(st.sets(st.integers(-9, 9)), st.dictionaries(st.integers(-9, 9), st.booleans()))
def test_the_same_ids_are_found_in_the_types_in_which_they_are_asked_for(query, stored):
    expected_others = {key(float(value) if other else value) for value, other in stored.items()}
    found = as_asked({key(value) for value in query}, expected_others)
    assert {*found.values()} == {key(v) for v in query & {*stored}}
    assert all(equality_key(one) == equality_key(same) for one, same in found.items())


def imported_again(database, change):
    documents = [{**d, "_id": change(d["_id"])} for d in database.source.find()]
    database.drop_collection("source")
    database.source.insert_many(documents)


@pytest.mark.parametrize(
    "change",
    [float, Int64, lambda id_: Decimal128(str(id_))],
    ids=["double", "int64", "decimal"],
)
@pytest.mark.parametrize("within", [False, True], ids=["number", "document"])
def test_a_source_that_was_imported_again_with_another_type_holds_nothing_new(
    any_database, tmp_path, change, within
):
    def made(id_):
        return {"n": id_} if within else id_

    any_database.source.insert_many(
        [{"_id": made(i), "text": f"{TEXT}第{i}题" if i % 3 else TEXT} for i in range(40)]
    )
    run_here(any_database)
    before = outcome(any_database)
    imported_again(any_database, lambda id_: {"n": change(id_["n"])} if within else change(id_))
    report = run_here(any_database)
    assert (report.known, report.checkpoint.counts.scanned) == (40, 0)
    assert outcome(any_database) == before
    assert good(any_database, tmp_path, "--all") == {}
    row = any_database["target.ledger"].find_one() or {}
    command(any_database, "restore", bson.json_util.dumps(row["_id"]))
    run_here(any_database)
    assert (
        any_database.target.count_documents({}) + any_database["target.ledger"].count_documents({})
        == 40
    )
    command(any_database, "undo", "4", "--yes")
    command(any_database, "undo", "3", "--yes")


MB = 1 << 20


@pytest.fixture
def made(any_database):
    huge = [{"_id": letter * size, "text": TEXT} for letter, size in _HUGE]
    within = {"_id": {"n": 1, "rest": "x" * 5 * MB}, "text": TEXT}
    plain = [{"_id": id_, "text": f"{TEXT}{id_}"} for id_ in ("a", "c", "m", "zz", 7)]
    copies = [{"_id": id_, "text": f"{TEXT}a"} for id_ in ("bb", "zzz")]
    any_database.source.insert_many([*huge, within, *plain, *copies])
    run_here(any_database, run__batch_documents=4)
    return any_database


_HUGE = (("b", 3 * MB), ("d", 7 * MB), ("e", 7 * MB), ("y", 70_000))  # the oplog takes no more


def test_huge_ids_are_quarantined_with_their_size(made):
    assert_each_source_id_is_in_one_place(made)
    assert sorted(d["_id"] for d in made.target.find({"_id": {"$type": "string"}})) == [
        *("a", "c", "m", "zz")
    ]
    rows = list(made["target.ledger"].find({"decision": "quarantined"}))
    assert {row["reason"] for row in rows} == {"too_large"}
    assert "its _id takes 3,145," in min(rows, key=lambda row: row["detail"])["detail"]
    assert len(rows) == len(_HUGE) + 1
    last = (made["target.state"].find_one() or {})["checkpoint"]["last_id"]
    assert len(str(last)) < 100


def test_later_runs_and_the_commands_work_as_with_others(made, tmp_path):
    before = outcome(made)
    report = run_here(made)
    assert report.checkpoint.counts.scanned == 0
    assert outcome(made) == before
    assert good(made, tmp_path, "--all") == {}
    assert "duplicate" in command(made, "inspect", "bb")
    command(made, "undo", "2", "--yes")
    command(made, "undo", "1", "--yes")
    assert made["target.ledger"].count_documents({}) == 0
    report = run_here(made)
    assert report.checkpoint.counts.quarantined == len(_HUGE) + 1


def test_a_batch_with_huge_ids_that_was_cut_off_is_decided_and_counted_once(
    any_database, tmp_path, monkeypatch
):
    any_database.source.insert_many(
        {"_id": id_, "text": f"{TEXT}{id_[:1]}"} for id_ in ("a", "b" * 70_000, "c", "d" * 3 * MB)
    )
    with monkeypatch.context() as patch:
        patch.setattr(Target, "settle", None)  # the process ends between write and settle
        with pytest.raises(TypeError):
            run_here(any_database)
    report = run_here(any_database)
    assert report.checkpoint.counts.quarantined == 2
    assert_each_source_id_is_in_one_place(any_database)
    assert good(any_database, tmp_path, "--all") == {}


def test_keys_are_divided_so_that_each_part_fits_into_a_command():
    keys = [b"x" * size for size in (1, 5 * MB, 5 * MB, 9 * MB, 1, 1)]
    parts = [[len(key) for key in part] for part in in_commands(keys)]
    assert parts == [[1, 5 * MB], [5 * MB], [9 * MB], [1, 1]]
    assert [*in_commands([])] == []
