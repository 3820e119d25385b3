"""How often each fault is met, and the servers that meet it.

In the suite a fault that is marked `short` is met once or a few times; `-m faults` brings about
all, as often as the tests say, or --scale times as often.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.faults.servers import ReplicaSet, replica_set
from tests.faults.subject import Subject

Times = Callable[..., int]


@pytest.fixture(scope="session")
def is_long(pytestconfig: pytest.Config) -> bool:
    """Tell whether all faults are asked for."""
    return "faults" in pytestconfig.getoption("-m")


@pytest.fixture(scope="session")
def times(pytestconfig: pytest.Config, is_long: bool) -> Times:
    """Return how often a fault is met that the long form meets so often; short: else."""
    scale = pytestconfig.getoption("--scale")
    return lambda full, short=1: max(round(full * scale), short) if is_long else short


@pytest.fixture(scope="module")
def three() -> Iterator[ReplicaSet]:
    """Return a replica set of three servers that may be killed."""
    with replica_set(3) as servers:
        yield servers


@pytest.fixture
def subject(any_server: str, tmp_path: Path) -> Iterator[Subject]:
    """Return a subject on a server of the session: a replica set, then a standalone."""
    subject = Subject(any_server, tmp_path, documents=900, name=f"faults_{tmp_path.name}"[:60])
    yield subject
    subject.end_all()
