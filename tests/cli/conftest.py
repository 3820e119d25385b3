"""A target that two runs wrote, or that a run is writing, for each test a fresh one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pymongo.database import Database

from tests.proving import fill_alike
from tests.running import Forked, paused_run


@pytest.fixture
def made(any_database: Database[dict[str, Any]]) -> Database[dict[str, Any]]:
    """Return a database with a target that two runs wrote."""
    fill_alike(any_database)
    return any_database


@pytest.fixture
def paused(
    any_database: Database[dict[str, Any]],
) -> Iterator[tuple[Database[dict[str, Any]], Forked]]:
    """Return a database and a run that sleeps in the middle of its work."""
    with paused_run(any_database) as process:
        yield any_database, process
