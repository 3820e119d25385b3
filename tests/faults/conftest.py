"""How often each fault is met, and the servers that meet it.

In the suite a fault that is marked `short` is met once or a few times; `-m faults` brings about
all, as often as the tests say, or --scale times as often.
"""

import pytest
from pymongo import MongoClient

from tests.faults.servers import replica_set
from tests.faults.subject import Subject


@pytest.fixture(scope="session")
def is_long(pytestconfig):
    return "faults" in pytestconfig.getoption("-m")


@pytest.fixture(scope="session")
def times(pytestconfig, is_long):
    """Return how often a fault is met that the long form meets so often; short: else."""
    scale = pytestconfig.getoption("--scale")
    return lambda full, short=1: max(round(full * scale), short) if is_long else short


@pytest.fixture(scope="module")
def three():
    with replica_set(3) as servers:
        yield servers


@pytest.fixture
def short_transactions(replica_set):
    """Let the server end a transaction that stays open after seconds, not after a minute."""
    name = "transactionLifetimeLimitSeconds"
    with MongoClient(replica_set) as client:
        client.admin.command("setParameter", 1, **{name: 3})
        yield
        client.admin.command("setParameter", 1, **{name: 60})


@pytest.fixture
def new_subject(replica_set, tmp_path):
    """Return what makes a subject, by default on the replica set of the session."""
    made = []

    def new(uri=replica_set, **more):
        made.append(Subject(uri, tmp_path, name=f"faults_{tmp_path.name}"[:60], **more))
        return made[-1]

    yield new
    for subject in made:
        subject.end_all()


@pytest.fixture
def subject(any_server, new_subject):
    return new_subject(any_server, documents=900)
