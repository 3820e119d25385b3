"""A target that two runs wrote, or that a run is writing, for each test a fresh one."""

import pytest

from tests.proving import fill_alike
from tests.running import paused_run


@pytest.fixture
def made(any_database):
    """Return a database with a target that two runs wrote."""
    fill_alike(any_database)
    return any_database


@pytest.fixture
def paused(any_database):
    """Return a database and a run that sleeps in the middle of its work."""
    with paused_run(any_database) as process:
        yield any_database, process
