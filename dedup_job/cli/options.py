"""Options that several commands share."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from dedup_job.errors import UsageError
from dedup_job.given import short
from dedup_job.mongo.uri import has_password, names_server

Source = Annotated[
    str, typer.Option(metavar="NS", help="Collection to read: collection or database.collection.")
]
Target = Annotated[
    str,
    typer.Option(
        metavar="NS", help="Collection that dedup run wrote: collection or database.collection."
    ),
]
Uri = Annotated[
    str | None,
    typer.Option(
        help="MongoDB connection string without a password [default: "
        "mongodb://localhost:27017; environment DEDUP_URI].",
    ),
]
UriFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="File that holds the connection string, including the password."
    ),
]
Database = Annotated[
    str | None,
    typer.Option("--db", metavar="NAME", help="Database for names that are given without one."),
]
Field = Annotated[
    str | None,
    typer.Option(
        metavar="PATH",
        help="Field that holds the text, a dotted path [default: text; to inspect a target: "
        "that of its last run].",
    ),
]
Query = Annotated[
    str | None,
    typer.Option(metavar="JSON", help="Read only documents that match this extended JSON."),
]
Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="Settings in TOML, or a preset: questions, articles, classic; see dedup config show.",
    ),
]


_GLUED = re.compile(r"(--?[a-z-]*?)(?:=|(?=mongodb))(.*)", re.DOTALL | re.IGNORECASE)
_FILES = ("--uri-file", "--config", "--report", "--embedded", "--output", "--ids")
_NAMES = ("--uri", "--uri-file", "--db", "--source", "--target", "--config", "--report")


class Guarded(TyperGroup):
    """Commands none of whose arguments holds a password: all users of a machine may read them."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse a connection string with a password, whatever it stands for, with UsageError.

        Also a name of a file that is empty: it would stand for the working folder.
        """
        for before, argument in pairwise(["", *args]):
            option, value = before if before.startswith("--") else "an argument", argument
            if glued := _GLUED.match(argument):
                option, value = glued.groups()
            if option in _FILES and not value:
                raise UsageError(
                    f"{option} is empty, expected a name. Is a variable of a script not set?"
                )
            if has_password(value) and (names_server(value) or option in _NAMES):
                raise UsageError(
                    f"{option} holds a password, or what may be one, which other users of this "
                    "machine could read. Put the connection string into the environment "
                    "(DEDUP_URI) or into a file (--uri-file)."
                )
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; a value that an option does not take is repeated in the refusal."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as e:
            from pydantic import ValidationError  # here: --help should not wait for it

            if isinstance(e.__cause__, ValidationError):
                problem = e.__cause__.errors()[0]
                given, why = short(problem["input"]), problem["msg"].removeprefix("Value error, ")
                known = given in why or has_password(str(problem["input"]))
                e.message = why if known else f"{why}, not {given}"
            raise


def source_flags(
    uri: str | None,
    uri_file: Path | None,
    db: str | None,
    field: str | None,
    query: str | None = None,
) -> dict[str, Any]:
    """Return the settings that these options stand for."""
    if uri is not None and uri_file is not None:
        raise UsageError("--uri and --uri-file exclude each other: which one is meant?")
    return {
        "connection.uri": uri,
        "connection.uri_file": uri_file,
        "connection.db": db,
        "source.field": field,
        "source.query": query,
    }


def check_range(option: str, value: float, least: float, most: float) -> None:
    """Refuse a number out of range, nan as well, with UsageError."""
    if not least <= value <= most:
        raise UsageError(f"{option} is {value:,}, expected {least:,} to {most:,}.")
