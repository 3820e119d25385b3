"""Rate and memory of a run over time, in few points."""

from __future__ import annotations

from collections.abc import Sequence

import psutil

LIMIT = 200
_FIRST_INTERVAL = 1.0  # seconds


class Series:
    """Points of a run: seconds since its start, documents decided, resident bytes.

    At most `LIMIT`. When that many are there, every second one goes, and the interval doubles.
    """

    def __init__(self, points: Sequence[Sequence[float]] = ()) -> None:
        """Begin, or go on behind the points of a run that is resumed."""
        self._points = [(p[0], p[1], p[2]) for p in points]
        self._interval = _FIRST_INTERVAL
        last = self._points[-1][0] if self._points else 0.0
        while self._interval * LIMIT < last:
            self._interval *= 2

    @property
    def points(self) -> tuple[tuple[float, float, float], ...]:
        """The points so far."""
        return tuple(self._points)

    def add(self, seconds: float, documents: int, *, last: bool = False) -> None:
        """Add a point if it is time; the last one in any case."""
        before = self._points[-1][0] if self._points else -self._interval
        if not last and seconds - before < self._interval:
            return
        if len(self._points) >= LIMIT:
            self._points = self._points[::2]
            self._interval *= 2
        self._points.append((round(seconds, 3), documents, resident_bytes()))


def resident_bytes() -> int:
    """Return the memory that this process holds."""
    return int(psutil.Process().memory_info().rss)
