"""Where a command prints its tables, and asks."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from dedup_job.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

_WIDTH = 160  # columns of a file or a pipe, which have no edge


def console() -> Console:
    """Return standard output, which takes texts as they are."""
    from rich.console import Console

    plain = Console(highlight=False, markup=False, emoji=False)
    if plain.is_terminal:
        return plain
    return Console(highlight=False, markup=False, emoji=False, width=_WIDTH)


def is_interactive() -> bool:
    """Tell whether there is a terminal to ask on, and to answer on."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def confirm(question: str, unchanged: str) -> None:
    """Ask before something is taken away; without a yes, or a terminal, UsageError.

    unchanged: what is as it was where the answer is no.
    """
    if not is_interactive():
        raise UsageError(f"{question} Without a terminal to answer on, give --yes.")
    if not typer.confirm(question, default=False, err=True):
        raise UsageError(f"not confirmed; {unchanged}.")
