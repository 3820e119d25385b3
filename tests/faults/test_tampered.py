"""Targets that someone changed by hand: `dedup check` finds each, and passes what is untouched.

What the other commands do with a state or rows that someone changed: tests/cli/test_tampered.py.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from bson import Int64
from pymongo import MongoClient

from dedup_job.mongo.bson.extended_json import shown_value
from tests.faults.commands import Commands, fill, put_back, stored

pytestmark = pytest.mark.faults
Document = dict[str, Any]
Change = Callable[[Any, random.Random], Any]


@pytest.fixture(scope="module")
def commands(replica_set, tmp_path_factory, is_long):
    """Return commands on a target by two runs."""
    commands = Commands(replica_set, tmp_path_factory.mktemp("tampered"), "faults_tampered")
    with MongoClient(replica_set) as client:
        commands.collections = client.faults_tampered
        fill(commands.collections, commands, 2000 if is_long else 200)
        yield commands
        client.drop_database("faults_tampered")


def one(database, chance, name: str, **query: Any) -> Document:
    """Return some document of a collection."""
    ids = [d["_id"] for d in database[name].find(query, {"_id": 1}).sort("_id", 1)]
    return database[name].find_one({"_id": chance.choice(ids)})


def remove(name: str, **query: Any) -> Change:
    def do(database, chance):
        id_ = one(database, chance, name, **query)["_id"]
        database[name].delete_one({"_id": id_})
        return id_

    return do


def add(name: str) -> Change:
    def do(database, chance):
        id_ = f"added by hand {chance.random()}"
        database[name].insert_one({**one(database, chance, name), "_id": id_})
        return id_

    return do


def change(name: str, how: Callable[[Document], Document], **query: Any) -> Change:
    def do(database, chance):
        document = one(database, chance, name, **query)
        database[name].update_one({"_id": document["_id"]}, {"$set": how(document)})
        return document["_id"]

    return do


def decide_twice(database, chance):
    row = one(database, chance, "target.ledger")
    database.target.insert_one({**one(database, chance, "target"), "_id": row["_id"]})
    return row["_id"]


def remove_original(database, chance):
    of = one(database, chance, "target.ledger", decision="duplicate")["of"]
    database.target.delete_one({"_id": of})
    return of


def rewrite_source(database, chance):
    document = one(database, chance, "target")
    text = f"另一篇文章，第{chance.random()}号，与原来的毫无关系。"
    database.source.update_one({"_id": document["_id"]}, {"$set": {"text": text}})
    return document["_id"]


class Tampering(NamedTuple):
    """What is done, which returns the `_id` it is done to.

    is_shown: whether a finding shows this `_id`; is_error: whether it ends with 6, or is but told.
    """

    name: str
    do: Change
    is_shown: bool = True
    is_error: bool = True


KINDS = (
    Tampering("a document removed", remove("target")),
    Tampering("a document added", add("target")),
    Tampering("a text altered", change("target", lambda d: {"text": f"{d['text']}，又加一句。"})),
    Tampering(
        "a fingerprint altered",
        change("target", lambda d: {"dedup.fingerprint": Int64(d["dedup"]["fingerprint"] ^ 1)}),
    ),
    Tampering("a row of the ledger removed", remove("target.ledger")),
    Tampering("a row of the ledger added", add("target.ledger")),
    Tampering("a row of the ledger altered", change("target.ledger", lambda _: {"reason": "else"})),
    Tampering("a document decided twice", decide_twice),
    Tampering("the original of a duplicate removed", remove_original),
    Tampering(
        "counts of a run altered",
        change("target.runs", lambda d: {"counts.kept": d["counts"]["kept"] + 1}),
        is_shown=False,
    ),
    Tampering("a run removed", remove("target.runs"), is_shown=False),
    Tampering("a source document removed", remove("source"), is_error=False),
    Tampering("a source document altered", rewrite_source, is_error=False),
    Tampering(
        "the source emptied",
        lambda database, _: database.source.delete_many({}),
        is_shown=False,
        is_error=False,
    ),
)
_SHORT = ("a document removed", "a text altered", "a source document removed")


def checked(commands, folder) -> tuple[int, dict[str, list[str]]]:
    """Run `dedup check --all`; return exit code and what it found, each with the first ids."""
    report = folder / "check.json"
    names = ("--source", "source", "--target", "target", "--all", "--report", str(report))
    code = commands.command("check", *names)
    rows = json.loads(report.read_text(encoding="utf-8"))["checks"]
    return code, {row["check"]: row["first"] for row in rows if row["found"]}


@pytest.mark.short
def test_a_target_that_nobody_touched_is_good(commands, tmp_path):
    assert checked(commands, tmp_path) == (0, {})


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(k, marks=[pytest.mark.short] if k.name in _SHORT else [], id=k.name)
        for k in KINDS
    ],
)
def test_a_check_finds_and_names_what_was_tampered_with(commands, tmp_path, times, kind):
    before = stored(commands.collections)
    for seed in range(times(3)):
        id_ = kind.do(commands.collections, random.Random(seed))
        code, found = checked(commands, tmp_path)
        put_back(commands.collections, before)
        assert code == (6 if kind.is_error else 0)
        assert found
        said = " ".join(commands.said().split())
        assert all(name in said for name in found), "what is found is not printed"
        if kind.is_shown:
            assert any(shown_value(id_) in line for lines in found.values() for line in lines)
