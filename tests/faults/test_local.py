"""Disks that are full or read-only, and clocks that are set; the long form: test_all.py.

Nothing is mounted and nothing compiled here.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.faults import local
from tests.faults.clocks import Clocks
from tests.faults.local import Disks
from tests.faults.subject import Subject


@pytest.fixture
def clocks(replica_set: str, tmp_path: Path) -> Iterator[Clocks]:
    servers: Any = SimpleNamespace(uri=replica_set, nodes=[])
    subject = Subject(replica_set, tmp_path, name="faults_clocks")
    yield Clocks(subject, servers, tmp_path, None)
    subject.database.client.close()


@pytest.fixture
def disks(replica_set: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Disks]:
    monkeypatch.setattr(local, "_mount", lambda *_: False)
    subject = Subject(replica_set, tmp_path, documents=500, name="faults_disks")
    yield Disks(subject, tmp_path)
    subject.database.client.close()


def test_a_run_ends_as_documented_where_nothing_can_be_written(disks: Disks) -> None:
    for fault in (disks.full, disks.read_only, disks.report, disks.output):
        row = fault(1)
        assert row.good == row.times == 1, row.detail


def test_the_clock_may_be_set_while_a_run_is_at_work(clocks: Clocks) -> None:
    for row in (clocks.of_job("back", 1), clocks.second_run(1)):
        assert row.good == row.times == 1, row.detail
