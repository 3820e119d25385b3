"""Displays of a run's progress: a bar, log lines every 30 s, a file of metrics.

The file has Prometheus' text format, for node_exporter's textfile collector. It is replaced at
checkpoints and at the end, so an alert can distinguish a killed run from a slow one. Its label is
the target, not the run: an alert needs a series that outlives a run.
"""

import logging
import re
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from dedup_job.files import check_writable, open_regular, write_whole
from dedup_job.messages import LeaseHeld, Message, UsageError, joined, localized
from dedup_job.printing import escaped, plain
from dedup_job.runs.decided import Counts
from dedup_job.runs.run_record import WAITING, Display, Progress, ProgressSnapshot, Run, Status

_LOG_SECONDS = 30.0
log = logging.getLogger("dedup")


class Bar:
    """A display of progress: a tqdm bar on stderr."""

    def __init__(self) -> None:
        from tqdm import tqdm  # here: only a terminal has a bar

        self._before = ProgressSnapshot()
        self._bar = tqdm(
            unit="",
            unit_scale=True,
            dynamic_ncols=True,
            file=plain(sys.stderr),  # its cursor movements are not to be escaped
            smoothing=0.1,
            mininterval=0.2,
            leave=False,  # until documents are counted
            bar_format=_UNCOUNTED,
        )
        self(ProgressSnapshot(Message("connecting")))

    def __call__(self, now: ProgressSnapshot) -> None:
        """Show the stage, or how long the database is silent, and the counts."""
        begins, self._before = _begins(now, self._before), now
        if now.counted and begins:
            self._bar.reset(total=now.total)
            self._bar.leave = True
        self._bar.bar_format = _form(now)
        doing = localized(now.doing if now.silent is None else _silent(now.silent))
        if escaped(doing) != self._bar.desc:
            self._bar.set_description_str(escaped(doing))
        if now.counted and now.report:
            self._bar.set_postfix_str(localized(_short(now.counts)), refresh=False)
        if now.counted or now.done:
            self._bar.update(now.done - self._bar.n)

    def close(self) -> None:
        """End the bar; it stays on the screen if documents were counted."""
        self._bar.close()


class Log:
    """A display of progress: a log line for each stage, and every 30 seconds."""

    def __init__(self) -> None:
        self._before = ProgressSnapshot()
        self._time, self._done = time.monotonic(), 0  # of the last line
        self._waited = -_LOG_SECONDS  # seconds of silence in the last line

    def __call__(self, now: ProgressSnapshot) -> None:
        """Log a new stage, the silence of the database, or the counts every 30 seconds."""
        before, self._before = self._before, now
        if now.silent != before.silent:
            self._log_silence(now.silent)
        elif _begins(now, before):
            self._begin(now)
        elif now.report and not before.report:
            about, run = now.report.about, now.report.checkpoint.run
            names = {"source": about.source, "target": about.target}
            dry = Message("{source} -> {target}", **names)
            log.info(Message("run {run}: {source} -> {target}", run=run, **names) if run else dry)
        elif now.silent is not None or now.doing == WAITING:
            return  # a run that follows has one line at its end
        elif time.monotonic() - self._time >= _LOG_SECONDS:
            self._advance(now)

    def _begin(self, now: ProgressSnapshot) -> None:
        self._time, self._done = time.monotonic(), now.done
        if not now.counted:
            log.info(now.doing)
            return
        words = Message("{doing} documents", doing=now.doing)
        if now.total is not None:
            words = Message("{doing} {number:,} documents", doing=now.doing, number=now.total)
        log.info(words)

    def _advance(self, now: ProgressSnapshot) -> None:
        seconds, count = time.monotonic(), now.done
        rate = (count - self._done) / (seconds - self._time)
        self._time, self._done = seconds, count
        total = max(now.total, count) if now.total else 0  # it was an estimate
        rest = _clock((total - count) / rate) if total and rate else "?"
        line = Message(
            "{doing}: {done:,}, {rate:,.0f} docs/s", doing=now.doing, done=count, rate=rate
        )
        if total:
            line = Message(
                "{doing}: {done:,} of {total:,} ({share:.0%}), {rate:,.0f} docs/s, ETA {left}",
                **line.values,
                total=total,
                share=count / total,
                left=rest,
            )
        log.info(joined([line, _short(now.counts)], ", ") if now.counted and now.report else line)

    def _log_silence(self, seconds: int | None) -> None:
        if seconds is None:
            self._waited = -_LOG_SECONDS
            log.info(Message("the database answers again"))
        elif seconds - self._waited >= _LOG_SECONDS:
            self._waited = seconds
            log.warning(_silent(seconds))


