"""Real MongoDB servers for the whole session, and a fresh database for each test."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from pymongo import MongoClient
from pymongo.database import Database

from dedup_job.mongo.embedded import embedded_server
from tests.faults.fail_points import TEST_COMMANDS

_LONGEST = (
    *("faults/", "decision/", "fingerprint/", "mongo/", "cli/"),
    *("test_packages", "scripts/", "demo/", "review/"),
)
_numbers = itertools.count()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what makes the tests longer."""
    parser.addoption(
        "--scale", type=float, default=1.0, help="Of `-m faults`: 0.1 brings about a tenth of them."
    )
    parser.addoption(
        "--thorough",
        action="store_true",
        help="Also what takes minutes, and commands on a standalone server where its kind should "
        "not matter.",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what only `-m faults` or `--thorough` asks for; the longest come first."""
    asked_for = "faults" in config.getoption("-m")
    thorough = config.getoption("--thorough")
    left_out = [
        item
        for item in items
        if (not asked_for and item.get_closest_marker("faults") is not None)
        or (not thorough and _is_thorough(item))
    ]
    left = set(left_out)
    items[:] = sorted((item for item in items if item not in left), key=_turn)
    config.hook.pytest_deselected(items=left_out)


def _turn(item: pytest.Item) -> int:
    """Return when a test's turn comes: with several processes, the last ones should be short."""
    places = [i for i, name in enumerate(_LONGEST) if f"/tests/{name}" in item.path.as_posix()]
    return min(places, default=len(_LONGEST))


def _is_thorough(item: pytest.Item) -> bool:
    if item.get_closest_marker("thorough") is not None:
        return True
    parameters = getattr(item, "callspec", None)
    return (
        parameters is not None
        and parameters.params.get("any_server") == "standalone"
        and item.path.parent.name in ("cli", "commands")
        and item.get_closest_marker("standalone") is None
    )


@pytest.fixture(scope="session")
def replica_set() -> Iterator[str]:
    """Return the URI of a one-node replica set with fail points."""
    with embedded_server(options=TEST_COMMANDS) as uri:
        yield uri


@pytest.fixture(scope="session")
def standalone() -> Iterator[str]:
    """Return the URI of a server without transactions, with fail points."""
    with embedded_server(replica_set=False, options=TEST_COMMANDS) as uri:
        yield uri


@pytest.fixture(params=["replica_set", "standalone"])
def any_server(request: pytest.FixtureRequest) -> str:
    """Return the URI of a replica set, then of a standalone."""
    uri: str = request.getfixturevalue(request.param)
    return uri


@pytest.fixture
def database(replica_set: str) -> Iterator[Database[dict[str, Any]]]:
    """Return an empty database of the replica set."""
    yield from fresh_database(replica_set)


@pytest.fixture
def any_database(any_server: str) -> Iterator[Database[dict[str, Any]]]:
    """Return an empty database of the replica set, then of the standalone."""
    yield from fresh_database(any_server)


def fresh_database(uri: str) -> Iterator[Database[dict[str, Any]]]:
    """Yield an empty database and drop it afterwards."""
    with MongoClient[dict[str, Any]](uri) as client:
        database = client[f"test_{next(_numbers)}"]
        yield database
        client.admin.command("killAllSessions", [])  # a killed run's transaction bars the drop
        client.drop_database(database.name)


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the developer's own DEDUP_ variables out of the tests."""
    import os

    for name in list(os.environ):
        if name.startswith("DEDUP_") and name != "DEDUP_TRACEBACK":
            monkeypatch.delenv(name)
