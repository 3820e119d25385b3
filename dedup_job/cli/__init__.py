"""The command line; here, and only here, errors become exit codes."""

import importlib
import os
import re
import signal
import sys
from collections.abc import Iterator
from itertools import pairwise
from typing import Annotated, Any, NoReturn

import typer

from dedup_job import __version__
from dedup_job.cli.process import open_streams, output_error, set_up_logs
from dedup_job.cli.usage import Command, Group, Section, refusal, set_up_language
from dedup_job.messages import DedupError, Interrupted, Message, UsageError, localized
from dedup_job.mongo import has_password, names_server
from dedup_job.printing import escaping

_GROUPS = {  # name: module and function, how its own help begins: it is not loaded for the list
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
        "undo": ("upkeep.undo", "Take the last run back."),
    },
    Message("Set up:"): {
        "config": ("config.app", "Show, check or write settings."),
    },
}
_COMMANDS = {name: one for group in _GROUPS.values() for name, one in group.items()}

_GLUED = re.compile(r"(--?[a-z-]*?)(?:=|(?=mongodb))(.*)", re.DOTALL | re.IGNORECASE)
_NAMES = ("--uri", "--uri-file", "--db", "--source", "--target", "--config", "--report")


class _LazyCommands(Group):
    """The commands; the module of each is loaded when it is called.

    No argument holds a password: all users of a machine may read them.
    """

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        names: Any = dict.fromkeys(_COMMANDS)
        self.commands = names  # in the order of the help

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        module, _, name = _COMMANDS[cmd_name][0].partition(".")
        found = getattr(importlib.import_module(f"{__name__}.{module}"), name)
        if isinstance(found, typer.Typer):
            group = typer.main.get_group(found)
            group.name = cmd_name
            return group
        single = typer.Typer(**_LOOK)
        single.command(cmd_name, cls=Command)(found)
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

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except typer.BadParameter as e:
            from pydantic import ValidationError  # here: --help should not wait for them

            from dedup_job.settings import short, what_is_wrong

            if isinstance(e.__cause__, ValidationError):
                problem = e.__cause__.errors()[0]
                given, why = short(problem["input"]), what_is_wrong(problem)
                known = given in why or has_password(str(problem["input"]))
                e.message = why if known else Message("{why}, not {given}", why=why, given=given)
            raise

    def sections(self, ctx: Any) -> Iterator[Section]:  # noqa: ARG002
        for title, group in _GROUPS.items():
            yield title, [(name, told) for name, (_, told) in group.items()]


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


def _version(wanted: bool) -> None:
    if wanted:
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
    """Run the command line and end the process."""
    open_streams()
    try:
        _run()
    except KeyboardInterrupt as e:  # before or after all that has something to say of it
        _leave(128 + (e.args or [signal.SIGINT])[0])
    except SystemExit as e:
        _leave(e.code if isinstance(e.code, int) else int(e.code is not None))
    _leave(0)


def _run() -> None:
    sys.stdout, sys.stderr = escaping(sys.stdout), escaping(sys.stderr)
    set_up_logs()
    set_up_language()
    try:
        if code := app(standalone_mode=False):
            sys.exit(code)
    except Interrupted as e:  # as was asked for: no error
        _say(localized(e.message))
        sys.exit(e.code)
    except DedupError as e:
        _fail(e.message, e.code)
    except Exception as e:
        if refused := refusal(e):
            _fail(refused.message, refused.code)
        if os.environ.get("DEDUP_TRACEBACK"):
            raise
        said = Message(
            "unexpected {name}: {error}\nNothing is lost: what was committed stays, and the same "
            "command goes on. Set DEDUP_TRACEBACK=1 to see where it happened.",
            name=type(e).__name__,
            error=str(e),
        )
        _fail(said, 1)


def _leave(code: int) -> NoReturn:
    """End the process at once: the usual way out looks for cycles, and waits for threads."""
    if error := output_error():
        said = Message("error: the output could not be written: {why}", why=error.strerror)
        sys.stderr.write(f"{localized(said)}\n")
        code = code or 1
    sys.stderr.flush()
    os._exit(code)


def _fail(message: str, code: int) -> NoReturn:
    from rich.text import Text

    head = Text(localized(Message("error: ")), style="red")
    _say(head.append(localized(message), style="default"))
    sys.exit(code)


def _say(line: Any) -> None:  # a text, of rich or not
    from dedup_job.report.output import Output  # here: rich takes as long as --help itself

    out = Output(sys.stderr)
    (out.paragraph if out.is_terminal else out.say)(line)
