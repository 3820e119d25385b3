"""The log: one line for each record, also where a thread of the driver fails."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.running import environment_for

PROGRAM = """
from threading import Thread
from pymongo.errors import AutoReconnect
from pymongo.logger import _log_client_error
from dedup_job.cli.streams import log, set_up_logs
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
def test_what_fails_in_the_background_is_one_line(traceback: str) -> None:
    told = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environment_for(None, DEDUP_TRACEBACK=traceback),
        capture_output=True,
        text=True,
        check=True,
    ).stderr
    assert ("Traceback" in told) == bool(traceback)
    assert told.endswith(" the run goes on\n")
    if not traceback:
        first, second, _ = told.splitlines()
        assert first.endswith("background task encountered an error: AutoReconnect: gone")
        assert second.endswith("the thread monitor ended: RuntimeError: no more")
