"""Servers with fail points."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pymongo.database import Database

from dedup_job.mongo.embedded import embedded_server
from tests.conftest import fresh_database
from tests.mongo.faults import TEST_COMMANDS


@pytest.fixture(scope="session")
def faulty_replica_set() -> Iterator[str]:
    """Return the URI of a replica set with fail points."""
    with embedded_server(options=TEST_COMMANDS) as uri:
        yield uri


@pytest.fixture(scope="session")
def faulty_standalone() -> Iterator[str]:
    """Return the URI of a standalone server with fail points."""
    with embedded_server(replica_set=False, options=TEST_COMMANDS) as uri:
        yield uri


@pytest.fixture(params=["faulty_replica_set", "faulty_standalone"])
def faulty(request: pytest.FixtureRequest) -> Iterator[Database[dict[str, Any]]]:
    """Return an empty database of either."""
    yield from fresh_database(request.getfixturevalue(request.param))


@pytest.fixture
def faulty_set(faulty_replica_set: str) -> Iterator[Database[dict[str, Any]]]:
    """Return an empty database of the replica set."""
    yield from fresh_database(faulty_replica_set)
