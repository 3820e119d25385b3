"""Numbers counted by size, so that parts of a run add up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

_EXACT, _BINS = 32, 10


@dataclass(frozen=True, slots=True)
class Histogram:
    """Numbers from 0 on: exact up to 31, then the greatest number of a class of an eighth more.

    total: their sum; most: the largest; classes: how many there are, by the class's number.
    """

    total: int = 0
    most: int = 0
    classes: Mapping[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, numbers: Iterable[int]) -> Histogram:
        """Count numbers."""
        counted = Counter(numbers)
        classes: Counter[int] = Counter()
        for number, count in counted.items():
            classes[_class_of(number)] += count
        total = sum(number * count for number, count in counted.items())
        return cls(total, max(counted, default=0), dict(classes))

    def __add__(self, other: Histogram) -> Histogram:
        classes = dict(Counter(self.classes) + Counter(other.classes))
        return Histogram(self.total + other.total, max(self.most, other.most), classes)

    @property
    def count(self) -> int:
        """How many numbers there are."""
        return sum(self.classes.values())

    @property
    def mean(self) -> float:
        """Their mean, 0 where there are none."""
        return self.total / self.count if self.classes else 0.0

    def percentile(self, percent: float) -> int:
        """Return the number that so many per cent do not exceed; beyond 31 rounded up."""
        left = self.count * percent / 100
        for number, count in sorted(self.classes.items()):
            left -= count
            if left <= 0:
                return min(number, self.most)
        return self.most

    def as_dict(self) -> dict[str, Any]:
        """Return plain values; names are text, as BSON and JSON want it."""
        classes = {str(number): count for number, count in sorted(self.classes.items())}
        return {
            "mean": self.mean,
            "p99": self.percentile(99),
            "max": self.most,
            "total": self.total,
            "classes": classes,
        }

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Histogram:
        """Read back what `as_dict` wrote."""
        classes = {int(number): count for number, count in row.get("classes", {}).items()}
        return cls(row.get("total", 0), row.get("max", 0), classes)


@dataclass(frozen=True, slots=True)
class Tenths:
    """Numbers from 0 to 1, counted in ten bins of 0.1; 1 is in the last one."""

    counts: tuple[int, ...] = (0,) * _BINS

    @classmethod
    def of(cls, numbers: Iterable[float]) -> Tenths:
        """Count numbers."""
        counted = Counter(min(int(number * _BINS), _BINS - 1) for number in numbers)
        return cls(tuple(counted[i] for i in range(_BINS)))

    def __add__(self, other: Tenths) -> Tenths:
        return Tenths(tuple(a + b for a, b in zip(self.counts, other.counts, strict=True)))


def _class_of(number: int) -> int:
    if number < _EXACT:
        return number
    step = 1 << (number.bit_length() - 4)  # an eighth of its power of two
    return (number // step + 1) * step - 1