def print_warning(warning: str) -> None:
    """Print a warning on stderr, above the bar if there is one."""
    _write(Message("warning: {warning}", warning=warning))


def print_line(line: str) -> None:
    """Print a line above the bar on a terminal; log it otherwise."""
    if sys.stderr is None or not sys.stderr.isatty():
        log.info(line)
    else:
        _write(line)


def _write(line: str) -> None:
    from tqdm import tqdm  # here: only a terminal has a bar

    tqdm.write(escaped(localized(line)), file=plain(sys.stderr))


@contextmanager
def shown_progress(*displays: Display) -> Iterator[Progress]:
    """Yield progress that is shown on stderr, as a bar on a terminal, else as log lines.

    displays: more displays of the same progress.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield Progress(Log(), *displays)
        return
    with closing(Bar()) as bar:
        yield Progress(bar, *displays)


_UNCOUNTED = "{desc} [{elapsed}]"
_LOADED = "{desc} {n_fmt} [{elapsed}, {rate_fmt}]"
_COUNTED = "{desc} {n_fmt} [{elapsed}]{postfix}, {rate_fmt}"
_OF_A_TOTAL = (
    "{desc} {percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt} [{remaining}]{postfix}, {rate_fmt}"
)


def _form(now: ProgressSnapshot) -> str:
    if now.counted:
        return _OF_A_TOTAL if now.total else _COUNTED
    return _LOADED if now.done else _UNCOUNTED


def _begins(now: ProgressSnapshot, before: ProgressSnapshot) -> bool:
    return (now.doing, now.counted, now.total) != (before.doing, before.counted, before.total)


def _short(counts: Counts) -> Message:
    number = {"kept": counts.kept, "duplicates": counts.duplicates}
    text = Message("{kept:,} kept, {duplicates:,} duplicates", **number)
    if not counts.quarantined:
        return text
    return Message("{text}, {number:,} quarantined", text=text, number=counts.quarantined)


def _silent(seconds: int) -> Message:
    return Message("waiting for the database, {seconds:,} s", seconds=seconds)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(max(int(seconds), 0), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"


OPTION = "--metrics-file"
WRITE_SECONDS = 5.0  # the least time between two writes
_MAX_BYTES = 1 << 20  # of a former file
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
Values = dict[tuple[str, str], float]  # by metric and decision, "" if it has none


class MetricsFile:
    """A display of progress that writes the file of metrics; `write_end` writes it a last time."""

    def __init__(self, file: Path | None) -> None:
        """Take the file, None for no metrics; UsageError if it cannot be written."""
        if file is not None:
            check_writable(OPTION, file)
        self._file = file
        self.report: Run | None = None
        self._target = ""
        self._former: Values = {}  # from the file of an earlier run
        self._now = ProgressSnapshot()  # of the run, once it has begun
        self._end: tuple[int, float, Run | None] | None = None
        self._failed = False
        self._written = -WRITE_SECONDS

    def set_target(self, target: str) -> None:
        """Take the target's full name; UsageError if the file has metrics of another target."""
        self._target, self._former = target, {}
        for name, decision, former, value in _samples(self._file) if self._file else ():
            if former != target:
                raise UsageError(
                    "{option} {file} holds the metrics of the target {other}: name a file of "
                    "its own for {target}, or remove it.",
                    option=OPTION,
                    file=self._file,
                    other=former,
                    target=target,
                )
            if not name.startswith("dedup_run_"):
                self._former[name, decision] = value

    def __call__(self, now: ProgressSnapshot) -> None:
        """Write the metrics of a run at most every `WRITE_SECONDS`."""
        ended = self._end and self._end[-1]
        if now.report is None or (ended and ended.number == now.report.number):
            return  # before a run, or between the runs of a process that follows
        self._end = None
        if self._target != now.report.about.target:
            self._target, self._former = now.report.about.target, {}
        self._now = now
        if time.monotonic() - self._written >= WRITE_SECONDS:
            self._write()

    def write_end(self, code: int, seconds: float, report: Run | None = None) -> None:
        """Write the metrics of an ended run, unless another run of the target holds the lease.

        code: the exit code; seconds: of the run; report: None if the run failed.
        """
        if code != LeaseHeld.code and self._target:
            self._end = code, seconds, report
            self._write()

    def _write(self) -> None:
        self._written = time.monotonic()
        if self._file is None:
            return
        try:
            write_whole(self._file, as_text(self._target, self._values()))
        except OSError as e:
            warning = Message(
                "{option} {file} cannot be written: {why}. The run goes on; what the file tells "
                "may be old.",
                option=OPTION,
                file=self._file,
                why=e.strerror,
            )
            if not self._failed:
                log.warning(warning)
            self._failed = True

    def _values(self) -> Values:
        import psutil  # here: few runs keep metrics

        now, values = self._now, dict(self._former)
        if now.report is not None:
            values |= _by_decision("dedup_documents_total", now.other_runs + now.counts)
        if now.last_success is not None:
            values[_LAST_SUCCESS, ""] = now.last_success.timestamp()
        if self._end is not None:
            code, seconds, report = self._end
            counts = report.checkpoint.counts if report else now.counts
            values |= _by_decision("dedup_last_run_documents", counts)
            if report is not None and report.status == Status.DONE:
                values[_LAST_SUCCESS, ""] = time.time()
            own = {
                "dedup_last_run_timestamp_seconds": time.time(),
                "dedup_last_run_duration_seconds": seconds,
                "dedup_last_run_exit_code": code,
                "dedup_run_in_progress": 0,
            }
        else:
            own = {
                "dedup_run_in_progress": 1,
                "dedup_run_updated_timestamp_seconds": time.time(),
                "dedup_run_documents": now.counts.scanned,
                "dedup_run_resident_memory_bytes": psutil.Process().memory_info().rss,
                "dedup_run_database_silence_seconds": now.silent or 0,
            }
            if now.total is not None:
                own["dedup_run_expected_documents"] = now.total
        return values | {(name, ""): value for name, value in own.items()}


