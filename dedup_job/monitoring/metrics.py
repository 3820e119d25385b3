"""A file of metrics in the text format of Prometheus, for node_exporter's textfile collector.

Written whole or not at all, every few seconds while the run is at work and once after it. What is
labelled is the target, never the run: a series that ends with its run is no use to an alert.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dedup_job.errors import UsageError
from dedup_job.files import check_writable, open_regular, write_whole
from dedup_job.monitoring.observer import End, Observer
from dedup_job.report.counts import Counts
from dedup_job.report.run import Report, Status
from dedup_job.report.series import resident_bytes
from dedup_job.report.survey import RunLine

if TYPE_CHECKING:
    from prometheus_client.core import Metric

OPTION = "--metrics-file"
WRITE_SECONDS = 5.0
_MOST_BYTES = 1 << 20  # of a former file
_LAST_SUCCESS = "dedup_last_success_timestamp_seconds"
_DOCUMENTS = "dedup_documents_total"
HELP: Mapping[str, str] = {  # by name, in the order of the file
    _LAST_SUCCESS: "When the last successful run ended.",
    "dedup_last_run_timestamp_seconds": "When the last run ended, well or not.",
    "dedup_last_run_duration_seconds": "How long the last run took.",
    "dedup_last_run_exit_code": "Exit code of the last run; 0 and 3 are a finished run.",
    "dedup_last_run_documents": "Documents that the last run decided.",
    _DOCUMENTS: "Documents that all runs decided.",
    "dedup_run_in_progress": "1 while a run is at work, else 0.",
    "dedup_run_updated_timestamp_seconds": "When the run at work last wrote this file.",
    "dedup_run_start_timestamp_seconds": "When the run at work, or its present part, began.",
    "dedup_run_documents": "Documents that the run at work has decided.",
    "dedup_run_expected_documents": "Documents that the run at work has to decide, about.",
    "dedup_run_resident_memory_bytes": "Memory that the run at work holds.",
    "dedup_run_database_silence_seconds": "How long the database has not answered the run.",
}
_LAST = [name for name in HELP if name.startswith("dedup_last_")]
log = logging.getLogger("dedup")
Values = dict[str, dict[str, float]]  # by name of the metric and by decision, "" for one without


class Metrics(Observer):
    """Keeps the file up to date."""

    def __init__(self, file: Path) -> None:
        """Take the file; UsageError where it cannot be written."""
        check_writable(OPTION, file)
        self._file = file
        self._target = ""
        self._process: int | None = None
        self._values: Values = {}  # of the former file, and of this run
        self._before: Counter[str] = Counter()  # documents of other runs, by decision
        self._counts: Counts | None = None  # of this run, from its row on
        self._failed = False
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._keep_writing, name="metrics", daemon=True)

    def named(self, target: str) -> None:
        """Take the target's full name; UsageError where the file tells of another target."""
        self._target, self._values = target, {}
        for name, there, decision, value in _samples(self._file):
            if there != target:
                raise UsageError(
                    f"{OPTION} {self._file} holds the metrics of the target {there}: name a file "
                    f"of its own for {target}, or remove it."
                )
            if name in (*_LAST, _DOCUMENTS):
                self._values.setdefault(name, {})[decision] = value
        self._before = Counter({d: int(n) for d, n in self._values.pop(_DOCUMENTS, {}).items()})

    def at_work(self, process: int) -> None:
        """Report the memory of this process from now on."""
        self._process = process

    def began(self, report: Report, runs: Sequence[RunLine]) -> None:
        """Take what the other runs did, and begin to write."""
        if self._target != report.about.target:
            self._target, self._values = report.about.target, {}
        own = report.checkpoint.run
        self._before = Counter()
        for line in runs:
            self._before.update({} if line.number == own else by_decision(line.counts))
        done = [r.finished.timestamp() for r in runs if r.status == Status.DONE and r.finished]
        if known := [*done, *self._values.get(_LAST_SUCCESS, {}).values()]:
            self._values[_LAST_SUCCESS] = {"": max(known)}
        self._set("dedup_run_start_timestamp_seconds", time.time())
        self.advance(report.checkpoint.counts.scanned, report.checkpoint.counts)
        self._thread.start()

    def total(self, documents: int | None, doing: str = "deduplicating") -> None:  # noqa: ARG002
        """Take how many documents there are to decide."""
        if documents is not None:
            self._set("dedup_run_expected_documents", documents)

    def advance(self, done: int, counts: Counts | None = None) -> None:
        """Take the counts of this run."""
        self._counts = counts or self._counts
        self._set("dedup_run_documents", done)

    def waiting(self, seconds: int | None) -> None:
        """Take how long the database has been silent."""
        self._set("dedup_run_database_silence_seconds", seconds or 0)

    def ended(self, end: End) -> None:
        """Write the file for the last time, unless it is that of another run at work."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(WRITE_SECONDS)
        if end.held or not self._target or self._thread.is_alive():
            return
        now = time.time()
        if end.is_success:
            self._set(_LAST_SUCCESS, now)
        self._set("dedup_last_run_timestamp_seconds", now)
        self._set("dedup_last_run_duration_seconds", end.seconds)
        self._set("dedup_last_run_exit_code", end.exit_code)
        counts = end.report.checkpoint.counts if end.report else self._counts or Counts()
        self._counts = counts
        self._values["dedup_last_run_documents"] = {**by_decision(counts)}
        for name in [n for n in self._values if n.startswith("dedup_run_")]:
            del self._values[name]
        last = threading.Thread(target=self._write, args=(0,), name="metrics", daemon=True)
        last.start()
        last.join(WRITE_SECONDS)  # a disk that hangs does not keep the command from its end

    def _set(self, name: str, value: float) -> None:
        self._values[name] = {"": value}

    def _keep_writing(self) -> None:
        while True:
            self._set("dedup_run_resident_memory_bytes", resident_bytes(self._process))
            self._set("dedup_run_updated_timestamp_seconds", time.time())
            self._write(1)
            if self._stop.wait(WRITE_SECONDS):
                return

    def _write(self, in_progress: int) -> None:
        """Write the file; warn once where that fails."""
        documents = Counter(self._before)
        documents.update(by_decision(self._counts or Counts()))
        values: Values = {**self._values, _DOCUMENTS: {**documents}}
        values["dedup_run_in_progress"] = {"": in_progress}
        try:
            write_whole(self._file, as_text(self._target, values))
        except OSError as e:
            if not self._failed:
                log.warning(
                    "%s %s cannot be written: %s. The run goes on; what the file tells may be old.",
                    *(OPTION, self._file, e.strerror),
                )
            self._failed = True


def by_decision(counts: Counts) -> dict[str, int]:
    """Return counts by the four decisions."""
    return {
        "kept": counts.kept,
        "duplicate": counts.duplicates,
        "skipped": counts.skipped,
        "quarantined": counts.quarantined,
    }


def as_text(target: str, values: Mapping[str, Mapping[str, float]]) -> str:
    """Return metrics of a target as Prometheus reads them."""
    from prometheus_client import CollectorRegistry, generate_latest  # here: few runs need it

    class Collector:
        """Yields the metrics to the library, which writes them."""

        def collect(self) -> Iterator[Metric]:
            yield from _families(target, values)

    registry = CollectorRegistry()
    registry.register(Collector())
    return generate_latest(registry).decode()


def _families(target: str, values: Mapping[str, Mapping[str, float]]) -> Iterator[Metric]:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    for name, told in HELP.items():
        if name not in values:
            continue
        kind = CounterMetricFamily if name.endswith("_total") else GaugeMetricFamily
        by_one = "" not in values[name]
        family = kind(name, told, labels=["target", *(["decision"] if by_one else [])])
        for decision, value in values[name].items():
            family.add_metric([target, *([decision] if by_one else [])], value)
        yield family


def _samples(file: Path) -> Iterator[tuple[str, str, str, float]]:
    """Yield name, target, decision and value of what a former file holds that can be read."""
    from prometheus_client.parser import text_string_to_metric_families

    try:
        with open_regular(file) as stream:
            text = stream.read(_MOST_BYTES).decode()
        families = list(text_string_to_metric_families(text))
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return  # there is none, or it holds something else
    for sample in (sample for family in families for sample in family.samples):
        if sample.name in HELP and "target" in sample.labels:
            labels = sample.labels
            yield sample.name, labels["target"], labels.get("decision", ""), sample.value
