"""Options that commands share; what the command line says of itself: help, refusals of a line.

The library counts characters where it breaks lines; a Chinese one takes two columns.
"""

import difflib
import functools
import gettext
import inspect
import io
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast

import typer
from typer.core import TyperCommand, TyperGroup

from dedup_job.messages import FOLDER, Message, UsageError, chosen_language, localized

if TYPE_CHECKING:
    from dedup_job.settings import Loaded, Settings

DEFAULT = re.compile(r"\s*\[default: (.*?)\]")
"""What the help of an option says of a default that the library does not know."""
F = TypeVar("F", bound=Callable[..., Any])
Section = tuple[str, Iterable[tuple[str, str]]]
"""A title, and rows of names with what they mean."""
_WIDEST_NAME = 26  # columns of an option beside its help
_CHOICE = re.compile(r"'(.*)' is not one of (.*)", re.DOTALL)
_RANGE = re.compile(r"; (?:\d+<=)?x[<>]=\d+(?=\])|\[(?:\d+<=)?x[<>]=\d+\]")
_TOO_MANY = re.compile(r"unexpected extra arguments?(?:\(s\))? \((.*)\)", re.DOTALL)
_WIDEST = 100  # columns that are easy to read


class Command(TyperCommand):
    """A command with its help in the language of the user."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        formatter.write(_help(self, ctx))


class Group(TyperGroup):
    """Commands with their help in the language of the user."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Return the words left for the command; without any, write the help and end with 2."""
        if not args and self.no_args_is_help:
            typer.echo(ctx.get_help(), err=True)
            raise typer.Exit(2)
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        formatter.write(_help(self, ctx, self.sections(ctx)))

    def sections(self, ctx: Any) -> Iterator[Section]:
        """Yield each group of commands: its title, and a line for each command."""
        commands: Any = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        yield Message("Commands:"), ((name, first_paragraph(one.help)) for name, one in commands)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return a command by its name; UsageError where there is none."""
        name, known = args[0], self.list_commands(ctx)
        if name in known or name.startswith("-"):
            return super().resolve_command(ctx, args)
        what = Message("no such command: {name}", name=name)
        raise UsageError(_refused(ctx, _perhaps(what, difflib.get_close_matches(name, known))))


def first_paragraph(told: str | None) -> str:
    """Return the first paragraph of a help on one line."""
    return " ".join((told or "").split("\n\n")[0].split())


def set_up_language() -> None:
    """Point the library to our translations of its words."""
    gettext.bindtextdomain("dedup", FOLDER)
    gettext.textdomain("dedup")


def refusal(error: Exception) -> UsageError | None:
    """Return in our words why the library refuses a command line; None for another error."""
    if not hasattr(error, "format_message"):
        return None
    parameter: Any = getattr(error, "param", None)
    option = getattr(error, "option_name", None)
    name = _name(parameter) if parameter else option
    why = getattr(error, "message", "")
    why = why if isinstance(why, Message) else str(why).rstrip(".")
    if hasattr(error, "possibilities"):
        what = _perhaps(Message("no such option: {name}", name=name), error.possibilities)
    elif hasattr(error, "param_type"):
        what = Message("{name} is missing", name=name)
    elif found := _CHOICE.search(why):
        values = {"name": name, "given": found[1], "names": found[2].replace("'", "")}
        what = Message("{name} is {given!r}, expected one of: {names}", **values)
    elif found := _TOO_MANY.search(why):
        what = Message("too many arguments: {words}", words=found[1])
    elif parameter is not None:
        what = Message("{name}: {why}", name=name, why=why)
    elif option and "requires" in why:
        what = Message("{name} needs a value", name=name)
    elif option:
        what = Message("{name} takes no value", name=name)
    else:
        what = Message("{why}", why=why)
    return UsageError(_refused(getattr(error, "ctx", None), what))


def _name(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name.upper()).strip("[].")
    return str(max(parameter.opts, key=len))


def _refused(ctx: Any, what: Message) -> Message:
    if ctx is None:
        return Message("{what}.", what=what)
    command = ctx.command_path
    return Message("{what}. `{command} --help` says more.", what=what, command=command)


def _perhaps(what: Message, near: Iterable[str] | None) -> Message:
    names = ", ".join(sorted(near or ()))
    return Message("{what} (perhaps you meant {names})", what=what, names=names) if names else what


def _help(command: Any, ctx: Any, commands: Iterable[Section] = ()) -> str:
    from dedup_job.report.output import Output  # here: rich is slow to load

    text = io.StringIO()
    out = Output(text, colour=False, width=min(shutil.get_terminal_size().columns, _WIDEST))
    pieces = " ".join(command.collect_usage_pieces(ctx))
    out.rows([(Message("Usage:"), f"{ctx.command_path} {pieces}")])
    examples, paragraphs = parts_of_help(command)
    for example in examples:
        out.say()
        out.say(example)
    for paragraph in paragraphs:
        out.say()
        out.paragraph(Message(paragraph))
    for title, rows in (*commands, *_options(command, ctx)):
        out.say()
        out.say(title)
        translated = [(name, _translated(told)) for name, told in rows]
        out.rows(translated, indent=2, widest=_WIDEST_NAME)
    if command.epilog:
        out.say()
        out.paragraph(Message(command.epilog))
    return text.getvalue()


def parts_of_help(command: Any) -> tuple[list[str], list[str]]:
    """Return the examples of a command's help, which are indented, and its other paragraphs."""
    parts = [part for part in (command.help or "").split("\n\n") if part]
    examples = [part for part in parts if part.startswith(" ")]
    return examples, [" ".join(part.split()) for part in parts if part not in examples]


