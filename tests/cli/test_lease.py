"""The lease of a target in `dedup status`, and how it is ended."""

from __future__ import annotations

import signal
from typing import Any

import pytest
from pymongo.database import Database

from dedup_job.demo import make_corpus
from dedup_job.errors import StateMismatch, UsageError
from dedup_job.mongo.maintenance import target_status
from tests.proving import names, refused
from tests.running import (
    Forked,
    invoke,
    refusal,
    run_here,
    scanned,
    uri_of,
)

Db = Database[dict[str, Any]]


def status(database: Db, *more: str) -> str:
    """Return what `dedup status` prints."""
    result = invoke(*names(database, "status", *more), DEDUP_URI=uri_of(database))
    return " ".join(result.output.split())  # both streams


def test_the_holder_is_shown_and_whether_it_is_alive(paused: tuple[Db, Forked]) -> None:
    database, process = paused
    shown = status(database)
    for word in (f"{process.pid} on ", "; alive"):
        assert word in shown
    process.kill()
    process.wait()
    assert "; gone" in status(database)


def test_of_a_free_lease_nothing_is_broken(any_database: Db) -> None:
    any_database.source.insert_many(make_corpus(50, seed=2))
    run_here(any_database)
    before = any_database["target.state"].find_one()
    assert "target was free" in status(any_database, "--break-lease")
    assert any_database["target.state"].find_one() == before


def test_the_holder_of_a_broken_lease_writes_nothing_more(paused: tuple[Db, Forked]) -> None:
    database, process = paused
    assert "is free; process" in status(database, "--break-lease", "--yes")
    before = scanned(database, "target")
    process.send_signal(signal.SIGCONT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 6, output
    assert "`dedup status --break-lease` ended it" in output
    assert scanned(database, "target") == before


def test_after_a_break_another_run_goes_on(paused: tuple[Db, Forked]) -> None:
    database, process = paused
    status(database, "--break-lease", "--yes")
    assert run_here(database).checkpoint.counts.scanned == 2000
    process.send_signal(signal.SIGCONT)
    process.communicate(timeout=60)
    assert process.returncode == 6


def test_without_a_terminal_a_break_needs_a_yes(paused: tuple[Db, Forked]) -> None:
    database, process = paused
    error = refused(database, "status", "--break-lease")
    assert isinstance(error, UsageError)
    assert f"process {process.pid}" in str(error)
    assert "--yes" in str(error)
    assert "; alive" in status(database)


def test_a_lease_that_changed_hands_before_the_answer_is_not_broken(
    paused: tuple[Db, Forked], monkeypatch: pytest.MonkeyPatch
) -> None:
    database, _ = paused
    look = target_status.lease_of

    def look_long(*arguments: Any) -> Any:
        seen = look(*arguments)
        database["target.state"].update_one({}, {"$inc": {"token": 1}})
        return seen

    monkeypatch.setattr("dedup_job.commands.status.lease_of", look_long)
    error = refused(database, "status", "--break-lease", "--yes")
    assert isinstance(error, StateMismatch)
    assert "changed hands" in str(error)
    assert (database["target.state"].find_one() or {})["lease"] is not None


@pytest.mark.parametrize(
    "command",
    ["status", "status --break-lease --yes", "status --rebuild-index", "undo 1", "restore 1"],
)
def test_a_target_that_was_never_written_is_refused_and_others_are_named(
    database: Db, command: str
) -> None:
    database.source.insert_one({"text": "x"})
    run_here(database)
    target = ("--target", f"{database.name}.tarjet")
    error = refusal(*command.split(), *target, DEDUP_URI=uri_of(database))
    assert isinstance(error, UsageError)
    assert f"no run of dedup ever wrote to {database.name}.tarjet." in str(error)
    assert f"Targets in {database.name}: target." in str(error)
    assert "tarjet.state" not in database.list_collection_names()
