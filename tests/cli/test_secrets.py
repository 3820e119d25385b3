"""A password is nowhere: in no output, no log, no traceback, no stored row, no process list."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from pymongo import MongoClient

from dedup_job.demo import make_corpus
from dedup_job.mongo.embedded import embedded_server
from tests.running import dedup, environment_for

SECRET = "geheim-7a!b"
QUOTED = "geheim-7a%21b"
NAMES = ("--db", "d", "--source", "source", "--target", "target", "--yes")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the URI, without a user, of a server that has one whose password is the secret."""
    folder = tmp_path_factory.mktemp("secret")
    with embedded_server(folder, replica_set=False) as uri, MongoClient[Any](uri) as client:
        client.admin.command("createUser", "someone", pwd=SECRET, roles=["root"])
    options = ("--auth", "--setParameter", "enableTestCommands=1")
    with embedded_server(folder, replica_set=False, options=options) as uri:
        with MongoClient[Any](named(uri)) as client:
            client.d.source.insert_many(make_corpus(300, seed=1))
        yield uri


def named(uri: str, password: str = QUOTED) -> str:
    """Return the URI with user and password."""
    with_user = uri.replace("mongodb://", f"mongodb://someone:{password}@")
    return f"{with_user}&authSource=admin"


@pytest.mark.parametrize("traceback", ["", "1"])
def test_a_run_that_ends_well_shows_and_stores_no_password(
    server: str, tmp_path: Path, traceback: str
) -> None:
    report = tmp_path / "report.json"
    target = f"target{traceback}"
    names = ("--db", "d", "--source", "source", "--target", target, "--yes")
    result = dedup(
        "run", *names, "--report", str(report), uri=named(server), DEDUP_TRACEBACK=traceback
    )
    assert result.returncode == 0, result.stderr
    with MongoClient[Any](named(server)) as client:
        parts = (target, f"{target}.ledger", f"{target}.runs", f"{target}.state")
        stored = [str(row) for part in parts[2:] for row in client.d[part].find()]
        assert client.d[target].count_documents({}) > 0
    for text in (result.stdout, result.stderr, json.dumps(json.loads(report.read_text())), *stored):
        assert "geheim" not in text


@pytest.mark.parametrize("traceback", ["", "1"])
@pytest.mark.parametrize(
    ("change", "arguments", "code"),
    [
        (lambda _: f"mongodb://someone:{QUOTED}@127.0.0.1:9", NAMES, 5),
        (lambda uri: named(uri, "geheim-7a%21b-wrong"), NAMES, 2),
        (named, (*NAMES, "--query", "{"), 2),
        (named, (*NAMES, "--query", '{"a": {"$nope": 1}}'), 2),
        (named, ("--source", "d.nothing", "--target", "d.target"), 2),
        (named, (*NAMES, "--nonsense"), 2),
        (lambda uri: f"{named(uri)}&tls=true", NAMES, 5),
        (lambda uri: f"{named(uri)}&tlsCAFile=/nowhere", NAMES, 2),
        (lambda uri: f"{named(uri)}&authMechanism=NOPE", NAMES, 2),
        (lambda uri: f"{named(uri)}&replicaSet=other", NAMES, 5),
        (lambda uri: named(uri, "geheim-7a!b@x/y"), NAMES, 2),
        (lambda uri: named(uri).replace("mongodb:", "mongo:"), NAMES, 2),
    ],
)
def test_no_failure_shows_the_password(
    server: str, change: Any, arguments: Any, code: int, traceback: str
) -> None:
    result = dedup(
        "run",
        *arguments,
        uri=change(server),
        DEDUP_TRACEBACK=traceback,
        DEDUP_CONNECTION__TIMEOUT="1",
    )
    assert result.returncode == code, result.stderr
    assert "geheim" not in result.stdout + result.stderr


@pytest.mark.parametrize("traceback", ["", "1"])
def test_an_unexpected_error_shows_no_password(server: str, traceback: str) -> None:
    """Whatever breaks deep inside, with the client in its hands."""
    program = (
        "import dedup_job.job as job\n"
        "def broken(j):\n"
        "    raise RuntimeError(f'broken: {j.source._collection.database.client!r}')\n"
        "job.run = broken\n"
        "from dedup_job.cli import main\n"
        "main()\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", program, "run", *NAMES, "--dry-run"],
        env=environment_for(named(server), DEDUP_TRACEBACK=traceback),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 1
    assert "broken" in result.stderr
    assert ("Traceback" in result.stderr) == bool(traceback)
    assert "geheim" not in result.stdout + result.stderr


def test_the_list_of_processes_shows_no_password(server: str, tmp_path: Path) -> None:
    file = tmp_path / "uri"
    file.write_text(named(server))
    with MongoClient[Any](named(server)) as client:
        slow = {"failCommands": ["find"], "blockConnection": True, "blockTimeMS": 500}
        client.admin.command("configureFailPoint", "failCommand", mode="alwaysOn", data=slow)
        process = subprocess.Popen(
            [sys.executable, "-m", "dedup_job", "run", "--uri-file", str(file), *NAMES],
            env=environment_for(None),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            seen, deadline = set[str](), time.monotonic() + 3
            while time.monotonic() < deadline and process.poll() is None:
                with suppress(psutil.Error):  # it just ended
                    seen.update(psutil.Process(process.pid).cmdline())
                time.sleep(0.1)
        finally:
            client.admin.command("configureFailPoint", "failCommand", mode="off")
        output, _ = process.communicate(timeout=60)
    assert process.returncode == 0, output
    assert str(file) in seen
    assert "geheim" not in output + "".join(seen)


def test_the_settings_shown_hide_it(server: str) -> None:
    result = dedup("config", "show", uri=named(server))
    assert "someone:***@" in result.stdout
    assert "geheim" not in result.stdout + result.stderr
