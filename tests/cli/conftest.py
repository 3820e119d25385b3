"""A target that two runs wrote, for each test a fresh one."""

from __future__ import annotations

from typing import Any

import pytest
from pymongo.database import Database

from tests.proving import fill_alike


@pytest.fixture
def made(any_database: Database[dict[str, Any]]) -> Database[dict[str, Any]]:
    """Return a database with a target that two runs wrote."""
    fill_alike(any_database)
    return any_database
