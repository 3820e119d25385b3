"""The short form of the suite's fail points: commits, on one server."""

from __future__ import annotations

import pytest

from scripts.faults.failpoints import SMALL, command_fails, lost_answers, transactional_writes
from scripts.faults.proxy import proxy
from scripts.faults.servers import replica_set as servers_of
from scripts.faults.subject import Subject
from tests.scripts.free_ports import free_ports


@pytest.fixture(scope="module")
def servers():
    with servers_of(free_ports(1)) as running:
        yield running


@pytest.fixture(scope="module")
def subject(servers, tmp_path_factory):
    return Subject(servers.uri, tmp_path_factory.mktemp("subject"), documents=200)


def test_commits_that_fail_cost_nothing_but_time(subject, servers):
    rows = [
        *command_fails(subject, servers, "commitTransaction", SMALL, 0.01),
        *transactional_writes(subject, servers, 0.01),
    ]
    assert len(rows) == 12
    assert [row for row in rows if (row.times, row.good) != (1, 1)] == []


def test_answers_that_are_lost_cost_nothing_but_time(subject, servers):
    with proxy(free_ports(1)[0], servers.primary.port) as between:
        rows = list(lost_answers(subject, between, 0.01))
    assert [row for row in rows if (row.times, row.good) != (1, 1)] == []


def test_a_fault_that_does_not_come_does_not_count(subject, servers):
    """A run sends no such command."""
    row = next(command_fails(subject, servers, "mapReduce", SMALL, 0.01))
    assert (row.times, row.good) == (0, 0)
