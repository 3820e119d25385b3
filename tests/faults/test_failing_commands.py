"""The short form of the suite's fail points: commits, on one server."""

from __future__ import annotations

import pytest

from tests.faults.failing_commands import SMALL, FailPoint, command_fails, lost_answers
from tests.faults.free_ports import free_ports
from tests.faults.injection import inject
from tests.faults.proxy import proxy
from tests.faults.servers import replica_set as servers_of
from tests.faults.subject import Subject

COMMIT = {"failCommands": ["commitTransaction"], "appName": "dedup"}


@pytest.fixture(scope="module")
def servers():
    with servers_of(free_ports(1)) as running:
        yield running


@pytest.fixture(scope="module")
def subject(servers, tmp_path_factory):
    found = Subject(servers.uri, tmp_path_factory.mktemp("subject"), documents=200)
    with found.database.client:
        yield found


@pytest.mark.parametrize(
    ("name", "in_a_row", "data"),
    [
        ("failCommand", 5, {**COMMIT, "closeConnection": True}),
        ("failCommand", 3, {**COMMIT, "errorCode": 43}),
        ("onPrimaryTransactionalWrite", 2, {"closeConnection": True}),
    ],
)
def test_commits_that_fail_cost_nothing_but_time(subject, servers, name, in_a_row, data):
    point = FailPoint(servers, in_a_row, data, name)
    row = inject(subject, name, 2, point, SMALL)
    assert (row.times, row.good) == (2, 2), row
    assert point.fired == 2 * in_a_row


def test_answers_that_are_lost_cost_nothing_but_time(subject, servers):
    with proxy(free_ports(1)[0], servers.primary.port) as between:
        row = next(lost_answers(subject, between, 0.01))
    assert (row.times, row.good) == (1, 1), row


def test_a_fault_that_does_not_come_does_not_count(subject, servers):
    """A run sends no such command."""
    row = next(command_fails(subject, servers, "mapReduce", SMALL, 0.01))
    assert (row.times, row.good) == (0, 0)
