"""Pairs of documents as lists, pages and labels have them: what was decided, and both texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dedup_job.documents import Difference

KEPT, DUPLICATE = "kept", "duplicate"
"""Decisions of a pair."""


class Label(StrEnum):
    """Whether a person would keep only one of two documents."""

    SAME = "same"
    DIFFERENT = "different"
    UNSURE = "unsure"


@dataclass(frozen=True, slots=True)
class Pair:
    """A decided document, and the kept one that it was compared with, where there is one.

    key, of_key: their `_id` fields; id, of: the same as restore and explain read it; written: `_id`
    as a command to be copied has it, whole and unmistakable. All are empty where there is no such
    document, or no such form was asked for. decision: `duplicate`, `kept`, `skipped` and so on, ""
    where it is not known; reason: of a kept document the class that separates the pair.
    similarity: 0 to 1, None where texts were not compared. run: 0 where it is not said. text,
    other: cleaned text of the document and of the kept one, None where it is gone or was not asked
    for. richer: what the kept document lacks. left_out: share of a text that was not compared.
    detail: why it was quarantined. duplicates: of a kept document in a list of groups.
    """

    key: bytes
    of_key: bytes = b""
    decision: str = ""
    reason: str = ""
    similarity: float | None = None
    id: str = ""
    of: str = ""
    written: str = ""
    run: int = 0
    text: str | None = None
    other: str | None = None
    differences: Sequence[Difference] = ()
    richer: Sequence[str] = ()
    left_out: float = 0
    detail: str = ""
    duplicates: int | None = None

    @property
    def keys(self) -> tuple[bytes, bytes]:
        """The keys of both, by which the pair is told from others."""
        return self.of_key, self.key

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
