"""The command line: its commands, their help, and the exit code of every error.

The help is rendered here, since the library breaks lines by characters, and a Chinese character
takes two columns.
"""

import difflib
import gettext
import importlib
import io
import os
import re
import shutil
import signal
import sys
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from dedup_job import __version__
from dedup_job.cli.console import open_streams, set_up_logs, take_output_error
from dedup_job.messages import (
    FOLDER,
    DedupError,
    Interrupted,
    Message,
    UsageError,
    chosen_language,
    localized,
)
from dedup_job.mongo import has_password, names_server
from dedup_job.printing import escaping

_GROUPS = {  # name: module and function, first sentence of the help, which needs no import
    Message("Work:"): {
        "run": ("decide.run", "Copy the unique documents of the source to the target."),
        "file": ("decide.file", "Copy the unique rows of a file to another, without a database."),
        "demo": ("decide.demo", "Make labelled documents, run on them, show what became of each."),
    },
    Message("Look:"): {
        "list": ("listing.list_", "List what was dropped, what nearly was, groups and others."),
        "inspect": ("inspect.inspect", "Show what is decided about a document or a text, and why."),
        "report": ("listing.report", "Write a page of kept and dropped documents, with samples."),
        "check": ("upkeep.check", "Verify that nothing is lost and nothing was changed by hand."),
        "status": ("upkeep.status", "Show how a target stands: run at work, last run, index."),
    },
    Message("Correct:"): {
        "review": ("labels.review", "Label pairs in the browser: same, different or unsure."),
        "learn": ("labels.learn", "Make a model that judges as the labels of dedup review do."),
        "restore": ("upkeep.restore", "Put documents that were dropped wrongly into the target."),
        "undo": ("upkeep.undo", "Undo the last run."),
    },
    Message("Set up:"): {
        "config": ("options.app", "Show, check or write settings."),
    },
}
_COMMANDS = {name: one for group in _GROUPS.values() for name, one in group.items()}

DEFAULT = re.compile(r"\s*\[default: (.*?)\]")
"""The default of an option in its help, where the library does not know it."""
Section = tuple[str, Iterable[tuple[str, str]]]
"""A title, and rows of names with their meaning."""
_WIDEST_NAME = 26  # columns of an option beside its help
_WIDEST = 100  # columns that are easy to read
_CHOICE = re.compile(r"'(.*)' is not one of (.*)", re.DOTALL)
_RANGE = re.compile(r"; (?:\d+<=)?x[<>]=\d+(?=\])|\[(?:\d+<=)?x[<>]=\d+\]")
_TOO_MANY = re.compile(r"unexpected extra arguments?(?:\(s\))? \((.*)\)", re.DOTALL)
_GLUED = re.compile(r"(--?[a-z-]*?)(?:=|(?=mongodb))(.*)", re.DOTALL | re.IGNORECASE)
_NAMES = ("--uri", "--uri-file", "--db", "--source", "--target", "--config", "--report")