def _by_decision(name: str, counts: Counts) -> Values:
    numbers = counts.kept, counts.duplicates, counts.skipped, counts.quarantined
    names = ("kept", "duplicate", "skipped", "quarantined")
    return {(name, one): number for one, number in zip(names, numbers, strict=True)}


def as_text(target: str, values: Values) -> str:
    """Return the metrics of a target in Prometheus' text format."""
    label = target.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
    lines = list[str]()
    for name, help_text in HELP.items():
        samples = [(decision, v) for (metric, decision), v in values.items() if metric == name]
        if samples:
            kind = "counter" if name.endswith("_total") else "gauge"
            lines += [f"# HELP {name} {help_text}", f"# TYPE {name} {kind}"]
        for decision, value in samples:
            by = f'decision="{decision}",' if decision else ""
            lines.append(f'{name}{{{by}target="{label}"}} {float(value)}')
    return "".join(f"{line}\n" for line in lines)


def _samples(file: Path) -> Iterator[tuple[str, str, str, float]]:
    try:
        with open_regular(file) as stream:
            text = stream.read(_MAX_BYTES).decode()
    except (OSError, ValueError):
        return  # no file, or no metrics
    for name, decision, label, value in _SAMPLE.findall(text):
        if name in HELP:
            target = re.sub(r"\\(.)", lambda c: "\n" if c[1] == "n" else c[1], label)
            yield name, decision, target, float(value)
