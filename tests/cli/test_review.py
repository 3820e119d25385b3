"""`dedup review`: what it refuses, and labels as files."""

import json
import socket
import sys

import pytest
from bson import Int64, ObjectId, json_util

from dedup_job.cli import labels as cli
from dedup_job.demo import make_corpus
from tests.proving import command, refused
from tests.running import run_here


@pytest.fixture
def decided(database):
    database.source.insert_many(make_corpus(300, seed=3))
    run_here(database)
    return database


def test_a_port_in_use_is_refused_before_any_work(decided):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        error = refused(decided, "review", "--no-browser", "--port", port)
    assert error.code == 2
    assert f"port {port} is in use" in str(error)
    assert "0 for any that is free" in str(error)


def test_without_the_extra_the_command_says_what_to_install(decided, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("dedup_job.server")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    error = refused(decided, "review", "--no-browser")
    assert error.code == 2
    assert "pip install 'dedup-job[review]'" in str(error)


def test_a_browser_is_given_a_private_file_and_never_the_token(monkeypatch, capsys, tmp_path):
    opened = []
    monkeypatch.setenv("DISPLAY", ":0")

    def look(address):
        file = address.removeprefix("file://")
        with open(file, encoding="utf-8") as stream:  # noqa: PTH123
            assert "token=secret" in stream.read()
        opened.append(address)
        return False

    monkeypatch.setattr("webbrowser.open", look)
    review = type("R", (), {"target": "d.t", "name": "anna", "stored_in": "d.t.labels"})
    cli._announce(review, tmp_path, "http://127.0.0.1:1/?token=secret")
    assert "secret" not in opened[0]
    assert "No browser was found here: open the address" in capsys.readouterr().out
    monkeypatch.delenv("DISPLAY")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    if sys.platform == "linux":  # one in the terminal would replace the command
        assert not cli._open_in_browser("file:///x")


IDS = [7, "7", "a\u2028b", ObjectId("65a0a0a0a0a0a0a0a0a0a0a0"), {"a": Int64(1)}, None, 7.5]


def test_ids_of_every_type_survive_the_way_through_a_file(database, tmp_path):
    text = "水分子由氢原子和氧原子组成，下列关于它的说法正确的是哪一项？"
    database.source.insert_many([{"_id": id_, "text": text} for id_ in IDS])
    run_here(database)
    rows = [*database["target.ledger"].find()]
    lines = [{"label": "S", "id_a": in_json(r["of"]), "id_b": in_json(r["_id"])} for r in rows]
    command(database, "review", "--import", "-", stdin="\n".join(map(json.dumps, lines)))
    kept = [*database["target.labels"].find().sort("_id", 1)]
    assert sorted(repr(row["_id"]["id"]) for row in kept) == sorted(repr(r["_id"]) for r in rows)
    file = str(tmp_path / "labels.jsonl")
    command(database, "review", "--export", file)
    database["target.labels"].drop()
    command(database, "review", "--import", file)
    assert [*database["target.labels"].find().sort("_id", 1)] == kept


def in_json(id_):
    return json.loads(json_util.dumps(id_, json_options=json_util.RELAXED_JSON_OPTIONS))
