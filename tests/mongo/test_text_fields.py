"""Texts of several fields and of arrays: compared as one, each stored in its field."""

import json
from copy import deepcopy
from datetime import UTC, datetime

import bson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dedup_job.cleaning import Cleaner
from dedup_job.commands.session import form_of
from dedup_job.demo import make_corpus
from dedup_job.messages import ConfigurationError, UsageError
from dedup_job.mongo.id_keys import id_key_in
from dedup_job.mongo.raw_bson import RawDocument
from dedup_job.runs.status import Check
from dedup_job.settings import load
from tests.proving import command, good
from tests.running import assert_each_source_id_is_in_one_place, outcome, run_here, settings_of

PIECES = ["<p>", "</p>", "<!--", "<b", "&lt;", "文", "植物", " ", "\n", "1", "x"]
TEXT = st.lists(st.sampled_from(PIECES), max_size=6).map("".join)
CHOICE = st.one_of(
    TEXT,
    st.sampled_from([None, True, 7, 2.0]),
    st.dictionaries(st.sampled_from(["_id", "key", "value"]), TEXT, max_size=3),
)
VALUE = st.one_of(
    TEXT,
    st.none(),
    st.lists(TEXT, max_size=3),
    st.lists(CHOICE, max_size=3),
    st.dictionaries(st.sampled_from("ABC"), CHOICE, max_size=3),
)
DOCUMENT = st.fixed_dictionaries(
    {}, optional={"n": st.integers(0, 9), "title": VALUE, "options": VALUE}
)
NESTED = st.one_of(VALUE.map(lambda value: {"text": value, "more": [1]}), st.just(7))


def value_of(document, field):
    for name in field.split("."):
        document = document.get(name) if isinstance(document, dict) else None
    return document


def parts_of(value):
    """Return the texts and numbers in a value, in order."""
    if isinstance(value, dict):
        return [part for name, inner in value.items() if name != "_id" for part in parts_of(inner)]
    if isinstance(value, list):
        return [part for inner in value for part in parts_of(inner)]
    return [] if value is None or value is True else [value]


def compared(document, fields, clean=lambda text: text):
    """Return the text that is compared, None where the document has none: the naive version."""
    values = [value_of(document, field) for field in fields.split(",")]
    parts = [parts_of(value) for value in values if value is not None]
    if all(own and not any(isinstance(part, str) for part in own) for own in parts):
        return None
    numbers = [[int(part) if isinstance(part, float) else part for part in own] for own in parts]
    return "\n".join(filter(None, (clean(f"{part}") for own in numbers for part in own)))


def cleaned(document, fields):
    new = deepcopy(document)
    for field in fields.split(","):
        *outer, last = field.split(".")
        within = new
        for name in outer:
            within = within.get(name) if isinstance(within, dict) else None
        if isinstance(within, dict) and last in within:
            within[last] = value_cleaned(within[last])
    return new


def value_cleaned(value):
    if isinstance(value, dict):
        return {k: v if k == "_id" else value_cleaned(v) for k, v in value.items()}
    if isinstance(value, list):
        return [*map(value_cleaned, value)]
    return Cleaner().clean(value) if isinstance(value, str) else value


@pytest.fixture(scope="module")
def many(replica_set):
    from tests.conftest import fresh_database

    return lambda: fresh_database(replica_set)


@pytest.mark.parametrize("fields", ["title,body.text,options", "options,title"])
@pytest.mark.parametrize("form", ["whole", "text"])
@pytest.mark.parametrize("stored", ["cleaned", "original"])
@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(documents=st.lists(st.tuples(DOCUMENT, st.none() | NESTED), min_size=12, max_size=36))
def test_a_stored_text_is_read_back_as_it_was_compared(many, fields, form, stored, documents):
    for database in many():
        source = [
            {"_id": n, **d, **({} if body is None else {"body": body})}
            for n, (d, body) in enumerate(documents)
        ]
        every = {"title": "各有一篇", "body": {"text": "正文"}, "options": ["甲", "乙"]}
        source.append({"_id": len(source), **every})
        database.source.insert_many(source)
        flags = {"source__field": fields, "output__document": form, "output__text": stored}
        run_here(database, **flags)
        assert_each_source_id_is_in_one_place(database)
        kept, ledger = outcome(database)
        found = settings_of(database, **flags)
        rows = form_of(found, found.models()).kept
        expected = {d["_id"]: compared(d, fields, Cleaner().clean) for d in source}
        for document in kept:
            raw = bson.encode(document)
            text, mark = rows.read(RawDocument(id_key_in(raw), raw))
            assert mark is not None
            assert text == expected[document["_id"]]
            own = {name: value for name, value in document.items() if name != "dedup"}
            like = source[document["_id"]]
            like = cleaned(like, fields) if stored == "cleaned" else like
            if form == "whole":
                assert own == like
            else:
                assert {f: value_of(own, f) for f in fields.split(",")} == {
                    f: value_of(like, f) for f in fields.split(",")
                }
        for row in ledger:
            text = expected[row["_id"]]
            reasons = {None: ["missing", "not_text"], "": ["empty"]}.get(text, ["exact", "near"])
            assert row["reason"] in reasons


