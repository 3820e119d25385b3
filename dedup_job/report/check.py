"""What `dedup check` looks for, what it found, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from dedup_job.printing import command_line


class Check(StrEnum):
    """What is looked for; those of `TOLD` are no error."""

    UNDECIDED = "not decided yet"
    GONE = "no longer in the source"
    CHANGED = "differs from the source"
    SINCE = "changed in the source since"
    RULES = "kept by today's rules"
    HALF = "half written, to be taken back"
    TWICE = "in target and ledger"
    ITSELF = "duplicate of itself"
    ORIGINAL = "original not in the target"
    ORDER = "dropped before its original"
    APART = "not what its row says"
    VALUES = "values not those of the texts"
    FOREIGN = "not as dedup writes it"
    FINGERPRINT = "fingerprint not that of the text"
    COUNTS = "counts of a run differ"
    RECORDS = "run or state not as written"
    SNAPSHOT = "snapshot not of the target"


TOLD = (Check.UNDECIDED, Check.GONE, Check.CHANGED, Check.SINCE, Check.RULES, Check.HALF)
_SHOWN = 5

_ADVICE: Mapping[Check, str] = {
    Check.UNDECIDED: "The next `dedup run` decides them. They are new, or --query, --limit or a "
    "stop left them out, or someone removed them from target or ledger; then counts differ, too.",
    Check.GONE: "Nothing to do if you removed them from the source on purpose. Else something "
    "added them to the target or the ledger; then counts differ, too.",
    Check.CHANGED: "Their text or another field changed in the source after they were decided, or "
    "in the target: nothing recorded tells which. What was decided stays decided.",
    Check.SINCE: "These source documents changed after they were decided. That is no fault, and "
    "what was decided stays decided. To have a dropped one decided anew: `{again}`, then `dedup "
    "run`; a kept one stays in the target as it was.",
    Check.RULES: "Another version of the rules dropped them. To keep one: `{restore}`.",
    Check.HALF: "A process was killed at work. The next `dedup run` takes that back first, and "
    "then decides these anew.",
    Check.TWICE: "No run does that: find what wrote there. `{inspect}` shows such a document; "
    "remove the document or the row that is wrong.",
    Check.ITSELF: "The row names its own document, by an _id with another type of number. That "
    "document is in the target, so the row is wrong: `dedup undo` the run that wrote it, or remove "
    "the row from {target}.ledger.",
    Check.ORDER: "The first of two wins, and here the later one is kept. Something else exchanged "
    "them. `{inspect}` shows both; restore what you want: `{restore}`.",
    Check.APART: "They are no duplicates of the original that is named: the row was changed, the "
    "document that it holds, or the original. `{inspect}` shows both texts; keep it by "
    "`{restore}`, or with --again let the next run decide it anew.",
    Check.VALUES: "What is named is not that of the two texts: someone changed it. `{inspect}` "
    "shows what it is.",
    Check.ORIGINAL: "Someone removed their originals from the target. Put them back, or "
    "`{restore}` for each row shown.",
    Check.FOREIGN: "Something else wrote to target or ledger: what is named in brackets is "
    "missing, added, or of another type. Remove these from there, or put them back as they were; "
    "the next run decides what was removed.",
    Check.FINGERPRINT: "Text or fingerprint was changed in the target. Put both back, or remove "
    "the document from the target: the next run decides it anew.",
    Check.COUNTS: "Someone added to or removed from target, ledger or runs by hand; what was "
    "removed, the next run decides anew. `dedup undo` and `dedup restore` keep the counts right.",
    Check.RECORDS: "Someone changed {target}.runs or {target}.state: what is named in brackets is "
    "missing, added, of another type, or contradicts the rest. Put it back as it was, from a "
    "backup. Documents and ledger are as the other lines say.",
    Check.SNAPSHOT: "The index on disk is not that of the target, so runs may miss duplicates. "
    "Nothing is lost: `{rebuild}` makes it anew.",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """How many were examined, how many of them found, and the first of these as shown."""

    check: Check
    examined: int
    found: int
    first: tuple[str, ...]

    @property
    def is_error(self) -> bool:
        """Tell whether the target is not as it should be."""
        return self.found > 0 and self.check not in TOLD

    def advice(self, target: str) -> str:
        """Say what to do about it."""
        of = ("--target", target)
        return _ADVICE[self.check].format(
            target=target,
            inspect=command_line("inspect", "ID", *of),
            restore=command_line("restore", "ID", *of),
            again=command_line("restore", "ID", "--again", *of),
            rebuild=command_line("index", "rebuild", *of),
        )


class Tally:
    """Counts what is examined and found while a target is walked."""

    def __init__(self, show: Callable[[bytes], str]) -> None:
        """Take what makes an id of a key readable."""
        self._show = show
        # the snapshot lies outside the database
        inside: list[Check] = [check for check in Check if check is not Check.SNAPSHOT]
        self._all = {check: Finding(check, 0, 0, ()) for check in inside}

    def add(self, check: Check, examined: int, found: Sequence[bytes | str] = ()) -> None:
        """Count so many more; found: keys, or a text that tells where."""
        had = self._all[check]
        more = found[: _SHOWN - len(had.first)]
        first = *had.first, *(item if isinstance(item, str) else self._show(item) for item in more)
        counts = had.examined + examined, had.found + len(found)
        self._all[check] = Finding(check, *counts, first)

    def findings(self) -> tuple[Finding, ...]:
        """Return what was found, check by check."""
        return tuple(self._all.values())


@dataclass(frozen=True, slots=True)
class Checked:
    """The outcome of a check. generation: the batch that the target was at."""

    source: str
    target: str
    generation: int
    findings: tuple[Finding, ...]
    seconds: float

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that are errors."""
        return tuple(finding for finding in self.findings if finding.is_error)

    def as_json(self) -> dict[str, Any]:
        """Return the outcome as values that JSON can hold."""
        return {
            "source": self.source,
            "target": self.target,
            "generation": self.generation,
            "checked": datetime.now(UTC).isoformat(),
            "seconds": self.seconds,
            "good": not self.errors,
            "checks": [
                {
                    "check": str(finding.check),
                    "examined": finding.examined,
                    "found": finding.found,
                    "error": finding.is_error,
                    "first": list(finding.first),
                }
                for finding in self.findings
            ],
        }
