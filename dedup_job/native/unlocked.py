"""Native functions as Python calls them, and how long each thread was at work in them.

They run without the interpreter's lock; what else a thread does, it does under the lock.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from dedup_job import _core


class _Spent(threading.local):
    seconds = 0.0


_SPENT = _Spent()


def unlocked_time() -> float:
    """Return the processor seconds that this thread has spent in native functions.

    To be set against `time.thread_time()`. Reading arguments counts as well, a microsecond or two a
    call; what the system does for this thread without the lock does not.
    """
    return _SPENT.seconds + _core.unlocked_time()


class Unlocked:
    """A compiled function, timed where it is called from Python; native code calls it as it is."""

    def __init__(self, dispatcher: Any) -> None:
        self._dispatcher = dispatcher
        self.__doc__, self.__wrapped__ = dispatcher.__doc__, dispatcher.py_func

    @property
    def _numba_type_(self) -> Any:
        """What numba takes this for where native code names it."""
        return self._dispatcher._numba_type_

    def __call__(self, *arguments: Any) -> Any:
        """Call the compiled function."""
        call: Callable[..., Any] = self._dispatcher
        began = time.thread_time()
        try:
            return call(*arguments)
        finally:
            _SPENT.seconds += time.thread_time() - began
