"""Ctrl-C and SIGTERM end a run after the batch in hand; a second one ends it at once."""

from __future__ import annotations

import signal
import sys
from types import FrameType, TracebackType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StopSignals:
    """Within its block, remembers that a stop was asked for."""

    def __init__(self) -> None:
        self.received: int | None = None
        self._former: dict[int, object] = {}

    def __call__(self) -> bool:
        """Tell whether to stop."""
        return self.received is not None

    def __enter__(self) -> StopSignals:
        for signum in _SIGNALS:
            self._former[signum] = signal.signal(signum, self._remember)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for signum, handler in self._former.items():
            signal.signal(signum, handler)  # type: ignore[arg-type]  # as signal() returned it

    def _remember(self, signum: int, _: FrameType | None) -> None:
        if self.received is not None:
            raise KeyboardInterrupt
        self.received = signum
        sys.stderr.write("\nstopping after the batch in hand; once more to end at once\n")
