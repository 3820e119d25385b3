"""`dedup undo`, `restore` and `check` killed in the middle: the next command ends it well.

A short form, without the cost of a process: tests/cli/test_undo.py, test_restore.py.
"""

from __future__ import annotations

import random
import time

import pytest
from pymongo import MongoClient

from tests.faults.commands import Commands, fill, put_back, stored

pytestmark = pytest.mark.faults
_LONGEST_CHECK = 0.5  # seconds of a check
_KILLED = -9
_NAMES = ("--source", "source", "--target", "target")
_CHECK = ("check", *_NAMES, "--all")
_RUN = ("run", *_NAMES, "--yes")


@pytest.fixture
def commands(any_server, tmp_path):
    """Return commands on a target by two runs."""
    commands = Commands(any_server, tmp_path, "faults_interrupted")
    with MongoClient(any_server) as client:
        commands.collections = client.faults_interrupted
        fill(commands.collections, commands, 200)
        yield commands
        client.admin.command("killAllSessions", [])
        client.drop_database("faults_interrupted")


def decided(found) -> dict:
    """Return where each document is, and of which one it is a duplicate."""
    rows = {row["_id"]: f"{row['reason']} {row.get('of')}" for row in found["target.ledger"]}
    return {**dict.fromkeys((d["_id"] for d in found["target"]), "kept"), **rows}


def assert_good(commands, expected) -> None:
    """Assert that nothing is wrong or unfinished, and all is decided as expected."""
    assert commands.command(*_CHECK) == 0, commands.said()
    state = commands.collections["target.state"].find_one()
    assert not state.get("undo")
    assert not state.get("intent")
    assert decided(stored(commands.collections)) == expected


@pytest.mark.standalone
@pytest.mark.parametrize(
    "name",
    [
        "undo",
        pytest.param("restore", marks=pytest.mark.short),
        "restore --requeue",
    ],
)
def test_a_command_killed_after_any_of_its_writes_is_brought_to_its_end(commands, times, name):
    """By the same command given again, or by a run that comes first."""
    database, before = commands.collections, stored(commands.collections)
    query = {"decision": "duplicate"} if name == "restore" else {}
    ids = sorted(row["_id"] for row in database["target.ledger"].find(query, {"_id": 1}))
    chance, killed, at = random.Random(1), 0, 1
    while killed < times(10, 2):
        words, *more = name.split()
        given = ["2", "--yes"] if name == "undo" else [str(chance.choice(ids)), *more]
        words = (words, given[0], "--target", "target", *given[1:])
        if commands.command(*words, dies_at=at) != _KILLED:  # it has fewer writes than that
            assert at > 1
            at = 1
            put_back(database, before)
            continue
        is_same_first = killed % 2 == 0
        for command in (words, _RUN) if is_same_first else (_RUN, words, _RUN):
            # what was done before the kill is refused a second time: nothing is left to do
            good = (0, 2, 3) if command is words else (0, 3)
            assert commands.command(*command) in good, commands.said()
        if is_same_first and name == "undo":
            assert database["target.runs"].find_one({"_id": 2})["status"] == "undone"
        expected = decided(before)
        if name == "restore":
            expected[int(words[1])] = "kept"
        assert_good(commands, expected)
        killed, at = killed + 1, at + 1
        put_back(database, before)


def test_a_check_killed_at_a_random_moment_changes_nothing(commands, times):
    chance, before, killed = random.Random(3), stored(commands.collections), 0
    while killed < times(10):
        process = commands.start_command(*_CHECK)
        time.sleep(chance.random() * _LONGEST_CHECK)
        process.kill()
        killed += commands.end(process) == _KILLED
        assert stored(commands.collections) == before
    assert_good(commands, decided(before))
