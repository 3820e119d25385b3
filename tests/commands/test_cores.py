"""Threads by the cores there are, with some left to a database on the same machine."""

import psutil
import pytest

from dedup_job.commands import session
from dedup_job.commands.session import available_cores, preparing_threads

LOCAL, REMOTE = ["127.0.0.1"], ["db1.example.com", "10.0.0.7"]


@pytest.mark.parametrize(
    ("there", "local", "remote"),
    [(1, 1, 1), (2, 2, 2), (3, 2, 2), (4, 2, 3), (8, 5, 7), (16, 11, 15), (64, 16, 16)],
)
def test_the_other_stages_have_a_core_and_a_local_database_a_quarter_but_two_threads_prepare(
    monkeypatch, there, local, remote
):
    monkeypatch.setattr(session, "available_cores", lambda: there)
    assert preparing_threads(LOCAL) == local
    assert preparing_threads(REMOTE) == remote


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "::1", "/tmp/mongodb-27017.sock"])
def test_these_hosts_are_this_machine(monkeypatch, host):
    monkeypatch.setattr(session, "available_cores", lambda: 8)
    assert preparing_threads([host]) == 5


@pytest.mark.parametrize(
    ("quota", "expected"),
    [("max 100000", 8), ("200000 100000", 2), ("50000 100000", 1), ("1600000 100000", 8), ("", 8)],
)
def test_the_quota_of_a_container_counts(monkeypatch, tmp_path, quota, expected):
    monkeypatch.setattr(psutil, "cpu_count", lambda: 8)
    monkeypatch.setattr(psutil.Process, "cpu_affinity", lambda _: [*range(8)], raising=False)
    monkeypatch.setattr(session, "_CGROUP", tmp_path)
    assert available_cores() == 8
    (tmp_path / "cpu.max").write_text(quota)
    assert available_cores() == expected


def test_the_affinity_of_the_process_counts(monkeypatch, tmp_path):
    monkeypatch.setattr(psutil.Process, "cpu_affinity", lambda _: [0, 3], raising=False)
    monkeypatch.setattr(session, "_CGROUP", tmp_path)
    assert available_cores() == 2
