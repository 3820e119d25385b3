"""Runs that compete for one target; the long form: test_all.py."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pymongo import MongoClient

from tests.faults.races import Sleep, Sleeper, inside, short_transactions, together
from tests.faults.subject import Subject


@pytest.fixture
def subject(replica_set: str, tmp_path: Path) -> Iterator[Subject]:
    subject = Subject(replica_set, tmp_path, name=f"races_{tmp_path.name}")
    yield subject
    subject.database.client.close()


def test_of_runs_started_together_one_runs(subject: Subject, tmp_path: Path) -> None:
    row = together(subject, tmp_path, 4)
    assert row.good == row.times == 1, row.detail


def test_a_run_that_slept_through_its_lease_writes_nothing_more(
    subject: Subject, replica_set: str
) -> None:
    sleeper = Sleeper(inside)
    with MongoClient[dict[str, Any]](replica_set) as client, short_transactions([client]):
        Sleep(subject).round([sleeper])
    assert (sleeper.hit, sleeper.good, sleeper.wrong) == (1, 1, [])
