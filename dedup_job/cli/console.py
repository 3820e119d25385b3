"""Where a command prints, made safe once for all, and where it asks."""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from dedup_job.cli.process import StopSignals
from dedup_job.files import write_whole
from dedup_job.messages import DedupError, Interrupted, Message, UsageError, joined, localized
from dedup_job.printing import escaped, plain
from dedup_job.report.output import Output
from dedup_job.report.progress import shown_progress
from dedup_job.runs.run_record import Progress

T = TypeVar("T")
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace files that exist.")]


def console() -> Output:
    """Return standard output."""
    return Output(sys.stdout)


@contextmanager
def working(if_ended: str = Message("ended; nothing was written.")) -> Iterator[Progress]:
    """Show progress within the block, which a signal ends at once; Interrupted then says this."""
    with StopSignals(if_ended), shown_progress() as progress:
        yield progress


def save(file: Path, text: str, what: str, instead: str = "") -> None:
    """Write a file whole; DedupError names what it was to hold, and says what to do instead."""
    try:
        write_whole(file, text)
    except OSError as e:
        problem = Message(
            "{what} {file} cannot be written: {why}.", what=what, file=file, why=e.strerror
        )
        raise DedupError(joined([problem, instead]) if instead else problem) from e


def is_interactive() -> bool:
    """Tell whether there is a terminal to ask on, and to answer on."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def asking(question: Callable[[T], str], unchanged: str, *, yes: bool) -> Callable[[T], None]:
    """Return a function that confirms a plan, unless `yes`; see `confirm`."""
    return lambda plan: None if yes else confirm(question(plan), unchanged)


def confirm(question: str, unchanged: str, *, default: bool = False) -> None:
    """Ask before something is done; without a yes, or a terminal, UsageError.

    unchanged: what is as it was where the answer is no; default: what Enter stands for.
    """
    if not is_interactive():
        without = Message("Without a terminal to answer on, give --yes.")
        raise UsageError(joined([question, without]))
    from tqdm import tqdm  # here: only a terminal has a bar

    with tqdm.external_write_mode(file=plain(sys.stderr)):  # a bar makes room meanwhile
        agreed = answer(partial(_yes_or_no, default=default), question, unchanged)
    if not agreed:
        raise UsageError("not confirmed; {unchanged}.", unchanged=unchanged)


def answer(ask: Callable[..., T], question: str, unchanged: str) -> T:
    """Return the answer to a question; Interrupted at Ctrl-C and at the end of the input."""
    try:
        return ask(escaped(localized(question)), err=True)
    except typer.Abort:
        typer.echo(err=True)  # the cursor stands behind the question
        raise Interrupted(
            Message("ended; {unchanged}.", unchanged=unchanged), signal.SIGINT
        ) from None


def _yes_or_no(question: str, *, default: bool, err: bool = True) -> bool:
    hint = "[Y/n]" if default else "[y/N]"
    known = {"": default, "y": True, "yes": True, "是": True, "n": False, "no": False, "否": False}
    while True:
        said = typer.prompt(f"{question} {hint}", default="", show_default=False, err=err)
        if (found := known.get(said.strip().lower())) is not None:
            return found
        typer.echo(localized(Message("Answer y or n.")), err=err)
