"""The table that the suite prints: fault, how often, what became of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One fault. good: times that ended as they should; detail: what else is worth knowing."""

    fault: str
    times: int
    good: int
    detail: str = ""


def times(full: int, scale: float) -> int:
    """Return how often a fault is brought about at this scale, once at least."""
    return max(round(full * scale), 1)
