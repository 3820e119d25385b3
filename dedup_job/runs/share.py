"""A proportion, and how well it is known."""

from __future__ import annotations

import math
from dataclasses import dataclass

_Z = 1.959964  # of the normal distribution, 95 % between -z and z


@dataclass(frozen=True, slots=True)
class Share:
    """A proportion: `part` of `whole`."""

    part: int
    whole: int

    @property
    def rate(self) -> float:
        """The quotient, nan of none."""
        return self.part / self.whole if self.whole else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval: Wilson's score interval (JASA 22, 1927)."""
        if not self.whole:
            return 0.0, 1.0
        n, p = self.whole, self.rate
        middle = (p + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
        reach = _Z / (1 + _Z**2 / n) * math.sqrt(p * (1 - p) / n + _Z**2 / (4 * n**2))
        return max(middle - reach, 0.0), min(middle + reach, 1.0)
