"""Ctrl-C, SIGTERM and SIGHUP end a run after the batch in hand; a second one ends it at once."""

from __future__ import annotations

import signal
import sys
import threading
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING

from dedup_job.errors import Interrupted
from dedup_job.messages import Message, localized

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

STOPPING = Message("stopping after the batch in hand; once more to end at once")
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_AGAIN_SECONDS = 0.05


class StopSignals:
    """Within its block, remembers that a stop was asked for.

    Until `wait_for_batch` is called there is nothing to finish, and a signal ends the block at
    once: with Interrupted if there is a message to say, else with KeyboardInterrupt. Python drops
    one that is raised within a finalizer or a callback of native code, and prints a traceback: here
    the signal comes again soon after instead.
    """

    def __init__(self, if_ended: str = "") -> None:
        self._if_ended = if_ended
        self.received: int | None = None
        self._waits = False
        self._former: dict[int, object] = {}
        self._again: threading.Timer | None = None

    def __call__(self) -> bool:
        """Tell whether to stop."""
        return self.received is not None

    def wait_for_batch(self) -> None:
        """Let the first signal from now on wait for the batch in hand."""
        self._waits = True

    def __enter__(self) -> StopSignals:
        for signum in _SIGNALS:
            former = signal.getsignal(signum)
            if former is not signal.SIG_IGN:  # nohup
                self._former[signum] = signal.signal(signum, self._remember)
        self._hook, sys.unraisablehook = sys.unraisablehook, self._come_again
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        sys.unraisablehook = self._hook
        if self._again is not None:
            self._again.cancel()
        for signum, handler in self._former.items():
            signal.signal(signum, handler)  # type: ignore[arg-type]  # as signal() returned it
        if kind is KeyboardInterrupt and self._if_ended:
            raise Interrupted(self._if_ended, self.received or signal.SIGINT) from None

    def _come_again(self, dropped: UnraisableHookArgs) -> None:
        if self.received is None or not issubclass(dropped.exc_type, KeyboardInterrupt):
            self._hook(dropped)
            return
        main = threading.main_thread().ident
        self._again = threading.Timer(_AGAIN_SECONDS, signal.pthread_kill, [main, self.received])
        self._again.daemon = True
        self._again.start()

    def _remember(self, signum: int, _: FrameType | None) -> None:
        again = self.received is not None
        self.received = self.received or signum
        if again or not self._waits:
            raise KeyboardInterrupt(self.received)
        # the terminal may be what is gone, or what this came in the middle of a write to
        with suppress(OSError, RuntimeError):
            sys.stderr.write(f"\n{localized(STOPPING)}\n")  # below a progress bar
