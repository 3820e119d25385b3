"""What `dedup check` looks for, what it found, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from dedup_job.messages import Message
from dedup_job.printing import command_line


class Check(StrEnum):
    """What is looked for; those of `NOTES` are no error."""

    UNDECIDED = Message("not decided yet")
    GONE = Message("no longer in the source")
    CHANGED = Message("differs from the source")
    HALF = Message("incomplete batch; the next run rolls it back")
    TWICE = Message("in target and ledger")
    ORIGINAL = Message("original not in the target")
    ELSEWHERE = Message("original in another collection gone or changed")
    CONTRADICTS = Message("ledger row contradicts the texts")
    DIFFERS = Message("row differs")
    RECORDS = Message("runs or state contradict the data")


NOTES = (Check.UNDECIDED, Check.GONE, Check.CHANGED, Check.HALF, Check.ELSEWHERE)
_SHOWN = 5

_ADVICE: Mapping[Check, Message] = {
    Check.UNDECIDED: Message(
        "The next `dedup run` decides them. They are new, or --query, --limit or a stop left "
        "them out, or someone removed them from target or ledger; then counts differ, too."
    ),
    Check.GONE: Message(
        "Nothing to do if you removed them from the source on purpose. Else something added "
        "them to the target or the ledger; then counts differ, too."
    ),
    Check.CHANGED: Message(
        "They changed in the source after they were decided, or in the target where nothing "
        "recorded tells. What was decided stays decided. To have a dropped one decided anew: "
        "`{requeue}`, then `dedup run`; a kept one stays in the target as it was."
    ),
    Check.HALF: Message(
        "A process was killed at work. The next `dedup run` rolls this back first, and then "
        "decides these documents anew."
    ),
    Check.TWICE: Message(
        "No run does that: find what wrote there. `{inspect}` shows such a document; remove "
        "the document or the row that is wrong."
    ),
    Check.ORIGINAL: Message(
        "Someone removed their originals from the target. Put them back, or `{restore}` for "
        "each row shown."
    ),
    Check.ELSEWHERE: Message(
        "They were dropped for documents of a collection of --against, which are no longer as"
        " they were. What was decided stays decided. To have one decided anew: `{requeue}`, "
        "then `dedup run`."
    ),
    Check.CONTRADICTS: Message(
        "Someone changed the row, the document that it holds, or the original: by its texts "
        "it is no such duplicate, its original came later, or it names itself. `{inspect}` "
        "shows both texts; keep it by `{restore}`, or with --requeue let the next run decide "
        "it anew."
    ),
    Check.DIFFERS: Message(
        "Someone changed the row, or the text that it was made of. Put it back as it is expected, "
        "or remove it: the next run decides the document again. `{inspect}` shows it."
    ),
    Check.RECORDS: Message(
        "Someone added to or removed from target or ledger by hand, or changed {target}.runs "
        "or {target}.state. What was removed, the next run decides anew; put a changed record"
        " back from a backup. `dedup undo` and `dedup restore` keep the counts right."
    ),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """How many were examined, how many of them found, and the first of these as shown."""

    check: Check
    examined: int = 0
    found: int = 0
    first: tuple[str, ...] = ()

    @property
    def is_error(self) -> bool:
        """Tell whether the target is not as it should be."""
        return self.found > 0 and self.check not in NOTES

    def advice(self, target: str) -> Message:
        """Say what to do about it."""
        of = ("--target", target)
        return Message(
            _ADVICE[self.check],
            target=target,
            inspect=command_line("inspect", "ID", *of),
            restore=command_line("restore", "ID", *of),
            requeue=command_line("restore", "ID", "--requeue", *of),
        )


class Tally:
    """Counts what is examined and found while a target is walked."""

    def __init__(self, show: Callable[[bytes], str]) -> None:
        self._show = show
        self._all = {check: Finding(check) for check in Check}

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
