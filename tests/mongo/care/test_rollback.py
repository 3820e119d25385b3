"""`dedup restore` killed at its last steps on a standalone server: the same command repeats it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pymongo import MongoClient

from tests.faults.commands import Commands, fill


@pytest.mark.parametrize(("write", "code"), [(5, 0), (7, 0), (8, 0), (9, 2)])
def test_a_restore_that_was_cut_off_is_done_by_the_same_command(
    standalone: str, tmp_path: Path, write: int, code: int
) -> None:
    """Only where nothing is left to do is it told that the target holds the document."""
    with MongoClient[dict[str, Any]](standalone) as client:
        database = client[f"restore_killed_{write}"]
        commands = Commands(standalone, tmp_path, database.name)
        fill(database, commands, 100)
        row = database["target.ledger"].find_one({"decision": "duplicate"}) or {}
        words = ("restore", str(row["_id"]), "--target", "target")
        assert commands.run(*words, dies_at=write) == -9
        assert commands.run(*words) == code, commands.said()
        commands.must("run", "--source", "source", "--target", "target", "--yes")
        assert database.target.find_one({"_id": row["_id"]}) is not None
        assert database["target.ledger"].find_one({"_id": row["_id"]}) is None
        client.drop_database(database.name)
