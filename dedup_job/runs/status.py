"""The status of a target, and the findings of `dedup check`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from dedup_job.messages import Message, counted
from dedup_job.printing import command_line, on_one_line
from dedup_job.runs.run_record import Run, Status


class RunState(StrEnum):
    """The state of a target."""

    RUNNING = "running"
    HELD = "held"  # by a run that is about to begin or waits, or by `dedup undo` or `restore`
    KILLED = "killed"
    STOPPED = "stopped"
    FAILED = "failed"
    DONE = "done"
    UNDONE = "undone"
    NEVER = "never"  # no run began


_SENTENCES = {
    RunState.RUNNING: Message("run {run} is at work"),
    RunState.HELD: Message(
        "a process holds the lease: a run that is about to begin or waits for documents "
        "(--follow), an undo or a restore"
    ),
    RunState.KILLED: Message(
        "no run is at work; run {run} was cut off, its process is gone: the same command goes on"
    ),
    RunState.STOPPED: Message("no run is at work; run {run} was stopped: the same command goes on"),
    RunState.FAILED: Message(
        "no run is at work; run {run} ended by an error: the same command goes on"
    ),
    RunState.DONE: Message("no run is at work; run {run} is done"),
    RunState.UNDONE: Message("no run is at work; run {run} was taken back"),
    RunState.NEVER: Message("this target has no runs"),
}
_NOT_SEEN = Message(
    "what the source changes or deletes is not seen: a standalone server does not tell"
)
_NO_FILES = Message("no file on this machine; the next run reads the target")
_ALIVE = {True: Message("alive"), False: Message("gone"), None: Message("on another machine")}
_UNITS = (
    (Message("{number} d"), 86400),
    (Message("{number} h"), 3600),
    (Message("{number} min"), 60),
    (Message("{number} s"), 1),
)


@dataclass(frozen=True, slots=True)
class LeaseHolder:
    """The process with the lease. alive: None if it is on another machine."""

    host: str
    pid: int
    since: datetime | None
    expires: datetime | None
    alive: bool | None

    def __str__(self) -> Message:
        return Message(
            "process {pid} on {host}, since {since}",
            pid=self.pid,
            host=on_one_line(self.host),
            since=Message("just now") if self.since is None else _when(self.since),
        )

    def as_json(self) -> dict[str, Any]:
        """Return the holder as JSON values."""
        times = {"since": _iso(self.since), "expires": _iso(self.expires)}
        return {"host": self.host, "pid": self.pid, "alive": self.alive, **times}


@dataclass(frozen=True, slots=True)
class IndexFiles:
    """The index files of a target. why_not: why the next run does not use them, or ""."""

    documents: int
    bytes: int
    why_not: str

    def sentence(self) -> Message:
        """Return a sentence on size and use."""
        about = {"documents": counted(self.documents, "document"), "size": self.bytes / 1e6}
        if self.why_not:
            return Message(
                "{documents}, {size:,.1f} MB; not used by the next run: {why}",
                **about,
                why=self.why_not,
            )
        return Message("{documents}, {size:,.1f} MB; used by the next run", **about)

    def as_json(self) -> dict[str, Any]:
        """Return the files as JSON values."""
        used = {"used": not self.why_not, "why_not": self.why_not or None}
        return {"documents": self.documents, "bytes": self.bytes, **used}


@dataclass(frozen=True, slots=True)
class TargetStatus:
    """The status of a target at a time, `now` by the server's clock.

    line: the current or last run; expected: about how many documents it has to decide; lag: about
    how many documents of the source are undecided, None if they may not be counted. tells_changes:
    whether the server has change streams, as replica sets do. by_hand: number, documents and kind
    of a person's last operation after that run.
    """

    target: str
    source: str
    now: datetime
    state: RunState
    holder: LeaseHolder | None = None
    line: Run | None = None
    expected: int | None = None
    lag: int | None = None
    source_is_empty: bool = False
    tells_changes: bool = True
    by_hand: tuple[int, int, str] | None = None
    last_success: Run | None = None
    last_failure: Run | None = None
    index: IndexFiles | None = None

    @property
    def seconds_left(self) -> float | None:
        """Estimated seconds until the current run ends, None if unknown."""
        if self.state is not RunState.RUNNING or not self.line:
            return None
        left = None if self.expected is None else self.expected - self.line.counts.scanned
        rate = self.line.docs_per_second
        return max(left, 0) / rate if rate and left is not None else None

    def sentence(self) -> Message:
        """Return the state in a sentence."""
        return Message(_SENTENCES[self.state], run=self.line.number if self.line else 0)

    def rows(self) -> Iterator[tuple[str, str]]:
        """Yield name and text of each line of the status."""
        yield Message("state"), self.sentence()
        yield Message("source"), on_one_line(self.source)
        if self.holder:
            values = {"holder": str(self.holder), "alive": _ALIVE[self.holder.alive]}
            yield Message("lease"), Message("{holder}; {alive}", **values)
        if self.line:
            yield Message("run {number}", number=self.line.number), self._progress(self.line)
        if self.by_hand:
            number, documents, kind = self.by_hand
            done = Message(
                "{documents} {kind} by hand; `{undo}` takes that back",
                documents=counted(documents, "document"),
                kind=Message(kind),
                undo=command_line("undo", number, "--target", self.target),
            )
            yield Message("number {number}", number=number), done
        yield Message("new documents"), self._lag()
        if not self.tells_changes:
            yield Message("changes"), _NOT_SEEN
        yield Message("last success"), self._ended(self.last_success)
        yield Message("last failure"), self._ended(self.last_failure)
        yield Message("index"), self.index.sentence() if self.index else _NO_FILES

    def as_json(self) -> dict[str, Any]:
        """Return the status as JSON values."""
        by_hand = zip(("number", "documents", "kind"), self.by_hand or (), strict=False)
        return {
            "target": self.target,
            "source": self.source,
            "time": _iso(self.now),
            "state": str(self.state),
            "sentence": self.sentence(),
            "holder": self.holder and self.holder.as_json(),
            "run": self.line and self._run(self.line),
            "by_hand": dict(by_hand) or None,
            "lag": {"documents": self.lag, "estimated": True},
            "last_success": self.last_success and self._end(self.last_success),
            "last_failure": self.last_failure and self._end(self.last_failure),
            "index": self.index and self.index.as_json(),
        }

    def _run(self, line: Run) -> dict[str, Any]:
        return {
            "number": line.number,
            "started": _iso(line.checkpoint.started),
            "finished": _iso(line.finished),
            "seconds": line.seconds,
            "decided": line.counts.scanned,
            "kept": line.counts.kept,
            "duplicates": line.counts.duplicates,
            "expected": self.expected,
            "docs_per_second": line.docs_per_second,
            "seconds_left": self.seconds_left,
        }

    def _end(self, line: Run) -> dict[str, Any]:
        ago = (self.now - line.finished).total_seconds() if line.finished else None
        return {"run": line.number, "finished": _iso(line.finished), "seconds_ago": ago}

    def _progress(self, line: Run) -> Message:
        about = {"decided": line.counts.scanned, "span": _span(line.seconds)}
        decided = Message("{decided:,} documents decided in {span}", **about)
        if self.expected:
            decided = Message(
                "{decided:,} documents decided of about {expected:,} ({share:.0%}) in {span}",
                **about,
                expected=self.expected,
                share=min(line.counts.scanned / self.expected, 1),
            )
        values = {"kept": line.counts.kept, "duplicates": line.counts.duplicates}
        kept = Message("{kept:,} kept, {duplicates:,} duplicates", **values)
        words = Message("{decided}: {counts}", decided=decided, counts=kept)
        if self.state is not RunState.RUNNING:
            return words
        rate = line.docs_per_second
        words = Message("{progress}; {rate:,.0f} docs/s", progress=words, rate=rate)
        if (left := self.seconds_left) is None:
            return words
        return Message("{progress}; about {left} left", progress=words, left=_span(left))

    def _lag(self) -> Message:
        if self.source_is_empty:
            return Message("none: the source is empty, or it is gone")
        if self.lag is None:
            return Message("not known: the source may not be counted")
        return Message(
            "about {lag:,} that no run decided, estimated from the sizes of collections; what "
            "--query leaves out counts, too",
            lag=self.lag,
        )

    def _ended(self, line: Run | None) -> Message:
        if line is None:
            return Message("none")
        if line.finished is None and line.status == Status.RUNNING:
            return Message("run {run}, which was cut off", run=line.number)
        if line.finished is None:
            return Message("run {run}, at a time not known", run=line.number)
        ago, when = _span((self.now - line.finished).total_seconds()), _when(line.finished)
        return Message("run {run}, {when}, {ago} ago", run=line.number, when=when, ago=ago)


def _span(seconds: float) -> Message:
    left, parts = max(int(seconds), 0), list[Message]()
    for words, size in _UNITS:
        number, left = divmod(left, size)
        if number or parts or size == 1:
            parts.append(Message(words, number=number))
    return Message("{one} {other}", one=parts[0], other=parts[1]) if parts[1:] else parts[0]


def _when(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M:%S} UTC"


def _iso(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat()


class Check(StrEnum):
    """The checks of a target; findings of those in `NOTES` are no errors."""

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
        "Someone changed the row, the document that it holds, or the original: by its texts it is "
        "no such duplicate, its original came later, or it names itself. `{inspect}` shows both "
        "texts; keep it by `{restore}`, or with --requeue let the next run decide it anew."
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


@dataclass(slots=True)
class Finding:
    """The result of one check: rows examined, rows found, and the first of these as text."""

    check: Check
    examined: int = 0
    found: int = 0
    first: list[str] = field(default_factory=list)

    @property
    def is_error(self) -> bool:
        """Whether the target is inconsistent."""
        return self.found > 0 and self.check not in NOTES

    def advice(self, target: str) -> Message:
        """Return advice for a person, with commands for this target."""
        of = ("--target", target)
        return Message(
            _ADVICE[self.check],
            target=target,
            inspect=command_line("inspect", "ID", *of),
            restore=command_line("restore", "ID", *of),
            requeue=command_line("restore", "ID", "--requeue", *of),
        )


class Tally:
    """Collects the findings of all checks while a target is read."""

    def __init__(self, show: Callable[[bytes], str]) -> None:
        self._show = show
        self._all = {check: Finding(check) for check in Check}

    def add(self, check: Check, examined: int, found: Sequence[bytes | str] = ()) -> None:
        """Add n examined rows to a check; found: keys or descriptions of the faulty ones."""
        finding = self._all[check]
        finding.examined += examined
        finding.found += len(found)
        more = found[: _SHOWN - len(finding.first)]
        finding.first += (item if isinstance(item, str) else self._show(item) for item in more)

    def findings(self) -> tuple[Finding, ...]:
        """Return the findings, one for each check."""
        return tuple(self._all.values())


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of `dedup check`. generation: the number of batches in the target then."""

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
        """Return the result as JSON values."""
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
                    "first": finding.first,
                }
                for finding in self.findings
            ],
        }
