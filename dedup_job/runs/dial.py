"""What decision.confidence means: of labelled pairs, how many are joined at it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dedup_job.runs.share import Share

if TYPE_CHECKING:
    from dedup_job.judgment.model import Model


@dataclass(frozen=True, slots=True)
class Dial:
    """How many labelled pairs are joined at a confidence, of those that the model had not seen.

    different: of the pairs labelled different; same: of those labelled the same.
    """

    confidence: float
    different: Share
    same: Share

    @classmethod
    def of(cls, model: Model, confidence: float) -> Dial | None:
        """Return what a model's file says; None where it says nothing."""
        different, same = (Share(*each) for each in model.joined(confidence))
        return cls(confidence, different, same) if different.whole and same.whole else None

    def figures(self) -> dict[str, str]:
        """Return the figures of a sentence: of 1,000 different pairs, of 100 same ones."""
        values = {"confidence": f"{self.confidence:g}"}
        for name, share, of in (("different", self.different, 1000), ("same", self.same, 100)):
            rates = zip(("", "_low", "_high"), (share.rate, *share.interval), strict=True)
            values |= {f"{name}{which}": f"{of * rate:.0f}" for which, rate in rates}
        return values
