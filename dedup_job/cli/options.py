"""Options that several commands share or that set a setting, and `dedup config`."""

import functools
import inspect
import io
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import typer
from rich.table import Column

from dedup_job.cli import Command, Group
from dedup_job.cli.console import console, save
from dedup_job.files import check_new
from dedup_job.messages import Message, UsageError, localized
from dedup_job.mongo import has_password
from dedup_job.report.output import Output, new_table

if TYPE_CHECKING:
    from dedup_job.settings import Loaded, Settings

F = TypeVar("F", bound=Callable[..., Any])


def value(text: str, metavar: str, *names: str, default: Any = None, **rest: Any) -> Any:
    """Return the declaration of an option that takes a value; text: its help.

    metavar: stands for the value in the help; names: if not `--parameter`; rest: arguments of
    `typer.Option`.
    """
    return typer.Option(default, *names, metavar=metavar, help=text, **rest)


def flag(text: str, *names: str) -> Any:
    """Return the declaration of an option that takes no value; text: its help."""
    return typer.Option(False, *names, help=text)


SOURCE = value("Collection to read: collection or database.collection.", "NS", default=...)
_WRITTEN = "Collection that dedup run wrote: collection or database.collection."
TARGET, OPTIONAL_TARGET = value(_WRITTEN, "NS", default=...), value(_WRITTEN, "NS")
YES = flag("Do not ask.", "--yes", "-y")
OVERWRITE = flag("Replace files that exist.", "--overwrite")

_SETTINGS: Mapping[str, tuple[str, type, str]] = {  # by parameter: the setting, type, metavar
    "uri": ("connection.uri", str, "URI"),
    "uri_file": ("connection.uri_file", Path, "FILE"),
    "db": ("connection.db", str, "NAME"),
    "field": ("source.field", str, "PATH"),
    "keep": ("output.keep", list[str], "RULE"),
    "on_change": ("source.on_change", str, "WHAT"),
    "on_delete": ("source.on_delete", str, "WHAT"),
    "query": ("source.query", str, "JSON"),
    "against": ("source.against", str, "NS,..."),
    "config": ("", Path, "FILE"),
}
_HELP = {
    "uri": "MongoDB connection string without a password [default: mongodb://localhost:27017; "
    "environment DEDUP_URI].",
    "uri_file": "File that holds the connection string, including the password.",
    "db": "Database for names that are given without one.",
    "field": "Field that holds the text, a dotted path; several with commas [default: text; to "
    "inspect a target: that of its last run].",
    "keep": "Which copy stays: first, richest, longest, newest:FIELD, oldest:FIELD, highest:FIELD "
    "or order:FIELD=A,B; several: each decides where those before it tie.",
    "on_change": "Documents that the source changed: keep them as decided, update those that still "
    "ask the same, or refresh all [default: keep].",
    "on_delete": "Documents that the source deleted: keep them, promote a copy, or remove them "
    "[default: keep].",
    "query": "Read only documents that match this extended JSON.",
    "against": "Also drop duplicates of what these collections hold; they are only read.",
    "config": "Settings in TOML, or a preset: questions, articles, classic; see dedup config show.",
}
CONNECTION = ("uri", "uri_file", "db")


@dataclass(frozen=True, slots=True)
class SharedOptions:
    """Values of the options that set a setting, by parameter; None if not typed."""

    values: Mapping[str, Any]

    def words(self) -> Iterator[str]:
        """Yield the words of the command line that set these options."""
        for name, value in self.values.items():
            for one in value if isinstance(value, list) else [value]:
                if one is not None:
                    yield from (f"--{name.replace('_', '-')}", str(one))

    def load_with_origins(self) -> "Loaded":
        """Return the settings with their origins; UsageError if they contradict each other."""
        from dedup_job.settings import load  # here: --help should not wait for pydantic

        if self.values.get("uri") is not None and self.values.get("uri_file") is not None:
            raise UsageError("--uri and --uri-file exclude each other: which one is meant?")
        flags = {_SETTINGS[name][0]: value for name, value in self.values.items()}
        return load(flags, flags.pop("", None))

    def load(self) -> "Settings":
        """Return the settings; UsageError as `load_with_origins`."""
        return self.load_with_origins().settings


