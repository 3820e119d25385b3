"""The short form of the rollbacks: what w:1 acknowledged is lost, what a run reported is not."""

from __future__ import annotations

from tests.faults.free_ports import free_ports
from tests.faults.rollback import control, patient
from tests.faults.servers import replica_set as three_servers
from tests.faults.subject import Subject


def test_a_rollback_loses_what_w1_acknowledged_and_nothing_that_a_run_reported(tmp_path):
    with three_servers(free_ports(3)) as servers:
        subject = Subject(servers.uri, tmp_path, documents=1000, serverSelectionTimeoutMS=2000)
        with subject.database.client:
            rows = [patient(subject, servers, 1), control(servers, 1)]
    assert [(row.times, row.good) for row in rows] == [(1, 1)] * 2, rows
