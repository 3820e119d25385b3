"""Where a command prints, made safe once for all, and where it asks."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from dedup_job.errors import UsageError
from dedup_job.printing import plain

if TYPE_CHECKING:
    from dedup_job.report.output import Output


def console() -> Output:
    """Return standard output."""
    from dedup_job.report.output import Output

    return Output(sys.stdout)


def errors() -> Output:
    """Return standard error."""
    from dedup_job.report.output import Output

    return Output(sys.stderr)


def is_interactive() -> bool:
    """Tell whether there is a terminal to ask on, and to answer on."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def confirm(question: str, unchanged: str, *, default: bool = False) -> None:
    """Ask before something is done; without a yes, or a terminal, UsageError.

    unchanged: what is as it was where the answer is no; default: what Enter stands for.
    """
    from tqdm import tqdm

    if not is_interactive():
        raise UsageError(f"{question} Without a terminal to answer on, give --yes.")
    with tqdm.external_write_mode(file=plain(sys.stderr)):  # a bar makes room meanwhile
        if not typer.confirm(question, default=default, err=True):
            raise UsageError(f"not confirmed; {unchanged}.")
