"""The short form of what `dedup check` finds, and of commands killed in the middle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pymongo import MongoClient

from tests.faults import interrupted_commands, tampered
from tests.faults.commands import Commands, fill, stored

_SOME = ("a document removed", "a text altered", "a source document removed")


def test_the_check_finds_what_was_tampered_with(replica_set: str, tmp_path: Path) -> None:
    with MongoClient[dict[str, Any]](replica_set) as client:
        commands = Commands(replica_set, tmp_path, "tampered_short")
        fill(client.tampered_short, commands, 200)
        before = stored(client.tampered_short)
        untouched = tampered._untouched(commands, tmp_path)
        assert untouched.good == 1, untouched
        for kind in tampered.KINDS:
            if kind.name in _SOME:
                row = tampered._row(client.tampered_short, commands, tmp_path, kind, 1, before)
                assert row.good == row.times == 1, row


@pytest.mark.parametrize("name", ["undo", "restore"])
def test_a_command_killed_in_the_middle_is_brought_to_its_end(
    any_server: str, tmp_path: Path, name: str
) -> None:
    with MongoClient[dict[str, Any]](any_server) as client:
        database = client[f"interrupted_{name}"]
        commands = Commands(any_server, tmp_path, database.name)
        fill(database, commands, 100)
        ground = interrupted_commands.Ground(commands, database, stored(database))
        row = interrupted_commands._row(ground, name, "here", 2)
        client.drop_database(database.name)
    assert row.good == row.times == 2, row
