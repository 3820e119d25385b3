"""`dedup review` and `dedup learn`: pairs that a person labels, and a model made of the labels."""

from __future__ import annotations

import html
import json
import os
import sys
import tempfile
import webbrowser
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.table import Table

from dedup_job import commands
from dedup_job.cli import options as opt
from dedup_job.cli.console import StopSignals, console, save, working
from dedup_job.files import check_new, read_input
from dedup_job.messages import Message, UsageError, asked_language, counted, joined, localized
from dedup_job.printing import command_line
from dedup_job.report.output import Output, new_table, number_columns
from dedup_job.runs.survey import Proportion

if TYPE_CHECKING:
    from dedup_job.commands.learn import LearnResult
    from dedup_job.settings import Settings

_MOST = 10_000
_LARGEST = 1 << 30  # bytes of a file of labels
_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")


@opt.of_target
def review(
    target: str = opt.TARGET,
    port: int = opt.value("Port of this machine; 0 takes one that is free.", "N", default=0),
    name: str | None = opt.value("Who answers [default: the name of the user].", "NAME"),
    no_browser: bool = opt.flag("Only print the address.", "--no-browser"),
    sample: int = opt.value("Pairs to look at, 1 to 10,000.", "N", default=100),
    seed: int = opt.value("Seed of the sample.", "N", default=0),
    export: Path | None = opt.value(
        "Only write the labels of all names as JSON lines; - to print.", "FILE"
    ),
    import_: str | None = opt.value("Only store labels from JSON lines.", "FILE", "--import"),
    overwrite: bool = opt.OVERWRITE,
    *,
    options: opt.SharedOptions,
) -> None:
    """Label pairs in the browser: same, different or unsure.

    Near duplicates and pairs that were kept apart are shown by turns: first the least certain
    ones, half of the sample, then one of each class of difference and each guard, then others at
    random. Each answer is stored at once in T.labels, by name; the same command goes
    on where it ended. The page shows precision and recall within the sample. It is served to this
    machine only, at an address that holds a secret; Ctrl-C ends it.

    --export and --import open no page. A line holds label (S same, D different, U unsure), a and b
    (the texts as the source holds them, the kept document first), id_a and id_b (extended JSON),
    kind, decision, similarity, name and when. Of these an import needs label, id_a and id_b;
    it stores all lines, or none if one is wrong. Of two labels of one pair and name the later one
    stays.
    """
    if export is not None and import_ is not None:
        raise UsageError("--export and --import exclude each other.")
    opt.check_range("--port", port, 0, 65_535)
    opt.check_range("--sample", sample, 1, _MOST)
    opt.check_range("--seed", seed, 0, 2**63 - 1)
    use, settings = commands.review, options.load()
    if export is not None:
        if str(export) != "-":
            check_new("--export", export, overwrite=overwrite)
        _export(settings, target, export)
    elif import_ is not None:
        _import(settings, target, read_input(import_, _LARGEST), use.own_name(name))
    else:
        server, name = _import_server(), use.own_name(name)
        with server.bound(port) as socket, ExitStack() as stack:
            with working(Message("ended; no answer was stored.")) as progress:
                context = use.open_review(settings, target, name, (sample, seed), progress)
                opened = stack.enter_context(context)
            about = {"name": opened.name, "place": opened.stored_in}
            ended = Message("ended; what {name} answered is stored in {place}.", **about)
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="dedup-"))
            ready = partial(_announce, opened, None if no_browser else Path(folder))
            with StopSignals(ended):
                server.serve(opened, socket, ready, asked_language())


def _export(settings: Settings, target: str, file: Path) -> None:
    with working(Message("ended; the file was not written.")) as progress:
        lines = [f"{line}\n" for line in commands.review.export_labels(settings, target, progress)]
    if str(file) == "-":
        typer.echo("".join(lines), nl=False)
        return
    save(file, "".join(lines), Message("the labels"))
    console().say(Message("{number:,} labels: {file}", number=len(lines), file=file))


def _import(settings: Settings, target: str, text: str, name: str) -> None:
    lines = text.split("\n")
    with working(Message("ended; no label was stored.")) as progress:
        count = commands.review.import_labels(settings, target, lines, name, progress)
    line = Message("{number:,} labels are new or later than those that were there", number=count)
    typer.echo(localized(line))


def _import_server() -> Any:
    try:
        import dedup_job.server as server  # here: an extra
    except ModuleNotFoundError as e:
        if (e.name or "").partition(".")[0] not in ("starlette", "uvicorn"):
            raise
        raise UsageError(
            "dedup review needs {name}, which is not installed: pip install 'dedup-job[review]'",
            name=e.name,
        ) from e
    return server


def _announce(opened: Any, folder: Path | None, address: str) -> None:
    """Print an address and open it in a browser, unless `folder` is None.

    The address holds the token, and all users of a machine see the arguments of a process: so the
    browser gets a file in this private folder that leads to the address.
    """
    about = {"target": opened.target, "name": opened.name, "address": address}
    about["place"] = opened.stored_in
    for line in (
        Message("{target}, reviewed by {name}: {address}", **about),
        Message("Answers are stored at once in {place}. Ctrl-C ends the page.", **about),
    ):
        typer.echo(localized(line))
    if folder is None:
        return
    file, to = folder / "review.html", html.escape(address)
    file.write_text(f'<meta http-equiv="refresh" content="0; url={to}"><a href="{to}">{to}')
    if not _open_in_browser(file.as_uri()):
        console().say(Message("No browser was found here: open the address in one."))


