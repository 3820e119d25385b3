"""Lists of documents: what is wanted of them, and a line of each as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dedup_job.errors import UsageError
from dedup_job.judgment.classes import CLASSES
from dedup_job.report.survey import Difference

DROPPED = ("dropped", "near", "exact")
REFUSED, KEPT, GROUPS = "refused", "kept", "groups"
WHAT = (*DROPPED, REFUSED, KEPT, "skipped", "quarantined", GROUPS)
"""All that can be listed."""
PAIRS = (*DROPPED, REFUSED)
"""What is listed with another document, so that two texts can be compared."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which documents are listed.

    what: one of `WHAT`; of: of pairs, the `_id` of the kept document, as a person writes it; kind:
    of pairs, the class of a difference, or for `refused` also "similarity"; run: only what this run
    decided.
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


@dataclass(frozen=True, slots=True)
class Listed:
    """A document and what was decided of it.

    id, of: `_id` of the document and of the kept one, as restore and explain read it; of is ""
    where there is none. reason: of a kept document what keeps it apart from `of`. similarity: None
    where texts were not compared. run: 0 where it is not said. detail: why it was quarantined.
    duplicates: of a group. text, other: cleaned text of the document and of the kept one, None
    where it is gone or was not asked for.
    """

    id: str
    decision: str
    reason: str = ""
    of: str = ""
    similarity: float | None = None
    run: int = 0
    differences: Sequence[Difference] = ()
    detail: str = ""
    duplicates: int | None = None
    text: str | None = None
    other: str | None = None

    def as_row(self, *, texts: bool) -> dict[str, Any]:
        """Return values for JSON, by the names of the columns; what there is not is None."""
        if self.duplicates is not None:
            row: dict[str, Any] = {"id": self.id, "duplicates": self.duplicates}
            return {**row, "text": self.text} if texts else row
        row = {
            "id": self.id,
            "decision": self.decision,
            "reason": self.reason or None,
            "of": self.of or None,
            "similarity": self.similarity,
            "run": self.run or None,
            "differences": [
                {"class": one.kind, "of": one.of, "text": one.text} for one in self.differences
            ],
            "detail": self.detail or None,
        }
        return {**row, "text": self.text, "other": self.other} if texts else row
