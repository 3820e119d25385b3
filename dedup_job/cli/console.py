"""The caller's side of a command: standard streams, the log, stop signals, progress, questions.

A command may be started without some streams (`>&-`), on a full disk, or into a pipe that its
reader has closed. Its work on a collection does not depend on that: a stream drops the text that
it cannot take, and the command reports it at the end.
"""

import errno
import io
import logging
import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from copy import copy
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Self, TextIO, TypeVar

import typer

from dedup_job.messages import DedupError, Interrupted, Message, UsageError, joined, localized
from dedup_job.printing import escaped, plain

if TYPE_CHECKING:
    from dedup_job.report.output import Output
    from dedup_job.runs.run_record import Progress

T = TypeVar("T")
log = logging.getLogger("dedup")


class _Tolerant(io.FileIO):
    """A stream that drops all text after its first error, which it remembers."""

    def __init__(self, handle: int) -> None:
        super().__init__(handle, "w", closefd=False)
        self.failed: OSError | None = None

    def write(self, data: Any) -> int:
        written: int | None = None
        try:
            while self.failed is None and (written := super().write(data)) is None:
                select.select((), (self,), ())  # it may be one that does not wait by itself
        except OSError as e:
            self.failed = e
        return memoryview(data).nbytes if written is None else written


def open_streams() -> None:
    """Open missing standard streams; none of the three raises OSError from now on."""
    for handle in range(3):
        try:
            os.fstat(handle)
        except OSError:  # closed: else the next file or connection would be taken for the stream
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # it gets this free number
    sys.stdin = sys.stdin or os.fdopen(0, closefd=False)
    sys.stdout, sys.stderr = _tolerant(1, sys.stdout), _tolerant(2, sys.stderr)


def _tolerant(handle: int, former: TextIO | None) -> TextIO:
    """Return a stream like the former; a name in Chinese on a terminal in ASCII is no error."""
    return io.TextIOWrapper(
        io.BufferedWriter(_Tolerant(handle)),
        encoding=(former and former.encoding) or "utf-8",
        errors="replace",
        line_buffering=handle == 2 or os.isatty(handle),
    )


def _flushed_output() -> _Tolerant | None:
    sys.stdout.flush()
    raw = getattr(getattr(plain(sys.stdout), "buffer", None), "raw", None)
    return raw if isinstance(raw, _Tolerant) else None


def take_output_error() -> OSError | None:
    """Return the error of standard output, once; None if its reader closed it, as `head` does."""
    raw = _flushed_output()
    if raw is None or raw.failed is None or raw.failed.errno == errno.EPIPE:
        return None
    failed, raw.failed = raw.failed, OSError(errno.EPIPE, "reported already")
    return failed


def is_output_open() -> bool:
    """Return whether standard output still takes text; else a long list may stop early."""
    raw = _flushed_output()
    return raw is None or raw.failed is None


class _OneLine(logging.Formatter):
    """A line with the time, in the user's language; an exception is its name and first line."""

    def format(self, record: logging.LogRecord) -> str:
        record = copy(record)
        record.msg = localized(record.msg)
        if record.exc_info:
            error, words = record.exc_info[1], record.getMessage().rstrip(":")
            record.msg = f"{words}: {type(error).__name__}: {str(error).split(chr(10))[0]}"
            record.args, record.exc_info, record.exc_text = None, None, None
        return super().format(record)


def set_up_logs() -> None:
    """Log to standard error, also errors that end threads; DEDUP_TRACEBACK keeps tracebacks."""
    has_tracebacks = bool(os.environ.get("DEDUP_TRACEBACK"))
    formatter = logging.Formatter if has_tracebacks else _OneLine
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter("%(asctime)s %(message)s", "%Y-%m-%d %H:%M:%S"))
    if not has_tracebacks:
        threading.excepthook = _log_end_of_thread
    logging.basicConfig(handlers=[handler])
    log.setLevel(logging.INFO)


def _log_end_of_thread(ended: threading.ExceptHookArgs) -> None:
    if ended.exc_value is not None and ended.exc_type is not SystemExit:
        name = ended.thread.name if ended.thread is not None else "?"
        message = Message("the thread {name} ended", name=name)
        log.warning(message, exc_info=ended.exc_value)


STOPPING = Message("stopping after the batch in hand; once more to end at once")
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_AGAIN_SECONDS = 0.05


