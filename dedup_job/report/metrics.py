"""A file of metrics in the text format of Prometheus, for node_exporter's textfile collector.

The file is written whole or not at all, at the checkpoints of a run and at its end. So an alert
tells a killed run from a slow one. What is labelled is the target, never the run: a series that
ends with its run is no use to an alert.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

from dedup_job.errors import LeaseHeld, UsageError
from dedup_job.files import check_writable, open_regular, write_whole
from dedup_job.messages import Message
from dedup_job.runs.counts import Counts
from dedup_job.runs.progress import Moment
from dedup_job.runs.run import Run, Status

OPTION = "--metrics-file"
WRITE_SECONDS = 5.0  # at least, from one checkpoint that is written to the next
_MOST_BYTES = 1 << 20  # of a former file
_LAST_SUCCESS = "dedup_last_success_timestamp_seconds"
HELP: Mapping[str, str] = {  # by name, in the order of the file
    _LAST_SUCCESS: "When the last successful run ended.",
    "dedup_last_run_timestamp_seconds": "When the last run ended, well or not.",
    "dedup_last_run_duration_seconds": "How long the last run took.",
    "dedup_last_run_exit_code": "Exit code of the last run; 0 and 3 are a finished run.",
    "dedup_last_run_documents": "Documents that the last run decided.",
    "dedup_documents_total": "Documents that all runs decided.",
    "dedup_run_in_progress": "1 while a run is at work, else 0.",
    "dedup_run_updated_timestamp_seconds": "When the run at work last wrote this file.",
    "dedup_run_documents": "Documents that the run at work has decided.",
    "dedup_run_expected_documents": "Documents that the run at work has to decide, about.",
    "dedup_run_resident_memory_bytes": "Memory that the run at work holds.",
    "dedup_run_database_silence_seconds": "How long the database has not answered the run.",
}
_SAMPLE = re.compile(
    r'^(\w+)\{(?:decision="(\w+)",)?target="((?:[^"\\\n]|\\.)*)"\} (\d+(?:\.\d+)?(?:e[+-]?\d+)?)$',
    re.MULTILINE,
)
log = logging.getLogger("dedup")
Values = dict[tuple[str, str], float]  # by name of the metric and decision, "" for one without


@dataclass(frozen=True, slots=True)
class End:
    """How a command ended. report: None where the run did not come to one."""

    exit_code: int
    seconds: float
    report: Run | None = None


class MetricsFile:
    """Keeps the file up to date: displays progress, and learns how the run ends and its report."""

    def __init__(self, file: Path | None) -> None:
        """Take the file, None for none; UsageError where it cannot be written."""
        if file is not None:
            check_writable(OPTION, file)
        self._file = file
        self.report: Run | None = None
        self._target = ""
        self._former: Values = {}  # what the file held before this run
        self._now = Moment()  # of the run, once it has begun
        self._end: End | None = None
        self._failed = False
        self._written = -WRITE_SECONDS

    def named(self, target: str) -> None:
        """Take the target's full name; UsageError where the file tells of another target."""
        self._target, self._former = target, {}
        for name, decision, there, value in _samples(self._file) if self._file else ():
            if there != target:
                raise UsageError(
                    "{option} {file} holds the metrics of the target {other}: name a file of "
                    "its own for {target}, or remove it.",
                    option=OPTION,
                    file=self._file,
                    other=there,
                    target=target,
                )
            if not name.startswith("dedup_run_"):
                self._former[name, decision] = value

    def __call__(self, now: Moment) -> None:
        """Take how far the run is, and write it, but no more often than every few seconds."""
        ended = self._end and self._end.report
        if now.report is None or (ended and ended.number == now.report.number):
            return  # after a run that ended while its process goes on, too
        self._end = None
        if self._target != now.report.about.target:
            self._target, self._former = now.report.about.target, {}
        self._now = now
        if time.monotonic() - self._written >= WRITE_SECONDS:
            self._write()

    def ended(self, end: End) -> None:
        """Write the file for the last time, unless it is that of another run at work."""
        if end.exit_code == LeaseHeld.exit_code or not self._target:
            return
        self._end = end
        self._write()

    def _write(self) -> None:
        self._written = time.monotonic()
        if self._file is None:
            return
        try:
            write_whole(self._file, as_text(self._target, self._values()))
        except OSError as e:
            if not self._failed:
                log.warning(
                    Message(
                        "{option} {file} cannot be written: {why}. The run goes on; what the file "
                        "tells may be old.",
                        option=OPTION,
                        file=self._file,
                        why=e.strerror,
                    )
                )
            self._failed = True

    def _values(self) -> Values:
        now, end, values = self._now, self._end, dict(self._former)
        if now.report is not None:
            values |= _by_decision("dedup_documents_total", now.others + now.counts)
        if now.last_success is not None:
            values[_LAST_SUCCESS, ""] = now.last_success.timestamp()
        if end is not None:
            counts = end.report.checkpoint.counts if end.report else now.counts
            values |= _by_decision("dedup_last_run_documents", counts)
            if end.report is not None and end.report.status == Status.DONE:
                values[_LAST_SUCCESS, ""] = time.time()
            told = {
                "dedup_last_run_timestamp_seconds": time.time(),
                "dedup_last_run_duration_seconds": end.seconds,
                "dedup_last_run_exit_code": end.exit_code,
                "dedup_run_in_progress": 0,
            }
        else:
            told = {
                "dedup_run_in_progress": 1,
                "dedup_run_updated_timestamp_seconds": time.time(),
                "dedup_run_documents": now.counts.scanned,
                "dedup_run_resident_memory_bytes": psutil.Process().memory_info().rss,
                "dedup_run_database_silence_seconds": now.silent or 0,
            }
            if now.total is not None:
                told["dedup_run_expected_documents"] = now.total
        return values | {(name, ""): value for name, value in told.items()}


def _by_decision(name: str, counts: Counts) -> Values:
    return {
        (name, "kept"): counts.kept,
        (name, "duplicate"): counts.duplicates,
        (name, "skipped"): counts.skipped,
        (name, "quarantined"): counts.quarantined,
    }


def as_text(target: str, values: Values) -> str:
    """Return metrics of a target as Prometheus reads them."""
    label = target.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
    lines = list[str]()
    for name, told in HELP.items():
        samples = [(decision, value) for (of, decision), value in values.items() if of == name]
        if samples:
            kind = "counter" if name.endswith("_total") else "gauge"
            lines += [f"# HELP {name} {told}", f"# TYPE {name} {kind}"]
        for decision, value in samples:
            by = f'decision="{decision}",' if decision else ""
            lines.append(f'{name}{{{by}target="{label}"}} {float(value)}')
    return "".join(f"{line}\n" for line in lines)


def _samples(file: Path) -> Iterator[tuple[str, str, str, float]]:
    try:
        with open_regular(file) as stream:
            text = stream.read(_MOST_BYTES).decode()
    except (OSError, ValueError):
        return  # there is none, or it holds something else
    for name, decision, label, value in _SAMPLE.findall(text):
        if name in HELP:
            target = re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], label)
            yield name, decision, target, float(value)