def _options(command: Any, ctx: Any) -> Iterator[Section]:
    rows = {}
    for parameter in command.get_params(ctx):
        if record := _record(parameter, ctx):
            told = " ".join((getattr(parameter, "help", None) or "").split())
            extra = _RANGE.sub("", record[1].removeprefix(parameter.help or "")).strip()
            rows[parameter.name] = record[0], f"{_translated(told)} {extra}".strip()
    for title, names in getattr(command.callback, "groups", {}).items():
        yield title, [rows.pop(name) for name in names.split()]
    if rows:
        yield Message("Options:"), rows.values()


def _record(parameter: Any, ctx: Any) -> Any:
    """Return the library's record of an option; it takes the language from a variable."""
    former = os.environ.get("LANGUAGE")
    os.environ["LANGUAGE"] = chosen_language()
    try:
        return parameter.get_help_record(ctx)
    finally:
        os.environ.pop("LANGUAGE") if former is None else os.environ.update(LANGUAGE=former)


def _translated(told: str) -> str:
    found = DEFAULT.search(told)
    text = localized(Message(DEFAULT.sub("", told)))
    if found is None:
        return text
    default = localized(Message("[default: {default}]", default=Message(found[1])))
    return f"{text} {default}"


Source = Annotated[
    str, typer.Option(metavar="NS", help="Collection to read: collection or database.collection.")
]
TARGET = typer.Option(
    metavar="NS", help="Collection that dedup run wrote: collection or database.collection."
)
Target = Annotated[str, TARGET]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]

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


@dataclass(frozen=True, slots=True)
class Given:
    """Shared options as they were given, by the name of the parameter; None if not given."""

    values: Mapping[str, Any]

    def words(self) -> Iterator[str]:
        """Yield the options as they were typed."""
        for name, value in self.values.items():
            for one in value if isinstance(value, list) else [value]:
                if one is not None:
                    yield from (f"--{name.replace('_', '-')}", str(one))

    def loaded(self) -> "Loaded":
        """Return the settings and where they come from."""
        from dedup_job.settings import load  # here: --help should not wait for pydantic

        if self.values.get("uri") is not None and self.values.get("uri_file") is not None:
            raise UsageError("--uri and --uri-file exclude each other: which one is meant?")
        flags = {_SETTINGS[name][0]: value for name, value in self.values.items()}
        return load(flags, flags.pop("", None))

    def load(self) -> "Settings":
        """Return the settings."""
        return self.loaded().settings


def with_options(*names: str, groups: Mapping[str, str] | None = None) -> Callable[[F], F]:
    """Give a command these shared options, behind its own; it takes them as `options`.

    groups: names of parameters by the title of a section of the help.
    """

    def decorate(command: F) -> F:
        own = inspect.signature(command, eval_str=True)
        left = [one for name, one in own.parameters.items() if name != "options"]
        shared = list[inspect.Parameter]()
        for name, (_, kind, metavar, told) in ((name, _SETTINGS[name]) for name in names):
            option: Any = Annotated[kind | None, typer.Option(metavar=metavar, help=told)]
            only = inspect.Parameter.KEYWORD_ONLY
            shared.append(inspect.Parameter(name, only, default=None, annotation=option))

        @functools.wraps(command)
        def called(**values: Any) -> Any:
            given = {name: values.pop(name) for name in names}
            return command(**values, options=Given(given))

        called.__dict__.pop("__wrapped__")
        called.__dict__["groups"] = groups or {}
        called.__annotations__ = {one.name: one.annotation for one in (*left, *shared)}
        called.__signature__ = own.replace(parameters=[*left, *shared])  # type: ignore[attr-defined]
        return cast("F", called)

    return decorate


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
