"""The lease: what a run does that lost it without knowing."""

from __future__ import annotations

from typing import Any

import pytest
from pymongo.database import Database

from dedup_job.demo import make_corpus
from dedup_job.errors import LeaseLost
from dedup_job.job import Job, run
from dedup_job.mongo import target as module
from dedup_job.mongo.state import State
from tests.running import run_here

Db = Database[dict[str, Any]]


def test_a_run_that_slept_too_long_and_lost_its_lease_says_so(
    any_database: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it sees first is a write out of time; the reason is the lease, so the exit code is 6."""
    any_database.source.insert_many(make_corpus(50, seed=1))
    acquire = State.acquire

    def lose_it_at_once(state: State) -> None:
        acquire(state)
        monkeypatch.setattr(module, "_WRITE_SECONDS", 1e-6)

    def begin_late(job: Job) -> Any:
        fits = job.target.fits

        def taken_over(document: Any) -> bool:
            any_database["target.state"].update_one({"token": 1}, {"$inc": {"token": 1}})
            return fits(document)

        monkeypatch.setattr(job.target, "fits", taken_over)
        return run(job)

    monkeypatch.setattr(State, "acquire", lose_it_at_once)
    monkeypatch.setattr("dedup_job.cli.execute.job.run", begin_late)
    with pytest.raises(LeaseLost, match="took the lease"):
        run_here(any_database)
    assert any_database["target"].count_documents({}) == 0
