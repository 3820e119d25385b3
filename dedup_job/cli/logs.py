"""The log of a command, on standard error: one line for each record, whatever went wrong."""

from __future__ import annotations

import logging
import os
import sys
import threading
from copy import copy

log = logging.getLogger("dedup")


class OneLine(logging.Formatter):
    """A line with the time; of an exception its name and its first line instead of a traceback."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        if record.exc_info:
            kind, error, _ = record.exc_info
            record = copy(record)
            name = kind.__name__ if kind is not None else "error"
            record.msg = (
                f"{record.getMessage().rstrip(':')}: {name}: {str(error).split(chr(10))[0]}"
            )
            record.args, record.exc_info, record.exc_text = None, None, None
        return super().format(record)


def set_up_logs() -> None:
    """Log to standard error, also what ends a thread of the driver.

    With DEDUP_TRACEBACK exceptions keep their tracebacks.
    """
    form, date = "%(asctime)s %(message)s", "%Y-%m-%d %H:%M:%S"
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter(form, date))
    if not os.environ.get("DEDUP_TRACEBACK"):
        handler.setFormatter(OneLine(form, date))
        threading.excepthook = _log_end_of_thread
    logging.basicConfig(handlers=[handler])
    log.setLevel(logging.INFO)


def _log_end_of_thread(ended: threading.ExceptHookArgs) -> None:
    if ended.exc_value is not None and ended.exc_type is not SystemExit:
        name = ended.thread.name if ended.thread is not None else "?"
        log.warning("the thread %s ended", name, exc_info=ended.exc_value)
