"""Progress from the first second: a bar on a terminal, a log line every 30 s elsewhere."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from dedup_job.messages import Message, joined, localized
from dedup_job.printing import escaped, plain
from dedup_job.runs.counts import Counts
from dedup_job.runs.progress import WAITING, Display, Moment, Progress

_LOG_SECONDS = 30.0
log = logging.getLogger("dedup")


class Bar:
    """A tqdm bar on stderr."""

    def __init__(self) -> None:
        from tqdm import tqdm  # here: only a terminal has a bar

        self._before = Moment()
        self._bar = tqdm(
            unit="",
            unit_scale=True,
            dynamic_ncols=True,
            file=plain(sys.stderr),  # it moves the cursor
            smoothing=0.1,
            mininterval=0.2,
            leave=False,  # nothing is worth leaving before documents are counted
            bar_format=_UNCOUNTED,
        )
        self(Moment(Message("connecting")))

    def __call__(self, now: Moment) -> None:
        """Show the work, or how long it waits, and what is counted."""
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
        """Leave the last state on the screen."""
        self._bar.close()


class Log:
    """A log line at each change of stage, and every 30 seconds."""

    def __init__(self) -> None:
        self._before = Moment()
        self._time, self._done = time.monotonic(), 0  # of the last line
        self._waited = -_LOG_SECONDS  # seconds of waiting that the last line told of

    def __call__(self, now: Moment) -> None:
        """Log what changed since the moment before, if it is time."""
        before, self._before = self._before, now
        if now.silent != before.silent:
            self._wait(now.silent)
        elif _begins(now, before):
            self._begin(now)
        elif now.report and not before.report:
            about, run = now.report.about, now.report.checkpoint.run
            names = {"source": about.source, "target": about.target}
            dry = Message("{source} -> {target}", **names)
            _log(Message("run {run}: {source} -> {target}", run=run, **names) if run else dry)
        elif now.silent is not None or now.doing == WAITING:
            return  # of what arrives there is a line for each run
        elif time.monotonic() - self._time >= _LOG_SECONDS:
            self._advance(now)

    def _begin(self, now: Moment) -> None:
        self._time, self._done = time.monotonic(), now.done
        if not now.counted:
            _log(now.doing)
            return
        words = Message("{doing} documents", doing=now.doing)
        if now.total is not None:
            words = Message("{doing} {number:,} documents", doing=now.doing, number=now.total)
        _log(words)

    def _advance(self, now: Moment) -> None:
        at, done = time.monotonic(), now.done
        rate = (done - self._done) / (at - self._time)
        self._time, self._done = at, done
        total = max(now.total, done) if now.total else 0  # it was an estimate
        left = _clock((total - done) / rate) if total and rate else "?"
        line = Message(
            "{doing}: {done:,}, {rate:,.0f} docs/s", doing=now.doing, done=done, rate=rate
        )
        if total:
            line = Message(
                "{doing}: {done:,} of {total:,} ({share:.0%}), {rate:,.0f} docs/s, ETA {left}",
                **line.values,
                total=total,
                share=done / total,
                left=left,
            )
        _log(joined([line, _short(now.counts)], ", ") if now.counted and now.report else line)

    def _wait(self, seconds: int | None) -> None:
        if seconds is None:
            self._waited = -_LOG_SECONDS
            _log(Message("the database answers again"))
        elif seconds - self._waited >= _LOG_SECONDS:
            self._waited = seconds
            _log(_silent(seconds), logging.WARNING)


def _log(words: str, level: int = logging.INFO) -> None:
    log.log(level, words)


def above(warning: str) -> None:
    """Print a warning on stderr, above the bar where there is one."""
    _write(Message("warning: {warning}", warning=warning))


def told(line: str) -> None:
    """Log a line; where there is a bar, print it above."""
    if sys.stderr is None or not sys.stderr.isatty():
        _log(line)
    else:
        _write(line)


def _write(line: str) -> None:
    from tqdm import tqdm  # here: only a terminal has a bar

    tqdm.write(escaped(localized(line)), file=plain(sys.stderr))


@contextmanager
def shown_progress(*others: Display) -> Iterator[Progress]:
    """Show progress within the block: on stderr, in the form that suits it, and to others."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield Progress(Log(), *others)
        return
    bar = Bar()
    try:
        yield Progress(bar, *others)
    finally:
        bar.close()


_UNCOUNTED = "{desc} [{elapsed}]"
_LOADED = "{desc} {n_fmt} [{elapsed}, {rate_fmt}]"
_COUNTED = "{desc} {n_fmt} [{elapsed}]{postfix}, {rate_fmt}"
_OF_A_TOTAL = (
    "{desc} {percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt} [{remaining}]{postfix}, {rate_fmt}"
)


def _form(now: Moment) -> str:
    if now.counted:
        return _OF_A_TOTAL if now.total else _COUNTED
    return _LOADED if now.done else _UNCOUNTED


def _begins(now: Moment, before: Moment) -> bool:
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
