"""`dedup lease`: who holds a target's lease, and how it is ended."""

from __future__ import annotations

import signal
from typing import Any

import pytest
from pymongo.database import Database

from dedup_job.demo import make_corpus
from dedup_job.errors import StateMismatch, UsageError
from dedup_job.mongo.maintenance import lease_admin
from tests.running import (
    Forked,
    invoke,
    refusal,
    run_here,
    scanned,
    uri_of,
)
from tests.tampering import hold_lease

Db = Database[dict[str, Any]]


def lease(database: Db, *arguments: str) -> str:
    """Run a command that ends well; return what it prints."""
    return invoke("lease", *arguments, *where(database), DEDUP_URI=uri_of(database)).output


def where(database: Db) -> tuple[str, ...]:
    """Return the options that name the target."""
    return "--target", f"{database.name}.target"


def test_the_holder_is_shown(paused: tuple[Db, Forked]) -> None:
    database, process = paused
    shown = lease(database, "show")
    assert "held" in shown
    assert f"{process.pid}, at work on this machine" in shown
    for word in ("host", "since", "expires", "server's time", "token", "UTC"):
        assert word in shown


def test_a_dead_holder_is_told_from_one_at_work(paused: tuple[Db, Forked]) -> None:
    database, process = paused
    process.kill()
    process.wait()
    shown = lease(database, "show")
    assert f"{process.pid}, dead" in shown
    assert "free: its holder is dead" in shown


def test_a_free_lease_is_free_and_there_is_nothing_to_break(any_database: Db) -> None:
    any_database.source.insert_many(make_corpus(50, seed=2))
    run_here(any_database)
    before = any_database["target.state"].find_one()
    assert lease(any_database, "show").split() == ["lease", "free", "token", "1"]
    assert "nothing to break" in lease(any_database, "break")
    assert any_database["target.state"].find_one() == before


def test_an_overdue_lease_of_another_machine_is_free(any_database: Db) -> None:
    any_database.source.insert_many(make_corpus(50, seed=2))
    run_here(any_database)
    hold_lease(any_database, -0.001, pid=7)
    shown = lease(any_database, "show")
    assert "free: it ended" in shown
    assert "7, on another machine" in shown


def test_the_holder_of_a_broken_lease_writes_nothing_more(paused: tuple[Db, Forked]) -> None:
    database, process = paused
    assert "is free; process" in lease(database, "break", "--yes")
    before = scanned(database, "target")
    process.send_signal(signal.SIGCONT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 6, output
    assert "`dedup lease break` ended it" in output
    assert scanned(database, "target") == before


def test_after_a_break_another_run_goes_on(paused: tuple[Db, Forked]) -> None:
    database, process = paused
    lease(database, "break", "--yes")
    assert run_here(database).checkpoint.counts.scanned == 2000
    process.send_signal(signal.SIGCONT)
    process.communicate(timeout=60)
    assert process.returncode == 6


def test_without_a_terminal_a_break_needs_a_yes(paused: tuple[Db, Forked]) -> None:
    database, process = paused
    error = refusal("lease", "break", *where(database), DEDUP_URI=uri_of(database))
    assert isinstance(error, UsageError)
    assert f"process {process.pid}" in str(error)
    assert "--yes" in str(error)
    assert "held" in lease(database, "show")


def test_a_lease_that_changed_hands_before_the_answer_is_not_broken(
    paused: tuple[Db, Forked], monkeypatch: pytest.MonkeyPatch
) -> None:
    database, _ = paused
    look = lease_admin.lease_of

    def look_long(*arguments: Any) -> Any:
        seen = look(*arguments)
        database["target.state"].update_one({}, {"$inc": {"token": 1}})
        return seen

    monkeypatch.setattr("dedup_job.commands.lease.lease_of", look_long)
    error = refusal("lease", "break", "--yes", *where(database), DEDUP_URI=uri_of(database))
    assert isinstance(error, StateMismatch)
    assert "changed hands" in str(error)
    assert (database["target.state"].find_one() or {})["lease"] is not None


@pytest.mark.parametrize(
    "command",
    [
        "lease show",
        "lease break --yes",
        "status",
        "index",
        "index --rebuild",
        "undo 1",
        "restore 1",
    ],
)
def test_a_target_that_was_never_written_is_refused_and_others_are_named(
    database: Db, command: str
) -> None:
    database.source.insert_one({"text": "x"})
    run_here(database)
    names = ("--target", f"{database.name}.tarjet")
    error = refusal(*command.split(), *names, DEDUP_URI=uri_of(database))
    assert isinstance(error, UsageError)
    assert f"{database.name}.tarjet does not exist: no dedup run ever wrote to it" in str(error)
    assert f"Targets in {database.name}: target." in str(error)
    assert "tarjet.state" not in database.list_collection_names()
