"""Closed standard streams, full disks, readers that have seen enough; the log: a line a record."""

import os
import subprocess
import sys
from functools import partial
from threading import Thread

import pytest

from dedup_job.cli import console as streams
from tests.running import (
    Forked,
    assert_each_source_id_is_in_one_place,
    environment_for,
    run_here,
    uri_of,
)

ALL = (0, 1, 2)


def closed(*handles):
    """Close standard streams, as `<&-` and `>&-` do."""
    for handle in handles:
        os.close(handle)


def on_a_full_disk(handle):
    """Replace a standard stream by a file on a full disk."""
    os.dup2(os.open("/dev/full", os.O_WRONLY), handle)


def into_a_closed_pipe(handle):
    """Replace a standard stream by a pipe without a reader."""
    reader, writer = os.pipe()
    os.close(reader)
    os.dup2(writer, handle)


@pytest.fixture
def filled(database):
    database.source.insert_many([{"_id": i, "text": f"第{i // 2}段不同的正文"} for i in range(20)])
    return database


def ended(database, folder, first, *words):
    """Run a command on the target; return its exit code and output."""
    arguments = [*words, "--db", database.name, "--target", "target"]
    process = Forked(arguments, environment_for(uri_of(database)), folder / "said", first)
    return process.wait(60), process.output


FULL = partial(on_a_full_disk, 1)


@pytest.mark.parametrize(
    "first",
    [
        *(partial(closed, handle) for handle in ALL),
        partial(closed, *ALL),
        *(FULL, partial(on_a_full_disk, 2)),
        *(partial(into_a_closed_pipe, handle) for handle in (1, 2)),
    ],
)
def test_a_run_that_cannot_print_ends_as_any_other_also_where_it_is_refused(
    filled, tmp_path, first
):
    code, output = ended(filled, tmp_path, first, "run", "--source", "source")
    assert code == 0, output
    assert "Traceback" not in output
    lost = "the report could not be printed: No space left on device\n"
    assert output.endswith(lost) == (first is FULL)
    assert_each_source_id_is_in_one_place(filled)
    assert filled["target.runs"].distinct("status") == ["done"]
    filled["target"].insert_one({"_id": "of another tool"})
    assert ended(filled, tmp_path, first, "run", "--source", "source")[0] == 6


@pytest.mark.parametrize(
    ("first", "code", "end"),
    [
        (partial(into_a_closed_pipe, 1), 0, ""),
        (partial(closed, 1), 0, ""),
        (FULL, 1, "error: the output could not be written: No space left on device\n"),
    ],
)
def test_a_listing_ends_quietly_with_its_reader_and_with_an_error_on_a_full_disk(
    filled, tmp_path, first, code, end
):
    run_here(filled)
    ended_with, output = ended(filled, tmp_path, first, "list", "--what", "refused")
    assert (ended_with, output.endswith(end), "error" in output) == (code, True, bool(end))


def test_a_reader_that_is_slow_gets_all_of_it():
    """Another program of the shell may have made the pipe or terminal non-blocking."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    output = streams._tolerant(writer, None)
    text = "一行\n" * 50_000
    thread = Thread(target=lambda: (output.write(text), output.flush(), os.close(writer)))
    thread.start()
    with os.fdopen(reader, encoding="utf-8") as stream:
        assert stream.read() == text
    thread.join()


@pytest.mark.parametrize("redirections", ["<&- >&- 2>&-", "<&- >&-", "2>&-"])
def test_a_command_begins_without_the_streams_that_its_shell_closed(redirections):
    text = f"exec {sys.executable} -m dedup_job --version {redirections}"
    result = subprocess.run(
        ["sh", "-c", text], env=environment_for(None), capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stderr) == (0, "")


FAILING = """
from threading import Thread
from pymongo.errors import AutoReconnect
from pymongo.logger import _log_client_error
from dedup_job.cli.console import log, set_up_logs
set_up_logs()
def broken():
    raise RuntimeError("no more\\nof it")
try:
    raise AutoReconnect("gone\\nfor good")
except AutoReconnect:
    _log_client_error()
thread = Thread(target=broken, name="monitor")
thread.start()
thread.join()
log.info("the %s goes on", "run")
"""


@pytest.mark.parametrize("traceback", ["", "1"])
def test_what_fails_in_the_background_is_one_line(traceback):
    lines = subprocess.run(
        [sys.executable, "-c", FAILING],
        env=environment_for(None, DEDUP_TRACEBACK=traceback),
        capture_output=True,
        text=True,
        check=True,
    ).stderr
    assert ("Traceback" in lines) == bool(traceback)
    assert lines.endswith(" the run goes on\n")
    if not traceback:
        first, second, _ = lines.splitlines()
        assert first.endswith("background task encountered an error: AutoReconnect: gone")
        assert second.endswith("the thread monitor ended: RuntimeError: no more")
