"""A state of another format, and rows that lack fields, are refused where they are read."""

from __future__ import annotations

import pytest

from dedup_job.errors import StateMismatch
from dedup_job.mongo.state.fields import FORMAT, check_run, check_state

STATE = {
    "_id": "state",
    "format": FORMAT,
    **dict.fromkeys(
        ("id", "generation", "source", "settings", "token", "lease", "checkpoint", "intent")
    ),
}
ROW = {
    "_id": 2,
    **dict.fromkeys(
        ("status", "source", "started", "query", "limit", "settings", "counts", "seconds")
    ),
}


def test_what_dedup_wrote_is_taken():
    check_state(STATE, "school.target.state")
    assert check_run(ROW, "school.target.runs") is ROW


@pytest.mark.parametrize("format_", [2, None])
def test_another_format_is_named(format_):
    with pytest.raises(StateMismatch, match=f"school.target.state is of format {format_}"):
        check_state({**STATE, "format": format_}, "school.target.state")


@pytest.mark.parametrize("field", [name for name in STATE if name not in ("_id", "format")])
def test_a_field_that_is_missing_in_a_state_is_named(field):
    state = {name: value for name, value in STATE.items() if name != field}
    with pytest.raises(StateMismatch, match=rf"'state' of school.target.state lacks {field}: "):
        check_state(state, "school.target.state")


@pytest.mark.parametrize("status", ["done", "restored"])
def test_fields_that_are_missing_in_the_row_of_a_run_are_named(status):
    row = {name: value for name, value in ROW.items() if name not in ("query", "started")}
    more = ", pieces, documents, given" if status == "restored" else ""
    with pytest.raises(StateMismatch, match=rf"row 2 of .* lacks started, query{more}: "):
        check_run({**row, "status": status}, "school.target.runs")
