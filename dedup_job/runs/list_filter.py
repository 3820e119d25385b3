"""Which documents of a target a person wants to look at."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from dedup_job.errors import UsageError


class What(StrEnum):
    """What can be listed."""

    DROPPED = "dropped"
    NEAR = "near"
    EXACT = "exact"
    REFUSED = "refused"
    KEPT = "kept"
    SKIPPED = "skipped"
    QUARANTINED = "quarantined"
    GROUPS = "groups"
    CHANGED = "changed"
    DELETED = "deleted"


PAIRS = (What.DROPPED, What.NEAR, What.EXACT, What.REFUSED)
"""What is listed with another document, so that two texts can be compared."""


@dataclass(frozen=True, slots=True)
class ListFilter:
    """Which documents are listed.

    what: a value of `What`; of: of pairs, the `_id` of the kept document, as a person writes it;
    kind: of pairs, the kind of a difference, for `refused` what keeps them apart; run: only what
    this run decided, or found to have changed.
    """

    what: str
    of: str | None = None
    kind: str | None = None
    run: int | None = None

    def check(self) -> None:
        """Raise UsageError for what does not exist or does not go together."""
        from dedup_job.judgment import (
            NAMES,
            DifferenceKind,  # here: --help should not wait for it
        )

        if self.what not in [*What]:
            raise UsageError(
                "what is {what!r}, expected one of {known}.", what=self.what, known=", ".join(What)
            )
        if self.what not in PAIRS and (self.of is not None or self.kind is not None):
            raise UsageError(
                "{what} are listed without a second text, so neither --of nor --class applies; "
                "they do to {pairs}.",
                what=self.what,
                pairs=", ".join(PAIRS),
            )
        kinds = NAMES.kinds if self.what == What.REFUSED else [*DifferenceKind]
        if self.kind is not None and self.kind not in kinds:
            raise UsageError(
                "--class is {kind!r}, expected one of {kinds}.",
                kind=self.kind,
                kinds=", ".join(kinds),
            )
