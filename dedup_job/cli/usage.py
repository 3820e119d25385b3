"""What the command line says of itself: its help, and why it refuses a line; in both languages.

The library counts characters where it breaks lines; a Chinese one takes two columns.
"""

from __future__ import annotations

import difflib
import gettext
import io
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from dedup_job.errors import UsageError
from dedup_job.messages import FOLDER, Message, chosen_language, localized

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
        """Return what belongs to the command; without any, write the help and end with 2."""
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


def in_groups(groups: Mapping[str, str]) -> Callable[[F], F]:
    """Return a decorator that groups a command's options in its help.

    groups: names of parameters by the title of the group.
    """

    def decorate(command: F) -> F:
        command.__dict__["groups"] = groups
        return command

    return decorate


def first_paragraph(told: str | None) -> str:
    """Return the first paragraph of a help on one line."""
    return " ".join((told or "").split("\n\n")[0].split())


def set_up_language() -> None:
    """Let the library find our translations of its words."""
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
    """Return what the library says of an option; it takes the language from a variable."""
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
