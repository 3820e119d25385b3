"""Documents to be looked at, each with what was decided of it and its text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference between two texts: its class, the words of the kept text and of the other."""

    kind: str
    of: str
    text: str


@dataclass(frozen=True, slots=True)
class Sample:
    """A document and what was decided of it.

    id, of: `_id` of the document and of the kept one, as restore and explain read it; of is ""
    where there is none. reason: of a kept document what keeps it apart from `of`. similarity: 0 to
    1, None where texts were not compared. run: 0 where it is not said. text, other: cleaned text of
    the document and of the kept one, None where it is gone or was not asked for. richer: what the
    kept document lacks. left_out: share of a text that was not compared. detail: why it was
    quarantined. duplicates: of a group. written: `_id` as a command to be copied has it, whole and
    unmistakable; "" where none is made.
    """

    id: str
    decision: str
    reason: str = ""
    of: str = ""
    similarity: float | None = None
    run: int = 0
    text: str | None = None
    other: str | None = None
    differences: Sequence[Difference] = ()
    richer: Sequence[str] = ()
    left_out: float = 0
    detail: str = ""
    duplicates: int | None = None
    written: str = ""

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
            "left_out": self.left_out or None,
            "run": self.run or None,
            "differences": [
                {"class": one.kind, "of": one.of, "text": one.text} for one in self.differences
            ],
            "detail": self.detail or None,
        }
        return {**row, "text": self.text, "other": self.other} if texts else row