class StopSignals:
    """A block in which a signal to end is remembered.

    Until `finish_batch_first` is called there is nothing to finish, and a signal ends the block at
    once: with Interrupted if `if_ended` is a message, else with KeyboardInterrupt. Python drops
    an exception raised within a finalizer or a callback of native code, and prints a traceback:
    here the signal is sent again soon after instead.
    """

    def __init__(self, if_ended: str = "") -> None:
        self._if_ended = if_ended
        self.received: int | None = None
        self._waits = False
        self._former: dict[int, object] = {}
        self._again: threading.Timer | None = None

    def __call__(self) -> bool:
        """Return whether a signal to end came."""
        return self.received is not None

    def finish_batch_first(self) -> None:
        """Make the first signal from now on wait for the batch in hand."""
        self._waits = True

    def __enter__(self) -> Self:
        for signum in _SIGNALS:
            if signal.getsignal(signum) is not signal.SIG_IGN:  # nohup
                self._former[signum] = signal.signal(signum, self._remember)
        self._hook, sys.unraisablehook = sys.unraisablehook, self._resend_signal
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        sys.unraisablehook = self._hook
        if self._again is not None:
            self._again.cancel()
        for signum, handler in self._former.items():
            signal.signal(signum, handler)  # type: ignore[arg-type]  # as signal() returned it
        if kind is KeyboardInterrupt and self._if_ended:
            raise Interrupted(self._if_ended, self.received or signal.SIGINT) from None

    def _resend_signal(self, dropped: "sys.UnraisableHookArgs") -> None:
        if self.received is None or not issubclass(dropped.exc_type, KeyboardInterrupt):
            self._hook(dropped)
            return
        main = threading.main_thread().ident
        self._again = threading.Timer(_AGAIN_SECONDS, signal.pthread_kill, [main, self.received])
        self._again.daemon = True
        self._again.start()

    def _remember(self, signum: int, _: FrameType | None) -> None:
        again = self.received is not None
        self.received = self.received or signum
        if again or not self._waits:
            raise KeyboardInterrupt(self.received)
        # the terminal may be gone, or this came in the middle of a write to it
        with suppress(OSError, RuntimeError):
            sys.stderr.write(f"\n{localized(STOPPING)}\n")  # below a progress bar


def console() -> "Output":
    """Return standard output as a console that escapes all text."""
    from dedup_job.report.output import Output  # here: rich is slow to load

    return Output(sys.stdout)


@contextmanager
def working(if_ended: str = Message("ended; nothing was written.")) -> "Iterator[Progress]":
    """Show progress within the block; a signal ends it at once, by Interrupted with `if_ended`."""
    from dedup_job.report.progress import shown_progress  # here: it is slow to load

    with StopSignals(if_ended), shown_progress() as progress:
        yield progress


def save(file: Path, text: str, what: str, instead: str = "") -> None:
    """Write a file whole; DedupError names `what` it should hold and advises `instead`."""
    from dedup_job.files import write_whole  # here: --version should not wait

    try:
        write_whole(file, text)
    except OSError as e:
        problem = Message(
            "{what} {file} cannot be written: {why}.", what=what, file=file, why=e.strerror
        )
        raise DedupError(joined([problem, instead]) if instead else problem) from e


def is_interactive() -> bool:
    """Return whether a terminal can show a question and take the answer."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def asking(question: Callable[[T], str], unchanged: str, *, yes: bool) -> Callable[[T], None]:
    """Return a function that confirms a plan, unless `yes`; see `confirm`."""
    return lambda plan: None if yes else confirm(question(plan), unchanged)


def confirm(question: str, unchanged: str, *, default: bool = False) -> None:
    """Ask for a yes; UsageError after a no, which leaves things `unchanged`, or without a terminal.

    default: the answer of an empty line.
    """
    if not is_interactive():
        without = Message("Without a terminal to answer on, give --yes.")
        raise UsageError(joined([question, without]))
    from tqdm import tqdm  # here: only a terminal has a bar

    with tqdm.external_write_mode(file=plain(sys.stderr)):  # hides the bar meanwhile
        agreed = ask_user(partial(_yes_or_no, default=default), question, unchanged)
    if not agreed:
        raise UsageError("not confirmed; {unchanged}.", unchanged=unchanged)


def ask_user(ask: Callable[..., T], question: str, unchanged: str) -> T:
    """Return the answer to a question; Interrupted at Ctrl-C and at the end of the input."""
    try:
        return ask(escaped(localized(question)), err=True)
    except typer.Abort:
        typer.echo(err=True)  # the cursor is behind the question
        ended = Message("ended; {unchanged}.", unchanged=unchanged)
        raise Interrupted(ended, signal.SIGINT) from None


def _yes_or_no(question: str, *, default: bool, err: bool = True) -> bool:
    hint = "[Y/n]" if default else "[y/N]"
    words = {"": default, "y": True, "yes": True, "是": True, "n": False, "no": False, "否": False}
    while True:
        line = typer.prompt(f"{question} {hint}", default="", show_default=False, err=err)
        if (agreed := words.get(line.strip().lower())) is not None:
            return agreed
        typer.echo(localized(Message("Answer y or n.")), err=err)
