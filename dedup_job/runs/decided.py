"""Decided documents as lists, pages and labels have them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dedup_job.documents import Pair
from dedup_job.errors import UsageError
from dedup_job.printing import id_as_json

KEPT, DUPLICATE = "kept", "duplicate"
"""Decisions of a document that was compared with another."""
NO_PAIR = Pair(b"", 0, None, ())
"""Of a document that was compared with no other."""


@dataclass(frozen=True, slots=True)
class DecidedDocument:
    """A document, what was decided of it, and the kept one that it was compared with, if any.

    key: its `_id` field; id, of: the `_id` of the document and of the kept one, as restore and
    inspect read it; written: `_id` as a command to be copied has it, whole and unmistakable; ""
    where no form was asked for. decision: `duplicate`, `kept`, `skipped` and so on, "" where it is
    not known; reason: of a kept document what keeps the pair apart. run: 0 where it is not
    said. text, other: cleaned text of the document and of the kept one, None where it is gone or
    was not asked for. detail: why it was quarantined; kept_by: of a document that was kept, the
    rule by which the other one is the better copy. duplicates: of a kept document in a list of
    groups. against: the other collection that `of` lies in, "" where it is the target.
    """

    key: bytes
    decision: str = ""
    reason: str = ""
    pair: Pair = NO_PAIR
    id: str = ""
    of: str = ""
    written: str = ""
    run: int = 0
    text: str | None = None
    other: str | None = None
    detail: str = ""
    kept_by: str = ""
    duplicates: int | None = None
    against: str = ""

    @property
    def keys(self) -> tuple[bytes, bytes]:
        """The keys of both, by which the pair is told from others."""
        return self.pair.of, self.key

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
            "against": self.against or None,
            "similarity": self.pair.similarity,
            "probability": self.pair.probability,
            "left_out": self.pair.left_out or None,
            "run": self.run or None,
            "differences": [one.as_row() for one in self.pair.differences],
            "detail": self.detail or None,
            **({"kept_by": self.kept_by} if self.kept_by else {}),
        }
        return {**row, "text": self.text, "other": self.other} if texts else row

    def as_json(self, *, texts: bool) -> dict[str, Any]:
        """Return the same with ids as JSON has them."""
        row = self.as_row(texts=texts)
        return row | {name: id_as_json(row[name]) for name in ("id", "of") if row.get(name)}


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
        from dedup_job.judgment import DifferenceKind  # here: --help should not wait for it
        from dedup_job.judgment.judge import NAMES

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
