"""Options that several commands share."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast

import typer

from dedup_job.cli.usage import Group
from dedup_job.errors import UsageError
from dedup_job.messages import Message
from dedup_job.mongo.uri import has_password, names_server
from dedup_job.settings_input import short, what_is_wrong

if TYPE_CHECKING:
    from dedup_job.settings import Loaded, Settings

Source = Annotated[
    str, typer.Option(metavar="NS", help="Collection to read: collection or database.collection.")
]
Target = Annotated[
    str,
    typer.Option(
        metavar="NS", help="Collection that dedup run wrote: collection or database.collection."
    ),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]

F = TypeVar("F", bound=Callable[..., Any])
_SETTINGS: Mapping[str, tuple[str, type, str | None, str]] = {
    # parameter: the setting that it stands for, its type, metavar, and help
    "uri": (
        "connection.uri",
        str,
        "URI",
        "MongoDB connection string without a password [default: mongodb://localhost:27017; "
        "environment DEDUP_URI].",
    ),
    "uri_file": (
        "connection.uri_file",
        Path,
        "FILE",
        "File that holds the connection string, including the password.",
    ),
    "db": ("connection.db", str, "NAME", "Database for names that are given without one."),
    "field": (
        "source.field",
        str,
        "PATH",
        "Field that holds the text, a dotted path; several with commas [default: text; to inspect "
        "a target: that of its last run].",
    ),
    "keep": (
        "output.keep",
        list[str],
        "RULE",
        "Which copy stays: first, richest, longest, newest:FIELD, oldest:FIELD, highest:FIELD or "
        "order:FIELD=A,B; several: each decides where those before it tie.",
    ),
    "on_change": (
        "source.on_change",
        str,
        "WHAT",
        "Documents that the source changed: keep them as decided, update those that still ask "
        "the same, or refresh all [default: keep].",
    ),
    "on_delete": (
        "source.on_delete",
        str,
        "WHAT",
        "Documents that the source deleted: keep them, promote a copy, or remove them "
        "[default: keep].",
    ),
    "query": ("source.query", str, "JSON", "Read only documents that match this extended JSON."),
    "against": (
        "source.against",
        str,
        "NS,...",
        "Also drop duplicates of what these collections hold; they are only read.",
    ),
    "config": (
        "",
        Path,
        "FILE",
        "Settings in TOML, or a preset: questions, articles, classic; see dedup config show.",
    ),
}
CONNECTION = ("uri", "uri_file", "db")
OF_A_TARGET = (*CONNECTION, "field", "config")
OF_A_RUN = (*CONNECTION, "field", "keep", "on_change", "on_delete", "query", "against", "config")

_GLUED = re.compile(r"(--?[a-z-]*?)(?:=|(?=mongodb))(.*)", re.DOTALL | re.IGNORECASE)
_NAMES = ("--uri", "--uri-file", "--db", "--source", "--target", "--config", "--report")


class Guarded(Group):
    """Commands without a password in any argument: all users of a machine may read them."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse a connection string with a password, whatever it stands for, with UsageError.

        Also a second --config.
        """
        if sum(word.split("=")[0] == "--config" for word in args) > 1:
            raise UsageError(
                "--config is given twice, and takes one file or one preset. Put the settings "
                "of both into one file; `dedup config show --config NAME` prints those of a "
                "preset."
            )
        for before, argument in pairwise(["", *args]):
            option = before if before.startswith("--") else Message("an argument")
            value = argument
            if glued := _GLUED.match(argument):
                option, value = glued.groups()
            if has_password(value) and (names_server(value) or option in _NAMES):
                raise UsageError(_with_password(option))
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; a value that an option does not take is repeated in the refusal."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as e:
            from pydantic import ValidationError  # here: --help should not wait for it

            if isinstance(e.__cause__, ValidationError):
                problem = e.__cause__.errors()[0]
                given, why = short(problem["input"]), what_is_wrong(problem)
                known = given in why or has_password(str(problem["input"]))
                e.message = why if known else Message("{why}, not {given}", why=why, given=given)
            raise


def _with_password(option: str) -> Message:
    return Message(
        "{option} holds a password, or what may be one, which other users of this machine could "
        "read. Put the connection string into the environment (DEDUP_URI) or into a file "
        "(--uri-file).",
        option=option,
    )


@dataclass(frozen=True, slots=True)
class Given:
    """What was given on the command line of the settings that several commands share.

    values: by the name of the parameter, None where it was not given.
    """

    values: Mapping[str, Any]

    def words(self) -> Iterator[str]:
        """Yield the options as they were typed."""
        for name, value in self.values.items():
            for one in value if isinstance(value, list) else [value]:
                if one is not None:
                    yield from (f"--{name.replace('_', '-')}", str(one))

    def loaded(self) -> Loaded:
        """Return the settings and where they come from."""
        from dedup_job.settings import load  # here: --help should not wait for pydantic

        if self.values.get("uri") is not None and self.values.get("uri_file") is not None:
            raise UsageError("--uri and --uri-file exclude each other: which one is meant?")
        flags = {_SETTINGS[name][0]: value for name, value in self.values.items()}
        return load(flags, flags.pop("", None))

    def load(self) -> Settings:
        """Return the settings."""
        return self.loaded().settings


def with_options(*names: str) -> Callable[[F], F]:
    """Give a command these shared options, behind its own; it takes them as `options`."""

    def decorate(command: F) -> F:
        own = inspect.signature(command, eval_str=True)
        left = [one for name, one in own.parameters.items() if name != "options"]
        shared = [_parameter(name) for name in names]

        @functools.wraps(command)
        def called(**values: Any) -> Any:
            given = {name: values.pop(name) for name in names}
            return command(**values, options=Given(given))

        called.__dict__.pop("__wrapped__")
        called.__annotations__ = {one.name: one.annotation for one in (*left, *shared)}
        called.__signature__ = own.replace(parameters=[*left, *shared])  # type: ignore[attr-defined]
        return cast("F", called)

    return decorate


def _parameter(name: str) -> inspect.Parameter:
    _, kind, metavar, told = _SETTINGS[name]
    annotation: Any = Annotated[kind | None, typer.Option(metavar=metavar, help=told)]
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation
    )


def check_range(option: str, value: float, least: float, most: float) -> None:
    """Refuse a number out of range, nan as well, with UsageError."""
    if not least <= value <= most:
        raise UsageError(
            "{option} is {value:,}, expected {least:,} to {most:,}.",
            option=option,
            value=value,
            least=least,
            most=most,
        )
