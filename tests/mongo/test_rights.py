"""A user with the documented rights, and with a right less."""

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pymongo import MongoClient

from dedup_job.demo import make_corpus
from dedup_job.mongod import embedded_server
from tests.running import (
    after_batches,
    assert_each_source_id_is_in_one_place,
    dedup,
    held_elsewhere,
    invoke,
    refusal,
)

PAGE = (Path(__file__).parents[2] / "docs" / "operations.md").read_text(encoding="utf-8")
KEY = "dedupTestKeyOfOneReplicaSet"
PASSWORD = "of-the-job"


def privileges(without=None):
    """Return the privileges of the page, for the test's names, but the one named."""
    found = re.search(r"createRole\(\{(.*?)\n\}\)", PAGE, re.S)
    assert found, "the page creates no role"
    rows = re.findall(r"db: \"(\w+)\", collection: \"([\w.]*)\"\}, actions: \[(.*?)\]", found[1])
    for _, name, actions in rows:
        name = name.replace("questions_unique", "target").replace("questions", "source")
        allowed = [a for a in re.findall(r"\"(\w+)\"", actions) if (name, a) != without]
        if allowed:
            yield {"resource": {"db": "d", "collection": name}, "actions": allowed}


@pytest.fixture(scope="module", params=["replica set", "standalone"])
def server(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("rights")
    replica_set = request.param == "replica set"
    key = folder / "key"
    key.write_text(KEY)
    key.chmod(0o600)
    options = ("--auth", *(("--keyFile", str(key)) if replica_set else ()))
    with embedded_server(folder / "data", replica_set=replica_set, options=options) as uri:
        with MongoClient[Any](uri) as first:  # of this machine, so it may make the first user
            first.admin.command("createUser", "root", pwd="root", roles=["root"])
        with MongoClient[Any](as_user(uri, "root", "root")) as client:
            yield uri, client


def as_user(uri, user, password):
    return uri.replace("mongodb://", f"mongodb://{user}:{password}@") + "&authSource=admin"


@pytest.fixture
def database(server):
    _, client = server
    client.drop_database("d")
    client.d.source.insert_many(make_corpus(60, seed=2))
    yield client.d
    client.drop_database("d")


def user_with(server, without=None):
    """Create the user of the job, without one action on one collection; return the URI."""
    uri, client = server
    admin = client.admin
    if admin.command("rolesInfo", "dedup")["roles"]:
        admin.command("dropUser", "job")
        admin.command("dropRole", "dedup")
    admin.command("createRole", "dedup", privileges=[*privileges(without)], roles=[])
    admin.command("createUser", "job", pwd=PASSWORD, roles=["dedup"])
    return as_user(uri, "job", PASSWORD)


NAMES = ("--db", "d", "--source", "source", "--target", "target", "--yes")


def test_the_documented_rights_are_enough_for_everything(server, database, tmp_path):
    more = {"DEDUP_URI": user_with(server), "DEDUP_INDEX__FOLDER": str(tmp_path)}

    def do(name, *words, stdin=None):
        return invoke(name, "--target", "d.target", *words, stdin=stdin, **more).output

    invoke("run", *NAMES, "--limit", "30", **more)
    with database.client.start_session() as session:  # of another user
        held_elsewhere(database, session.session_id["id"])
    do("status", "--break-lease", "--yes")
    invoke("run", *NAMES, **more)
    invoke("run", *NAMES, "--dry-run", **more)
    do("inspect", "--text", "正文")
    do("status", "--rebuild-index")
    do("inspect", "1")
    dropped = database["target.ledger"].find_one({"decision": "duplicate"})
    do("restore", str(dropped["_id"]))
    label = json.dumps({"label": "D", "id_a": dropped["of"], "id_b": dropped["_id"]})
    do("review", "--import", "-", stdin=label)
    assert '"label": "D"' in do("review", "--export", "-")
    do("check", "--source", "d.source")
    do("undo", "3", "--yes")
    do("check", "--source", "d.source", "--all")
    assert database["target.runs"].count_documents({"status": "done"}) == 2


def test_a_right_to_look_that_is_taken_away_in_a_run_is_not_taken_for_a_dropped_collection(
    server, database, monkeypatch
):
    uri = user_with(server)
    own = database.client.admin.command("rolesInfo", "dedup", showPrivileges=True)["roles"][0]
    less = [p for p in own["privileges"] if "listCollections" not in p["actions"]]
    lose = partial(database.client.admin.command, "updateRole", "dedup", privileges=less)
    after_batches(monkeypatch, 1, lose)
    invoke("run", *NAMES, DEDUP_URI=uri)
    assert_each_source_id_is_in_one_place(database)


def test_a_right_to_a_whole_database_that_is_missing_is_named_in_few_words(server, database):
    uri = user_with(server)
    database.client.admin.command("updateRole", "dedup", privileges=[])
    error = refusal("run", *NAMES, DEDUP_URI=uri)
    assert error.code == 2
    assert "lacks a right: listCollections on d\n" in str(error)
    assert "lsid" not in str(error)


@pytest.mark.parametrize(
    ("collection", "action", "message"),
    [
        ("source", "find", "source"),  # who may not even read it is not told that it exists
        ("target.ledger", "insert", "insert on d.target.ledger"),
        ("target.changed", "remove", "remove on d.target.changed"),
        ("target.state", "update", "update on d.target.state"),
    ],
)
def test_a_right_that_is_missing_is_named_before_anything_is_written(
    server, database, collection, action, message
):
    error = refusal("run", *NAMES, DEDUP_URI=user_with(server, (collection, action)))
    assert error.code == 2, error
    assert message in str(error)
    assert "Grant `read`" in str(error) or "does not exist" in str(error)
    assert "正" not in str(error)
    assert database.list_collection_names() == ["source"]
    invoke("run", *NAMES, DEDUP_URI=user_with(server))
    assert_each_source_id_is_in_one_place(database)


def test_without_the_right_to_follow_the_source_ids_are_compared_and_that_is_said(
    server, database, caplog
):
    uri = user_with(server, ("source", "changeStream"))
    invoke("run", *NAMES, DEDUP_URI=uri)
    assert not caplog.records  # there was nothing to compare
    database.source.insert_one({"_id": -5, "text": "后来才到的一道题，说的是另外一件事"})
    invoke("run", *NAMES, DEDUP_URI=uri)
    assert_each_source_id_is_in_one_place(database)
    is_replica_set = "setName" in database.client.admin.command("hello")
    message = [record.getMessage() for record in caplog.records]
    assert len(message) == is_replica_set
    assert all("no right to changeStream" in line for line in message)


@pytest.mark.usefixtures("database")
def test_a_user_who_may_not_list_databases_sees_what_he_may_read(server):
    result = dedup("run", uri=user_with(server))
    assert (result.returncode, "d.source" in result.stderr) == (2, True), result.stderr
    assert "dedup run --source d.source --target d.source_unique" in result.stderr


@pytest.mark.usefixtures("database")
def test_a_user_without_any_right_is_told_how_to_name_a_source(server):
    uri, client = server
    client.admin.command("createUser", "nobody", pwd="x", roles=[])
    result = dedup("run", uri=as_user(uri, "nobody", "x"))
    client.admin.command("dropUser", "nobody")
    assert (result.returncode, "--source is missing" in result.stderr) == (2, True), result.stderr