class Command(TyperCommand):
    """A command with its help in the language of the user."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        formatter.write(_help(self, ctx))


class Group(TyperGroup):
    """A group of commands with its help in the language of the user."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Return the words left for the command; without any, write the help and exit with 2."""
        if not args and self.no_args_is_help:
            typer.echo(ctx.get_help(), err=True)
            raise typer.Exit(2)
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        formatter.write(_help(self, ctx, self.sections(ctx)))

    def sections(self, ctx: Any) -> Iterator[Section]:
        """Yield the title of each section of commands, and a row for each command."""
        commands: Any = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        yield Message("Commands:"), ((name, first_paragraph(one.help)) for name, one in commands)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return name, command and remaining words; UsageError for an unknown name."""
        name, names = args[0], self.list_commands(ctx)
        if name in names or name.startswith("-"):
            return super().resolve_command(ctx, args)
        problem = Message("no such command: {name}", name=name)
        raise UsageError(_refused(ctx, _perhaps(problem, difflib.get_close_matches(name, names))))


class _LazyCommands(Group):
    """The commands; the module of each is loaded when it is called.

    No argument holds a password: all users of a machine may read them.
    """

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return [*_COMMANDS]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        module, _, name = _COMMANDS[cmd_name][0].partition(".")
        function = getattr(importlib.import_module(f"{__name__}.{module}"), name)
        if isinstance(function, typer.Typer):
            group = typer.main.get_group(function)
            group.name = cmd_name
            return group
        single = typer.Typer(**_LOOK)
        single.command(cmd_name, cls=Command)(function)
        return typer.main.get_command(single)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if sum(word.split("=")[0] == "--config" for word in args) > 1:
            raise UsageError(
                "--config is given twice, and takes one file or one preset. Put the settings of "
                "both into one file; `dedup config show --config NAME` prints those of a preset."
            )
        for before, argument in pairwise(["", *args]):
            option = before if before.startswith("--") else Message("an argument")
            value = argument
            if glued := _GLUED.match(argument):
                option, value = glued.groups()
            if has_password(value) and (names_server(value) or option in _NAMES):
                raise UsageError(
                    "{option} holds a password, or what may be one, which other users of this "
                    "machine could read. Put the connection string into the environment "
                    "(DEDUP_URI) or into a file (--uri-file).",
                    option=option,
                )
        return super().parse_args(ctx, args)

    def sections(self, ctx: Any) -> Iterator[Section]:  # noqa: ARG002
        for title, group in _GROUPS.items():
            yield title, [(name, text) for name, (_, text) in group.items()]


def first_paragraph(text: str | None) -> str:
    """Return the first paragraph of a help text on one line."""
    return " ".join((text or "").split("\n\n")[0].split())


def parts_of_help(command: Any) -> tuple[list[str], list[str]]:
    """Return the indented examples of a command's help, and its other paragraphs on a line each."""
    parts = [part for part in (command.help or "").split("\n\n") if part]
    examples = [part for part in parts if part.startswith(" ")]
    return examples, [" ".join(part.split()) for part in parts if part not in examples]


def _help(command: Any, ctx: Any, commands: Iterable[Section] = ()) -> str:
    from dedup_job.report.output import Output  # here: rich is slow to load

    text = io.StringIO()
    out = Output(text, colour=False, width=min(shutil.get_terminal_size().columns, _WIDEST))
    usage = " ".join(command.collect_usage_pieces(ctx))
    out.rows([(Message("Usage:"), f"{ctx.command_path} {usage}")])
    examples, paragraphs = parts_of_help(command)
    for example in examples:
        out.say(f"\n{example}")
    for paragraph in paragraphs:
        out.say()
        out.paragraph(Message(paragraph))
    for title, rows in (*commands, *_options_of(command, ctx)):
        out.say()
        out.say(title)
        translated = [(name, _translated(help_text)) for name, help_text in rows]
        out.rows(translated, indent=2, widest=_WIDEST_NAME)
    if command.epilog:
        out.say()
        out.paragraph(Message(command.epilog))
    return text.getvalue()


def _options_of(command: Any, ctx: Any) -> Iterator[Section]:
    rows = {}
    for parameter in command.get_params(ctx):
        if record := _record(parameter, ctx):
            text = " ".join((getattr(parameter, "help", None) or "").split())
            extra = _RANGE.sub("", record[1].removeprefix(parameter.help or "")).strip()
            rows[parameter.name] = record[0], f"{_translated(text)} {extra}".strip()
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


def _translated(help_text: str) -> str:
    found = DEFAULT.search(help_text)
    text = localized(Message(DEFAULT.sub("", help_text)))
    if found is None:
        return text
    default = localized(Message("[default: {default}]", default=Message(found[1])))
    return f"{text} {default}"


def usage_error_of(error: Exception) -> UsageError | None:
    """Return the library's refusal of a command line in our words; None for another error."""
    if not hasattr(error, "format_message"):
        return None
    parameter: Any = getattr(error, "param", None)
    option = getattr(error, "option_name", None)
    name = _name(parameter) if parameter else option
    why = _wrong_value(error.__cause__) or getattr(error, "message", "")
    why = why if isinstance(why, Message) else str(why).rstrip(".")
    if hasattr(error, "possibilities"):
        problem = _perhaps(Message("no such option: {name}", name=name), error.possibilities)
    elif hasattr(error, "param_type"):
        problem = Message("{name} is missing", name=name)
    elif found := _CHOICE.search(why):
        values = {"name": name, "given": found[1], "names": found[2].replace("'", "")}
        problem = Message("{name} is {given!r}, expected one of: {names}", **values)
    elif found := _TOO_MANY.search(why):
        problem = Message("too many arguments: {words}", words=found[1])
    elif parameter is not None:
        problem = Message("{name}: {why}", name=name, why=why)
    elif option and "requires" in why:
        problem = Message("{name} needs a value", name=name)
    elif option:
        problem = Message("{name} takes no value", name=name)
    else:
        problem = Message("{why}", why=why)
    return UsageError(_refused(getattr(error, "ctx", None), problem))


