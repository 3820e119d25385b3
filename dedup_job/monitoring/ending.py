"""How a command that runs ended: what the metrics and the log say of it."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from dedup_job.messages import Message
from dedup_job.runs.run import Run, Status

_COUNTS = ("scanned", "kept", "duplicates", "skipped", "quarantined")
_WORDS = {
    str(Status.DONE): Message("done"),
    str(Status.STOPPED): Message("stopped"),
    str(Status.FAILED): Message("failed"),
}
log = logging.getLogger("dedup")


@dataclass(frozen=True, slots=True)
class End:
    """How a command ended. report: None where the run did not come to one.

    error, message: the name of the error that ended it and what it says, "" without one.
    """

    exit_code: int
    seconds: float
    report: Run | None = None
    error: str = ""
    message: str = ""

    @property
    def status(self) -> str:
        """The outcome of the run; `stopped` where a signal ended it."""
        if self.report is not None:
            return str(self.report.status)
        return str(Status.STOPPED if self.exit_code > 128 else Status.FAILED)

    def log(self) -> None:
        """Log it, with the counts of the report, None where there is none."""
        checkpoint = self.report and self.report.checkpoint
        counts = checkpoint and checkpoint.counts
        values = {
            "exit_code": self.exit_code,
            "status": self.status,
            "seconds": round(self.seconds, 3),
            "run": checkpoint and checkpoint.run,
            **{name: getattr(counts, name, None) for name in _COUNTS},
            "error": self.error or None,
            "message": self.message or None,
        }
        level = logging.ERROR if self.error and self.status == Status.FAILED else logging.INFO
        log.log(
            level,
            "%s",
            _WORDS.get(self.status, self.status),
            extra={"event": "run_ended", "values": values},
        )