PLANT = "光合作用是绿色植物利用太阳光能，把二氧化碳和水合成为有机物，并释放出氧气的过程。"


def test_an_open_tag_in_one_field_does_not_swallow_the_next(database):
    database.source.insert_many(
        [
            {"_id": 1, "title": "植物 <!--", "body": f"<p>{PLANT}</p> --> 完", "n": 1},
            {"_id": 2, "title": "<b>动物</b>", "body": "细胞"},
            {"_id": 3, "body": f"<div>{PLANT}</div>--> 完", "title": "植物  <!--"},
        ]
    )
    assert PLANT not in Cleaner().clean(f"植物 <!--\n<p>{PLANT}</p> --> 完")
    run_here(database, source__field="title,body", output__text="cleaned")
    kept, ledger = outcome(database)
    assert [d["title"] for d in kept] == ["植物 <!--", "动物"]
    assert [d["body"] for d in kept] == [f"{PLANT}\n--> 完", "细胞"]
    assert list(kept[0]) == ["_id", "title", "body", "n", "dedup"]
    assert [(row["_id"], row["of"], row["reason"]) for row in ledger] == [(3, 1, "exact")]


def test_documents_without_a_text_in_any_field_or_with_something_else_are_skipped(database):
    values = {
        1: {"title": "甲", "body": None},
        2: {"title": None},
        3: {"title": "乙乙乙", "body": 5},
        4: {"title": ["丙", b"7"], "body": "丙丙"},
        5: {"title": {"n": 7}},
        6: {"title": "", "body": []},
        7: {"body": ["戊", "己"]},
        8: {"title": [{"when": datetime(2026, 1, 1, tzinfo=UTC)}], "body": "辛"},
    }
    database.source.insert_many({"_id": n, **document} for n, document in values.items())
    run_here(database, source__field="title,body")
    kept, ledger = outcome(database)
    assert [{**d, "dedup": 0} for d in kept] == [
        {"_id": n, **values[n], "dedup": 0} for n in (1, 7)
    ]
    reasons = {2: "missing", **dict.fromkeys((3, 4, 5, 8), "not_text"), 6: "empty"}
    assert {row["_id"]: row["reason"] for row in ledger} == reasons
    message = "the field {!r} holds something that is no text"
    where = {3: message.format("body"), **dict.fromkeys((4, 8), message.format("title"))}
    assert {row["_id"]: row["detail"] for row in ledger if "detail" in row} == where


def test_one_field_may_hold_an_array_of_texts(any_database):
    texts = [["<b>甲</b>", "乙"], "甲<br>乙", [8, 7], ["丙丙丙"], []]
    any_database.source.insert_many({"_id": n, "text": t} for n, t in enumerate(texts))
    run_here(any_database, output__text="cleaned")
    kept, ledger = outcome(any_database)
    assert [(d["_id"], d["text"]) for d in kept] == [(0, ["甲", "乙"]), (3, ["丙丙丙"])]
    assert [(row["_id"], row["reason"]) for row in ledger] == [
        (1, "exact"), (2, "not_text"), (4, "empty"),
    ]  # fmt: skip
    assert "detail" not in ledger[1]


@pytest.mark.parametrize(
    "change",
    [
        *({"$set": {"title": "改"}}, {"$set": {"options.0": "改"}}, {"$set": {"options": ["改"]}}),
        *({"$set": {"a": {"b": "改"}}}, {"$set": {"a.b": "改"}}, {"$unset": {"a.b": 1}}),
    ],
    ids=str,
)
def test_a_change_of_any_of_the_fields_is_a_change_of_the_text(database, change):
    database.source.insert_many(
        {"_id": n, "title": f"第{n}题", "options": ["甲", "乙"], "a": {"b": "丙", "c": n}}
        for n in range(9)
    )
    flags = {"source__field": "title,options,a.b"}
    run_here(database, **flags)
    database.source.update_one({"_id": 3}, change)
    database.source.update_one({"_id": 4}, {"$set": {"more": "改", "a.c": 7}})
    assert run_here(database, **flags).changed == {"changed": 1, "deleted": 0}


