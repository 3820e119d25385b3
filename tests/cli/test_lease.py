"""The lease of a target in `dedup status`, and how it is ended."""

import signal

from dedup_job.messages import StateMismatch
from dedup_job.mongo import state
from tests.proving import names, refused
from tests.running import (
    invoke,
    run_here,
    scanned,
    uri_of,
)


def status(database, *more):
    """Return what `dedup status` prints."""
    result = invoke(*names(database, "status", *more), DEDUP_URI=uri_of(database))
    return " ".join(result.output.split())  # both streams


def test_the_holder_of_a_broken_lease_writes_nothing_more(paused):
    database, process = paused
    assert "is free; process" in status(database, "--break-lease", "--yes")
    before = scanned(database, "target")
    process.send_signal(signal.SIGCONT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 6, output
    assert "`dedup status --break-lease` ended it" in output
    assert scanned(database, "target") == before


def test_after_a_break_another_run_goes_on(paused):
    database, process = paused
    status(database, "--break-lease", "--yes")
    assert run_here(database).checkpoint.counts.scanned == 2000
    process.send_signal(signal.SIGCONT)
    process.communicate(timeout=60)
    assert process.returncode == 6


def test_a_lease_that_changed_hands_before_the_answer_is_not_broken(paused, monkeypatch):
    database, _ = paused
    look = state.lease_of

    def look_long(*arguments):
        seen = look(*arguments)
        database["target.state"].update_one({}, {"$inc": {"token": 1}})
        return seen

    monkeypatch.setattr("dedup_job.commands.maintenance.lease_of", look_long)
    error = refused(database, "status", "--break-lease", "--yes")
    assert isinstance(error, StateMismatch)
    assert "changed hands" in str(error)
    assert database["target.state"].find_one()["lease"] is not None