def with_options(*names: str, groups: Mapping[str, str] | None = None) -> Callable[[F], F]:
    """Return a decorator that adds shared options to a command, which takes them as `options`.

    groups: parameter names, separated by spaces, by the title of a section of the help.
    """

    def decorate(command: F) -> F:
        signature = inspect.signature(command, eval_str=True)
        parameters = {**signature.parameters}
        del parameters["options"]
        for name in names:
            _, kind, metavar = _SETTINGS[name]
            declared, own = value(_HELP[name], metavar), inspect.Parameter.KEYWORD_ONLY
            parameters[name] = inspect.Parameter(
                name, own, default=declared, annotation=kind | None
            )

        @functools.wraps(command)
        def called(**values: Any) -> Any:
            shared = {name: values.pop(name) for name in names}
            return command(**values, options=SharedOptions(shared))

        called.__dict__.pop("__wrapped__")
        called.__dict__["groups"] = groups or {}
        called.__annotations__ = {name: one.annotation for name, one in parameters.items()}
        called.__dict__["__signature__"] = signature.replace(parameters=[*parameters.values()])
        return cast("F", called)

    return decorate


of_target = with_options(*CONNECTION, "field", "config")
"""Adds the options that all commands on a target share."""


def check_range(option: str, value: float, least: float, most: float) -> None:
    """Raise UsageError if a number is nan or outside `least` to `most`."""
    if not least <= value <= most:
        raise UsageError(
            "{option} is {value:,}, expected {least:,} to {most:,}.",
            option=option,
            value=value,
            least=least,
            most=most,
        )


app = typer.Typer(
    cls=Group, help="Show, check or write settings.", no_args_is_help=True, rich_markup_mode=None
)
_MIN_MEANING = 32  # columns in which a sentence is still readable


@app.command(cls=Command)
@with_options("config")
def show(*, options: SharedOptions) -> None:
    """Show every setting, its value, where the value comes from, and what it means."""
    table = new_table(
        Message("setting"),
        Column(Message("value"), overflow="fold"),
        Message("from"),
        Column(Message("meaning"), overflow="fold", min_width=_MIN_MEANING),
    )
    for name, value, origin, meaning in options.load_with_origins().rows():
        table.add_row(name, value, Message(origin), Message(meaning))
    console().table(table)


@app.command(cls=Command)
def validate(
    config: Path = typer.Argument(metavar="FILE", help="Settings in TOML."),
) -> None:
    """Check a configuration file, together with the environment; report all problems at once."""
    from dedup_job.settings import load  # here: --help should not wait

    load(file=config)
    typer.echo(localized(Message("{config}: good", config=config)))


@app.command(cls=Command)
@with_options("field", "config")
def init(
    file: Path = typer.Argument(
        Path("dedup.toml"), metavar="FILE", help="File to write [default: dedup.toml]."
    ),
    overwrite: bool = OVERWRITE,
    *,
    options: SharedOptions,
) -> None:
    """Write a settings file with comments, to be changed and given as --config.

    Each setting stands there with its meaning. A default is commented out; what --field, --config
    and the environment say is not.
    """
    check_new("FILE", file, overwrite=overwrite)
    text = "\n".join(_commented_settings(options.load_with_origins(), file))
    save(file, f"{text}\n", Message("the settings file"))
    advice = Message(
        "{file} is written. Look through it, then give `--config {file}` with every command.",
        file=file,
    )
    console().say(advice)


def _commented_settings(loaded: "Loaded", file: Path) -> Iterator[str]:
    yield from _comment(Message("Settings of dedup, for --config {file}.", file=file.name))
    how = Message("A setting that is commented out has its default; take the # off to change it.")
    yield from _comment(how)
    for section, part in loaded.settings:
        yield f"\n[{section}]"
        for name, field in type(part).model_fields.items():
            value, is_set = getattr(part, name), f"{section}.{name}" in loaded.origins
            if name == "uri" and has_password(value):  # it belongs in uri_file
                value, is_set = field.default, False
            yield from _comment(Message(str(field.description)))
            yield f"{'' if is_set else '# '}{toml_line(name, value)}"


def _comment(text: Message) -> Iterator[str]:
    lines = io.StringIO()
    Output(lines, width=100, colour=False).paragraph(text)
    yield from (f"# {line}" for line in lines.getvalue().splitlines())


def toml_line(name: str, value: Any) -> str:
    """Return a setting as a line of TOML, without a value for None."""
    if isinstance(value, Path | StrEnum):
        value = str(value)
    text = "" if value is None else json.dumps(value, ensure_ascii=False, default=str)
    return f"{name} = {text}".rstrip().replace("\x7f", "\\u007f")  # which JSON may hold