def _open_in_browser(address: str) -> bool:
    """Open a browser with windows; one in the terminal would hide this command."""
    if sys.platform.startswith("linux") and not any(map(os.environ.get, _DISPLAYS)):
        return False
    with suppress(webbrowser.Error, OSError):
        return webbrowser.open(address)
    return False


_NAMED = 10  # contradictions that are printed


@opt.of_target
def learn(
    target: str = opt.TARGET,
    pairs: list[str] | None = opt.value(
        "More labelled pairs, JSON lines with a, b and label (S same, D different, U "
        "unsure), as dedup review --export writes them; - for standard input; several times "
        "for several files.",
        "FILE",
    ),
    out: Path | None = opt.value(
        "File of the model [default: T.model.json in this folder].", "FILE"
    ),
    overwrite: bool = opt.OVERWRITE,
    *,
    options: opt.SharedOptions,
) -> None:
    """Make a model that judges as the labels of dedup review do, and settings that use it.

    The model that ships is calibrated on the labels. It is never changed itself: the new model is a
    file of its own, and beside it lies a settings file for --config, with the confidence that joins
    hardly any pair labelled different. The command prints how many labelled pairs each model joins;
    the new one is judged by cross-validation. A guard that the labels contradict is switched off,
    and named. Nothing is written to the database.
    """
    model = Path(f"{target.replace('/', '_')}.model.json") if out is None else out
    config = model.with_name(f"{model.name.removesuffix('.json')}.toml")
    for file in (model, config):
        check_new("--out", file, overwrite=overwrite)
    settings = options.load()
    files = {name: read_input(name, _LARGEST) for name in pairs or ()}
    with working() as progress:
        result = commands.learn.learn_target(settings, target, files, progress)
    document = json.dumps(result.learnt.document, ensure_ascii=False, separators=(",", ":"))
    save(model, f"{document}\n", Message("the model"))
    save(config, _settings_file(result.settings_with(model.resolve())), Message("the settings"))
    _tell(result, model, config, console())


def _settings_file(sections: dict[str, dict[str, Any]]) -> str:
    lines = ["# Written by dedup learn."]
    for section, values in sections.items():
        named = {name: value for name, value in values.items() if value is not None}
        lines += [f"\n[{section}]"] if named else []
        lines += [opt.toml_line(name, value) for name, value in named.items()]
    return "\n".join(lines) + "\n"


def _tell(result: LearnResult, model: Path, config: Path, out: Output) -> None:
    run = ("run", "--source", result.source, "--target", f"{result.target}_learnt")
    last = (
        Message("{file}: the model", file=model),
        Message("{file}: the settings of {target} with it", file=config, target=result.target),
        Message(
            "A target holds what one model decided, so try it with a new one, and give --config "
            "to each command\non that target:"
        ),
        f"  {command_line(*run, '--config', config, '--dry-run')}",
    )
    out.say(joined(_counts(result), "\n"))
    out.say()
    out.table(_joined(result))
    out.say(
        Message("The new model is judged by cross-validation: each part by a model of the others.")
    )
    if result.learnt.own.same.joined <= result.learnt.shipped.same.joined:
        no_more = Message(
            "The new model joins no more of the same than the one that ships: keep that one, or "
            "label\nmore pairs."
        )
        out.say(no_more)
    out.say()
    out.say(joined(last, "\n"))


def _counts(result: LearnResult) -> Iterator[Message]:
    counts = {"same": result.same, "different": result.different, "target": result.target}
    pairs = counted(result.same + result.different, "labelled pair")
    yield Message(
        "{pairs} of {target}: {same:,} same, {different:,} different", pairs=pairs, **counts
    )
    if result.unsure:
        yield Message("left out: {number:,} unsure", number=result.unsure)
    if result.unusable:
        yield Message(
            "left out: {number:,} with a text that is gone, or with equal texts",
            number=result.unusable,
        )
    if many := len(result.contradictions):
        labels = counted(many, "label")
        yield Message("{labels} contradicted by a later one:", labels=labels)
        for line in result.contradictions[:_NAMED]:
            yield Message("  {line}", line=line)
        if many > _NAMED:
            yield Message("  ... and {number:,} more", number=many - _NAMED)
    if off := ", ".join(result.learnt.off):
        yield Message("switched off, since the labels contradict it: {guards}", guards=off)
    if refused := result.learnt.refused:
        names = ", ".join(f"{name} {number:,}" for name, number in refused.items())
        yield Message(
            "labelled same, and kept apart by a guard all the same: {guards}", guards=names
        )


def _joined(result: LearnResult) -> Table:
    learnt = result.learnt
    shares = number_columns("", Message("of the same"), Message("of the different"))
    table = new_table(Message("joined at a confidence"), *shares)
    for name, one in (
        (Message("the model that ships, now"), learnt.shipped),
        (Message("the same, by these labels"), learnt.shipped_best),
        (Message("the new model"), learnt.own),
    ):
        table.add_row(name, f"{one.confidence:g}", _share(one.same), _share(one.different))
    return table


def _share(numbers: tuple[int, int]) -> Message:
    low, high = (100 * end for end in Proportion(*numbers).interval)
    named = {"part": numbers[0], "whole": numbers[1], "low": low, "high": high}
    return Message("{part:,} of {whole:,} ({low:.0f}-{high:.0f} %)", **named)