def test_the_limit_is_that_of_all_texts_together(database):
    database.source.insert_many(
        [{"_id": 1, "a": "甲" * 30, "b": "乙" * 30}, {"_id": 2, "a": "丙" * 30, "b": "丁" * 20}]
    )
    run_here(database, source__field="a,b", source__max_chars=55)
    kept, ledger = outcome(database)
    assert [d["_id"] for d in kept] == [2]
    assert [(row["_id"], row["reason"]) for row in ledger] == [(1, "too_large")]


def in_parts(text):
    return [{"_id": "x", "key": 1, "value": f"<p>{text[20:]}"}, text[:5]]


@pytest.mark.parametrize("stored", ["cleaned", "original"])
def test_every_command_works_on_a_target_of_several_fields(any_database, tmp_path, stored):
    source, ledger = any_database.source, any_database["target.ledger"]
    flags = {"source__field": "title,body", "ledger__document": "whole", "output__text": stored}
    flags["index__folder"] = folder = str(tmp_path / "index")
    for seed in (3, 4):
        some = [d for d in make_corpus(300, seed=seed) if isinstance(d.get("text"), str)]
        source.insert_many(
            {
                "_id": f"{seed} {d['_id']}",
                "title": f"<i>{d['text'][:20]}</i>",
                "body": in_parts(d["text"]) if n % 5 == 0 else d["text"],
                "more": n,
            }
            for n, d in enumerate(some)
        )
        run_here(any_database, **flags)
    assert good(any_database, tmp_path, "--all") == {}

    def do(*words):
        return command(any_database, *words, DEDUP_INDEX__FOLDER=folder)

    row = ledger.find_one({"reason": "near"})
    document = source.find_one({"_id": row["_id"]})
    assert row["document"] == document
    assert "duplicate: near" in do("inspect", row["_id"])
    before = outcome(any_database)
    do("restore", row["_id"])
    back = any_database.target.find_one({"_id": row["_id"]})
    number = back.pop("dedup")["run"]
    assert back == (cleaned(document, "title,body") if stored == "cleaned" else document)
    assert good(any_database, tmp_path, "--all") == {}
    do("undo", str(number), "--yes")
    assert outcome(any_database) == before
    assert good(any_database, tmp_path, "--all") == {}
    listed = do("list", "--what", "near", "--texts", "--format", "jsonl").splitlines()
    texts = [json.loads(line)["text"] for line in listed]
    assert compared(document, "title,body", Cleaner().clean) in texts
    source.insert_one({**document, "_id": "new", "title": f"<div>{document['title']}</div>"})
    assert run_here(any_database, dry_run=True, **flags).counts.duplicates == 1
    assert outcome(any_database) == before
    kept = any_database.target.find_one({"body": {"$type": "array"}})["_id"]
    source.update_one({"_id": kept}, {"$set": {"body.1": "另外"}})
    source.delete_one({"_id": "new"})
    assert good(any_database, tmp_path, "--all") == {Check.CHANGED: [json.dumps(kept)]}


def test_a_field_that_no_document_has_is_named(database):
    database.source.insert_one({"_id": 1, "title": "甲", "options": ["乙"]})
    with pytest.raises(UsageError, match=r"has the field 'boddy'.*options \(100%\)"):
        run_here(database, source__field="title,boddy")


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("title,,body", "'' is not a text field"),
        ("title,", "'' is not a text field"),
        ("title,_id", "'_id' is not a text field"),
        ("b,a,b", "'b' is named twice; name it once"),
        ("a.b,c,a", "'a' holds 'a.b'; name only"),
        ("a,a-b,a.b", "'a' holds 'a.b'; name only"),
    ],
)
def test_fields_that_are_none_or_overlap_are_refused(field, words):
    with pytest.raises(ConfigurationError, match="field") as caught:
        load({"source.field": field})
    assert words in str(caught.value)


def test_the_form_classic_has_room_for_one_text():
    with pytest.raises(ConfigurationError, match=r"classic holds one text.*--field"):
        load({"source.field": "a,b", "output.document": "classic"})
