"""Real MongoDB servers for the whole session, and a fresh database for each test."""

import functools
import itertools
import signal
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import settings
from pymongo import MongoClient

from dedup_job.mongod import embedded_server
from tests.faults.points import DATA, TEST_COMMANDS

_WAITING = ("faults/", "test_cluster")
_LONGEST = (
    *("cli/test_restore", "commands/test_snapshot_store", "mongo/test_retry", "cli/test_undo"),
    *("cli/test_check", "fingerprint/test_parity", "decision/test_agreement", "mongo/test_run"),
    *("index/", "mongo/", "cli/", "decision/", "fingerprint/"),
    *("test_promises", "test_packages", "scripts/", "review/"),
)
# To make an index or to drop a database waits for the journal: 20 ms, not the 100 of the default.
_PROMPT = ("--journalCommitInterval", "20")
_QUIET = ("--setParameter", "diagnosticDataCollectionEnabled=false")  # which no test reads
_numbers = itertools.count()


def pytest_addoption(parser):
    """Add options that run more tests."""
    parser.addoption(
        "--scale",
        type=float,
        default=1.0,
        help="Of `-m faults`: 0.1 meets each a tenth as often. Of a living target: more steps.",
    )
    parser.addoption(
        "--thorough",
        action="store_true",
        help="Also what takes minutes, what should be alike on a standalone server, and more "
        "examples of each property.",
    )
    parser.addoption("--fuzz", type=float, help="Seconds for each target of tests/fuzz.")
    parser.addoption("--fuzz-number", type=int, default=1, help="Other numbers, other inputs.")
    parser.addoption("--fuzz-again", help="A file with inputs that failed.")


def pytest_configure(config):
    """Set the number of hypothesis examples, and restore signal handlers that `nohup` ignores."""
    examples = 100 if config.getoption("--thorough") else 40
    settings.register_profile("dedup", deadline=None, max_examples=examples)
    settings.load_profile("dedup")
    usual = {signal.SIGINT: signal.default_int_handler, signal.SIGHUP: signal.SIG_DFL}
    for signum, handler in usual.items():
        if signal.getsignal(signum) is signal.SIG_IGN:  # as `nohup` and `&` of a script leave it
            signal.signal(signum, handler)


def pytest_collection_modifyitems(config, items):
    """Deselect tests of `-m faults` and `--thorough` unless asked for; sort the longest first."""
    asked_for = "faults" in config.getoption("-m")
    thorough = asked_for or config.getoption("--thorough")
    excluded = [
        item
        for item in items
        if (not asked_for and _is_long_fault(item)) or (not thorough and _is_thorough(item))
    ]
    excluded_set = set(excluded)
    items[:] = _in_turns([item for item in items if item not in excluded_set])
    config.hook.pytest_deselected(items=excluded)


def _in_turns(items):
    """Order the files: the longest first, and after each that mostly waits one that computes."""
    files = {}
    for item in items:
        files.setdefault(item.path.as_posix(), []).append(item)
    waiting = sorted(path for path in files if _rank(path, _WAITING) < len(_WAITING))
    computing = sorted(files.keys() - waiting, key=lambda path: (_rank(path, _LONGEST), path))
    turns = itertools.chain.from_iterable(itertools.zip_longest(waiting, computing))
    return [item for path in turns if path is not None for item in files[path]]


def _rank(path, names):
    return min((i for i, name in enumerate(names) if f"/tests/{name}" in path), default=len(names))


def _is_long_fault(item):
    return bool(item.get_closest_marker("faults")) and not item.get_closest_marker("short")


def _is_thorough(item):
    if item.get_closest_marker("thorough") is not None:
        return True
    parameters = getattr(item, "callspec", None)
    return (
        parameters is not None
        and parameters.params.get("any_server") == "standalone"
        and item.get_closest_marker("standalone") is None
    )


@pytest.fixture(scope="session")
def replica_set():
    """Return the URI of a one-node replica set with fail points."""
    yield from _server(*_PROMPT)


@pytest.fixture(scope="session")
def standalone():
    """Return the URI of a server without transactions, with fail points."""
    yield from _server(replica_set=False)


def _server(*options, replica_set=True):
    options = (*TEST_COMMANDS, *_QUIET, *options)
    with (
        TemporaryDirectory(prefix="dedup-mongod-", dir=DATA) as folder,
        embedded_server(Path(folder), replica_set=replica_set, options=options) as uri,
    ):
        yield uri


@pytest.fixture(params=["replica_set", "standalone"])
def any_server(request):
    """Return the URI of each server in turn: the replica set, the standalone."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def database(replica_set):
    """Return an empty database of the replica set."""
    yield from fresh_database(replica_set)


@pytest.fixture
def standalone_database(standalone):
    """Return an empty database of the standalone."""
    yield from fresh_database(standalone)


@pytest.fixture
def any_database(any_server):
    """Return an empty database of each server in turn: the replica set, the standalone."""
    yield from fresh_database(any_server)


@pytest.fixture
def job(database):
    """Return a function that inserts documents as the source of a `Job` and returns it."""
    from tests.running import Job  # here: it loads the whole program

    return functools.partial(Job, database)


def fresh_database(uri):
    """Yield an empty database of a server, and drop it afterwards."""
    with MongoClient(uri) as client:
        database = client[f"test_{next(_numbers)}"]
        yield database
        client.admin.command("killAllSessions", [])  # a killed run's transaction bars the drop
        client.drop_database(database.name)


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch):
    """Keep the developer's own DEDUP_ variables out of the tests."""
    import os

    for name in list(os.environ):
        if name.startswith("DEDUP_") and name != "DEDUP_TRACEBACK":
            monkeypatch.delenv(name)