def _wrong_value(cause: BaseException | None) -> str:
    from pydantic import ValidationError  # here: --help should not wait for them

    from dedup_job.settings import short, validation_message

    if not isinstance(cause, ValidationError):
        return ""
    problem = cause.errors()[0]
    value, why = short(problem["input"]), validation_message(problem)
    if value in why or has_password(str(problem["input"])):
        return why
    return Message("{why}, not {given}", why=why, given=value)


def _name(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name.upper()).strip("[].")
    return str(max(parameter.opts, key=len))


def _refused(ctx: Any, problem: Message) -> Message:
    if ctx is None:
        return Message("{what}.", what=problem)
    command = ctx.command_path
    return Message("{what}. `{command} --help` says more.", what=problem, command=command)


def _perhaps(problem: Message, near: Iterable[str] | None) -> Message:
    if not (names := ", ".join(sorted(near or ()))):
        return problem
    return Message("{what} (perhaps you meant {names})", what=problem, names=names)


_LOOK: dict[str, Any] = {
    "add_completion": False,
    "pretty_exceptions_enable": False,
    "rich_markup_mode": None,
    # without the colours of the library, which would be escaped
    "context_settings": {"help_option_names": ["-h", "--help"], "color": False},
}
app = typer.Typer(
    name="dedup",
    cls=_LazyCommands,
    epilog="Exit codes: 0 done · 1 unexpected · 2 usage or configuration · 3 done, some documents "
    "quarantined · 5 database or cluster unreachable, try again · 6 state does not match or lease "
    "lost · 11 another run holds the lease · 129/130/143 stopped by a signal after a checkpoint",
    no_args_is_help=True,
    **_LOOK,
)


def _version(is_asked_for: bool) -> None:
    if is_asked_for:
        typer.echo(f"dedup {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    _: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Remove duplicate and near-duplicate documents from MongoDB collections."""


def main() -> NoReturn:
    """Run the command line and end the process with its exit code."""
    open_streams()
    try:
        _run()
    except KeyboardInterrupt as e:  # outside of the blocks that have a message for it
        _leave(128 + (e.args or [signal.SIGINT])[0])
    except SystemExit as e:
        _leave(e.code if isinstance(e.code, int) else int(e.code is not None))
    _leave(0)


def _run() -> None:
    sys.stdout, sys.stderr = escaping(sys.stdout), escaping(sys.stderr)
    set_up_logs()
    gettext.bindtextdomain("dedup", FOLDER)  # our translations of the library's words
    gettext.textdomain("dedup")
    try:
        if code := app(standalone_mode=False):
            sys.exit(code)
    except Interrupted as e:  # by the user: no error
        _end(e.message, e.code, as_error=False)
    except DedupError as e:
        _end(e.message, e.code)
    except Exception as e:
        if refused := usage_error_of(e):
            _end(refused.message, refused.code)
        if os.environ.get("DEDUP_TRACEBACK"):
            raise
        message = Message(
            "unexpected {name}: {error}\nNothing is lost: what was committed stays, and the same "
            "command goes on. Set DEDUP_TRACEBACK=1 to see where it happened.",
            name=type(e).__name__,
            error=str(e),
        )
        _end(message, 1)


def _leave(code: int) -> NoReturn:
    """End the process at once: the usual way out looks for cycles, and waits for threads."""
    if error := take_output_error():
        message = Message("error: the output could not be written: {why}", why=error.strerror)
        sys.stderr.write(f"{localized(message)}\n")
        code = code or 1
    sys.stderr.flush()
    os._exit(code)


def _end(message: str, code: int, *, as_error: bool = True) -> NoReturn:
    from rich.text import Text  # here: rich takes as long as --help itself

    from dedup_job.report.output import Output

    head = Text(localized(Message("error: ")) if as_error else "", style="red")
    line = head.append(localized(message), style="default")
    out = Output(sys.stderr)
    (out.paragraph if out.is_terminal else out.say)(line)
    sys.exit(code)
