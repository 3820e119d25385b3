"""`dedup config show|validate|init`."""

import io
import json
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Column

from dedup_job.cli.console import Overwrite, console, save
from dedup_job.cli.usage import Command, Given, Group, with_options
from dedup_job.files import check_new
from dedup_job.messages import Message, localized
from dedup_job.mongo import has_password
from dedup_job.report.output import Output, new_table

if TYPE_CHECKING:
    from dedup_job.settings import Loaded

app = typer.Typer(
    cls=Group, help="Show, check or write settings.", no_args_is_help=True, rich_markup_mode=None
)
_MIN_MEANING = 32  # columns in which a sentence is still read


@app.command(cls=Command)
@with_options("config")
def show(*, options: Given) -> None:
    """Show every setting, its value, where the value comes from, and what it means."""
    table = new_table(
        Message("setting"),
        Column(Message("value"), overflow="fold"),
        Message("from"),
        Column(Message("meaning"), overflow="fold", min_width=_MIN_MEANING),
    )
    for name, value, origin, meaning in options.loaded().rows():
        table.add_row(name, value, Message(origin), Message(meaning))
    console().table(table)


@app.command(cls=Command)
def validate(
    config: Annotated[Path, typer.Argument(metavar="FILE", help="Settings in TOML.")],
) -> None:
    """Check a configuration file, together with the environment; report all problems at once."""
    from dedup_job.settings import load  # here: --help should not wait

    load(file=config)
    typer.echo(localized(Message("{config}: good", config=config)))


@app.command(cls=Command)
@with_options("field", "config")
def init(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="File to write [default: dedup.toml].")
    ] = Path("dedup.toml"),
    overwrite: Overwrite = False,
    *,
    options: Given,
) -> None:
    """Write a settings file with comments, to be changed and given as --config.

    Each setting stands there with its meaning. A default is commented out; what --field, --config
    and the environment say is not.
    """
    check_new("FILE", file, overwrite=overwrite)
    text = "\n".join(_lines_of_a_file(options.loaded(), file))
    save(file, f"{text}\n", Message("the settings file"))
    done = Message(
        "{file} is written. Look through it, then give `--config {file}` with every command.",
        file=file,
    )
    console().say(done)


def _lines_of_a_file(loaded: "Loaded", file: Path) -> Iterator[str]:
    yield from _comment(Message("Settings of dedup, for --config {file}.", file=file.name))
    how = Message("A setting that is commented out has its default; take the # off to change it.")
    yield from _comment(how)
    for section, part in loaded.settings:
        yield f"\n[{section}]"
        for name, field in type(part).model_fields.items():
            value, given = getattr(part, name), f"{section}.{name}" in loaded.origins
            if name == "uri" and has_password(value):  # it belongs in uri_file
                value, given = field.default, False
            yield from _comment(Message(str(field.description)))
            yield f"{'' if given else '# '}{name} = {_as_toml(value)}".rstrip()


def _comment(text: Message) -> Iterator[str]:
    lines = io.StringIO()
    Output(lines, width=100, colour=False).paragraph(text)
    yield from (f"# {line}" for line in lines.getvalue().splitlines())


def _as_toml(value: Any) -> str:
    """Return a value as TOML writes it, which for all of ours is as JSON does; none for None."""
    if isinstance(value, Path | StrEnum):
        value = str(value)
    text = "" if value is None else json.dumps(value, ensure_ascii=False, default=str)
    return text.replace("\x7f", "\\u007f")
