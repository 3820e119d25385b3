"""Which documents of a target a person wants to look at."""

from __future__ import annotations

from dataclasses import dataclass

from dedup_job.errors import UsageError
from dedup_job.judgment.classes import CLASSES

DROPPED = ("dropped", "near", "exact")
REFUSED, KEPT, GROUPS = "refused", "kept", "groups"
CHANGED = ("changed", "deleted")
WHAT = (*DROPPED, REFUSED, KEPT, "skipped", "quarantined", GROUPS, *CHANGED)
"""All that can be listed."""
PAIRS = (*DROPPED, REFUSED)
"""What is listed with another document, so that two texts can be compared."""


@dataclass(frozen=True, slots=True)
class ListFilter:
    """Which documents are listed.

    what: one of `WHAT`; of: of pairs, the `_id` of the kept document, as a person writes it; kind:
    of pairs, the class of a difference, or for `refused` also "similarity"; run: only what this run
    decided, or found to have changed.
    """

    what: str
    of: str | None = None
    kind: str | None = None
    run: int | None = None

    def check(self) -> None:
        """Raise UsageError for what does not exist or does not go together."""
        if self.what not in WHAT:
            raise UsageError(f"what is {self.what!r}, expected one of {', '.join(WHAT)}.")
        if self.what not in PAIRS and (self.of is not None or self.kind is not None):
            raise UsageError(
                f"{self.what} are listed without a second text, so neither --of nor --class "
                f"applies; they do to {', '.join(PAIRS)}."
            )
        kinds = [*map(str, CLASSES), *(["similarity"] if self.what == REFUSED else [])]
        if self.kind is not None and self.kind not in kinds:
            raise UsageError(f"--class is {self.kind!r}, expected one of {', '.join(kinds)}.")
