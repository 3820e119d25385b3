"""State and rows of runs that dedup did not write are refused where they are read.

They are small and plain documents, so mongomock holds them. That no command goes on is proved on
real servers: tests/cli/test_tampering.py.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import mongomock
import pytest
from bson import Int64
from pydantic import BaseModel

from dedup_job.errors import StateMismatch
from dedup_job.mongo.state.fields import (
    FORMAT,
    EntryFields,
    RunFields,
    StateFields,
    check_run,
    check_state,
)
from dedup_job.runs.counts import Counts
from dedup_job.runs.run import Checkpoint, Scope, Status
from dedup_job.settings import load

NOW = datetime(2026, 1, 1, tzinfo=UTC)
COUNTS = Counts().as_dict()
STAMP = load({}).settings.stamp()
STATE = {
    "format": FORMAT,
    "id": "0" * 32,
    "generation": 7,
    "source": "school.source",
    "settings": STAMP,
    "token": 3,
    "lease": None,
    "checkpoint": Checkpoint(2, Scope(), NOW, Counts(), 1.5, None, finished=True).as_dict(),
    "intent": None,
}
RUN = {
    "status": str(Status.DONE),
    "source": "school.source",
    "started": NOW,
    "query": None,
    "limit": None,
    "seconds": 1.5,
    "counts": COUNTS,
    "settings": STAMP,
}
LEASE = {"host": "h", "pid": 1, "machine": "m", "process_started": 1.0, "since": NOW}


@pytest.fixture
def database():
    """Return a database with the state of a target and the rows of its two runs."""
    found = mongomock.MongoClient(tz_aware=True).school
    found["target.state"].insert_one({"_id": "state", **STATE})
    found["target.runs"].insert_many([{"_id": 1, **RUN}, {"_id": 2, **RUN}])
    return found


def test_what_dedup_wrote_is_taken(database):
    check_state(database["target.state"].find_one(), "target.state")
    for row in database["target.runs"].find():
        assert check_run(row, "target.runs") is row


STATES: list[tuple[dict[str, Any], str]] = [
    ({"$set": {"format": 2}}, "of format 2"),
    ({"$unset": {"format": ""}}, "of format None"),
    ({"$set": {"id": "../../elsewhere"}}, "id"),
    ({"$unset": {"generation": ""}}, "generation"),
    ({"$set": {"token": "9"}}, "token"),
    ({"$set": {"settings": None}}, "settings"),
    ({"$set": {"settings.output": 5}}, "settings"),
    ({"$set": {"checkpoint": {"run": 1}}}, "checkpoint"),
    ({"$set": {"checkpoint.run": Int64(2**63 - 1)}}, "checkpoint"),
    ({"$set": {"checkpoint.counts.kept": "x"}}, "checkpoint"),
    ({"$set": {"checkpoint.counts.kept": -5}}, "checkpoint"),
    ({"$set": {"checkpoint.seconds": "x"}}, "checkpoint"),
    ({"$set": {"checkpoint.finished": "no"}}, "checkpoint"),
    ({"$set": {"source": 5, "lease": "me", "intent": 7}}, "source, lease, intent"),
    ({"$set": {"undo": "x"}}, "undo"),
    ({"$set": {"undo": {"of": 1}}}, "undo"),
    ({"$set": {"last_run": -9}}, "last_run"),
    ({"$set": {"lease": {**LEASE, "expires": "x"}}}, "lease"),
    ({"$set": {"lease": {**LEASE, "expires": NOW, "since": 5}}}, "lease"),
    ({"$set": {"lease": {**LEASE, "expires": NOW, "pid": "x"}}}, "lease"),
    ({"$set": {"lease": {**LEASE, "expires": NOW, "process_started": "x"}}}, "lease"),
]


@pytest.mark.parametrize(("change", "named"), STATES, ids=str)
def test_what_is_missing_in_a_state_or_of_another_type_is_named(database, change, named):
    database["target.state"].update_one({}, change)
    said = named if named.startswith("of format") else f" by something other than dedup: {named}. "
    with pytest.raises(StateMismatch) as caught:
        check_state(database["target.state"].find_one(), "school.target.state")
    assert said in str(caught.value)


ROWS: list[tuple[dict[str, Any], str]] = [
    ({"$unset": {"status": ""}}, "status"),
    ({"$set": {"status": "exploded"}}, "status"),
    ({"$unset": {"query": "", "started": ""}}, "started, query"),
    ({"$set": {"started": "yesterday", "seconds": "x"}}, "started, seconds"),
    ({"$unset": {"counts": ""}}, "counts"),
    ({"$set": {"counts.kept": "x"}}, "counts"),
    ({"$set": {"counts.skipped": -1}}, "counts"),
    ({"$set": {"settings": [1]}}, "settings"),
    ({"$set": {"settings.cleaning": 7}}, "settings"),
    ({"$set": {"machines": [{"name": "vm"}]}}, "machines"),
    ({"$set": {"status": "restored"}}, "pieces, documents, given"),
]


@pytest.mark.parametrize(("change", "named"), ROWS, ids=str)
def test_what_is_missing_in_the_row_of_a_run_or_of_another_type_is_named(database, change, named):
    database["target.runs"].update_one({"_id": 2}, change)
    first, second = database["target.runs"].find().sort("_id", 1)
    check_run(first, "target.runs")
    with pytest.raises(StateMismatch) as caught:
        check_run(second, "school.target.runs")
    said = str(caught.value)
    assert "row 2 of school.target.runs was changed or added" in said
    assert f" by something other than dedup: {named}. " in said


@pytest.mark.parametrize("id_", ["x", -1, 2.5])
def test_a_row_with_another_id_is_named(database, id_):
    database["target.runs"].insert_one({"_id": id_, **RUN})
    with pytest.raises(StateMismatch, match=r" by something other than dedup: _id\. "):
        check_run(database["target.runs"].find_one({"_id": id_}), "target.runs")


@pytest.mark.parametrize("model", [StateFields, RunFields, EntryFields])
def test_a_signal_while_a_model_is_first_built_does_not_change_it(model: type[BaseModel]) -> None:
    """To print a pattern or to ask for a kind of sequence, the library looks for signals."""
    model.model_rebuild()
    built = str(model.__pydantic_core_schema__)
    assert "'pattern'" not in built
    assert "'is-instance'" not in built
