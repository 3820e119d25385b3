"""A stop that Python drops, since it came within a finalizer, comes again."""

import ctypes
import io
import os
import signal
import time

import pytest

from dedup_job.cli import main
from dedup_job.cli.console import STOPPING, StopSignals
from dedup_job.messages import Interrupted


class Closing:
    """Something that is struck by a signal while it closes itself."""

    def __init__(self, number):
        self._number = number

    def __del__(self):
        os.kill(os.getpid(), self._number)
        time.sleep(0)  # here Python sees it


def in_a_finalizer(number):
    Closing(number)


def in_a_callback(number):
    ctypes.CFUNCTYPE(None)(lambda: os.kill(os.getpid(), number))()


@pytest.mark.parametrize("strike", [in_a_finalizer, in_a_callback])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_python_drops_ends_the_block_without_a_traceback(strike, number, capfd):
    def struck():
        with StopSignals("ended."):
            strike(number)
            time.sleep(10)

    with pytest.raises(Interrupted, match="ended") as ended:
        struck()
    assert ended.value.code == 128 + number
    assert capfd.readouterr() == ("", "")


def test_the_second_signal_comes_again_as_well(capfd):
    with StopSignals() as stop:
        stop.finish_batch_first()
        in_a_finalizer(signal.SIGTERM)
        assert stop()
        in_a_finalizer(signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            time.sleep(10)
    assert capfd.readouterr() == ("", f"\n{STOPPING}\n")


def test_other_errors_that_python_drops_are_told_as_before(monkeypatch):
    reported = []
    monkeypatch.setattr("sys.unraisablehook", lambda dropped: reported.append(dropped.exc_type))

    class Broken:
        def __del__(self):
            raise ValueError

    with StopSignals("ended."):
        Broken()
    assert reported == [ValueError]


class Struck(io.RawIOBase):
    """A file whose `write` sends this process a signal."""

    def writable(self):
        return True

    def write(self, data):
        os.kill(os.getpid(), signal.SIGTERM)
        return len(bytes(data))


def test_a_signal_in_the_middle_of_a_line_waits_for_the_batch(monkeypatch):
    stream = io.TextIOWrapper(io.BufferedWriter(Struck()), line_buffering=True)
    monkeypatch.setattr("sys.stderr", stream)
    with StopSignals() as stop:
        stop.finish_batch_first()
        stream.write("42 documents\n")
        assert stop.received == signal.SIGTERM


def test_a_stop_that_nothing_else_tells_of_has_the_code_of_its_signal(monkeypatch):
    def struck():
        with StopSignals():
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(10)

    codes = []
    monkeypatch.setattr("os._exit", codes.append)
    monkeypatch.setattr("dedup_job.cli._run", struck)
    main()
    assert codes[0] == 128 + signal.SIGTERM
