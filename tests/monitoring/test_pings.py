"""Pings to a real server, to one that hangs, to one that is not there; the URL stays secret."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from dedup_job.errors import UsageError
from dedup_job.monitoring import pings as module
from dedup_job.monitoring.ending import End
from dedup_job.monitoring.pings import Pings, pings
from dedup_job.runs.run import Cluster
from tests.monitoring.test_metrics import REPORT

SECRET = "5bf66975-d4c7-4bf5-bcc8-b8d8a82ea278"


class Monitor(ThreadingHTTPServer):
    """Remembers what it was sent; answers with `code`."""

    daemon_threads = True

    def __init__(self) -> None:
        self.got: list[tuple[str, str, dict[str, Any]]] = []
        self.code = 200
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def url(self) -> str:
        """The URL that is to be pinged."""
        return f"http://127.0.0.1:{self.server_address[1]}/{SECRET}"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server: Any = self.server
        body = self.rfile.read(int(self.headers["Content-Length"]))
        server.got.append(("POST", self.path, json.loads(body)))
        self.send_response(server.code)
        self.send_header("Location", f"{server.url}/elsewhere")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"OK")

    def do_GET(self) -> None:
        server: Any = self.server
        server.got.append(("GET", self.path, {}))

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def monitor() -> Iterator[Monitor]:
    """Return a server that is at work."""
    with Monitor() as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


def made(url: str, monkeypatch: pytest.MonkeyPatch) -> Pings:
    """Return pings to a URL of the environment."""
    monkeypatch.setenv("DEDUP_PING", url)
    found = pings(None, dry_run=False)
    assert found is not None
    return found


def test_a_monitor_is_told_of_start_and_end(
    monitor: Monitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    ping = made(monitor.url + "/", monkeypatch)
    ping.started()
    ping.ended(End(0, 1.5, REPORT))
    assert [path for _, path, _ in monitor.got] == [f"/{SECRET}/start", f"/{SECRET}/0"]
    body = monitor.got[1][2]
    assert (body["exit_code"], body["status"], body["run"]) == (0, "done", 2)
    assert (body["source"], body["target"]) == ("d.source", "d.target")
    assert body["counts"]["kept"] == 5


def test_a_failed_run_sends_its_exit_code_and_the_name_of_the_error(
    monitor: Monitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(monitor.url, monkeypatch).ended(End(6, 1.5, None, "RunAborted", "_id 7 is 'secret'"))
    ((_, path, body),) = monitor.got
    assert path == f"/{SECRET}/6"
    assert (body["exit_code"], body["status"], body["error"]) == (6, "failed", "RunAborted")
    assert "secret" not in json.dumps(body)


def test_no_text_and_no_id_of_a_document_is_sent(
    monitor: Monitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = Cluster("an id", 2, "words of a document", "an id")
    made(monitor.url, monkeypatch).ended(End(0, 1.5, replace(REPORT, clusters=(cluster,))))
    sent = json.dumps(monitor.got[0][2])
    assert "words of a document" not in sent
    assert "an id" not in sent


def test_a_query_of_the_url_stays_behind_its_path(
    monitor: Monitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(f"{monitor.url}?a=b", monkeypatch).ended(End(0, 1.0, REPORT))
    assert monitor.got[0][1] == f"/{SECRET}/0?a=b"


@pytest.mark.parametrize("code", [302, 404, 500])
def test_an_answer_that_is_an_error_is_a_warning(
    monitor: Monitor, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, code: int
) -> None:
    monitor.code = code
    made(monitor.url, monkeypatch).started()
    assert f"the answer is {code}" in caplog.text
    assert len(monitor.got) == 1
    assert SECRET not in caplog.text


@pytest.mark.parametrize(
    ("host", "why"),
    [
        ("http://127.0.0.1:9", "http://127.0.0.1 failed: Connection refused"),
        ("https://no-such-host.invalid", "https://no-such-host.invalid failed"),
    ],
)
def test_a_monitor_that_is_not_there_is_a_warning(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, host: str, why: str
) -> None:
    made(f"{host}/{SECRET}", monkeypatch).started()
    assert f"the ping to {why}" in caplog.text
    assert SECRET not in caplog.text


@pytest.mark.parametrize("trickles", [False, True])
def test_a_monitor_that_hangs_is_left_behind(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, trickles: bool
) -> None:
    monkeypatch.setattr(module, "MOST_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        if trickles:
            threading.Thread(target=_trickle, args=(silent,), daemon=True).start()
        since = time.monotonic()
        made(f"http://127.0.0.1:{silent.getsockname()[1]}/{SECRET}", monkeypatch).started()
        assert time.monotonic() - since < 30
    assert "failed" in caplog.text
    assert SECRET not in caplog.text


def _trickle(server: socket.socket) -> None:
    connection, _ = server.accept()
    with connection:
        try:
            for byte in b"HTTP/1.0 200 OK\r\nX: " + b"a" * 1000:
                connection.sendall(bytes([byte]))
                time.sleep(0.1)
        except OSError:
            return


@pytest.mark.parametrize(
    "text",
    [
        SECRET,
        f"ftp://host/{SECRET}",
        f"https:///{SECRET}",
        f"https://host:0x/{SECRET}",
        f"https://user:{SECRET}@host/",
        f"https://host/{SECRET}\nhttps://host/{SECRET}",
        f"https://host/{SECRET} x",
        f"https://主机/{SECRET}",
    ],
)
def test_what_is_no_url_is_refused_and_not_repeated(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "ping"
    file.write_text(text)
    monkeypatch.setenv("DEDUP_PING", text)
    for given in (file, None):
        with pytest.raises(UsageError) as e:
            pings(given, dry_run=False)
        assert SECRET not in str(e.value)


def test_a_url_in_place_of_the_file_is_refused_and_not_repeated() -> None:
    with pytest.raises(UsageError, match="name the file") as e:
        pings(Path(f"https://host/{SECRET}"), dry_run=False)
    assert SECRET not in str(e.value)


def test_the_file_goes_before_the_environment_and_a_dry_run_pings_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert pings(None, dry_run=False) is None
    monkeypatch.setenv("DEDUP_PING", f"https://one/{SECRET}")
    (tmp_path / "ping").write_text(f"https://two/{SECRET}\n")
    found = pings(tmp_path / "ping", dry_run=False)
    assert found is not None
    assert found.shown == "https://two"
    assert pings(tmp_path / "ping", dry_run=True) is None
    monkeypatch.setenv("DEDUP_PING", "")
    assert pings(None, dry_run=False) is None
