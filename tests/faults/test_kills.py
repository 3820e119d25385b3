"""Killed runs end as one left alone; the long form: test_all.py."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.kills import DOCUMENTS, Kills
from tests.faults.points import Point
from tests.faults.subject import Subject


@pytest.fixture
def kills(any_server: str, tmp_path: Path) -> Iterator[Kills]:
    subject = Subject(any_server, tmp_path, documents=DOCUMENTS, name=f"kills_{tmp_path.name}")
    yield Kills(subject, tmp_path, any_server)
    subject.database.client.close()


@pytest.mark.standalone
def test_runs_killed_at_random_moments_and_inside_a_batch_end_as_one_left_alone(
    kills: Kills,
) -> None:
    for tally in (kills.at_random(2), kills.at_point(Point.INSIDE, 2)):
        assert (tally.hit, tally.good, tally.wrong) == (2, 2, [])


def test_a_run_killed_while_it_saves_its_snapshot_leaves_the_former_one_or_none(
    kills: Kills,
) -> None:
    tally = kills.at_snapshot(2)
    assert (tally.hit, tally.good, tally.wrong) == (2, 2, [])
