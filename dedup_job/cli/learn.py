"""`dedup learn`: a model for one collection."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from dedup_job import commands
from dedup_job.cli.console import Overwrite, console, save, working
from dedup_job.cli.options import OF_A_TARGET, Given, Target, with_options
from dedup_job.files import check_new, read_input
from dedup_job.messages import Message, counted, joined
from dedup_job.printing import command_line
from dedup_job.report.output import Output, figures, new_table
from dedup_job.runs.asked_pairs import Share

if TYPE_CHECKING:
    from dedup_job.commands.learn import Lesson

_LARGEST = 1 << 30  # bytes of a file of pairs
_NAMED = 10  # contradictions that are printed


@with_options(*OF_A_TARGET)
def learn(
    target: Target,
    pairs: Annotated[
        list[str] | None,
        typer.Option(
            "--pairs",
            metavar="FILE",
            help="More labelled pairs, JSON lines with a, b and label (S same, D different, U "
            "unsure), as dedup review --export writes them; - for standard input; several times "
            "for several files.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="File of the model [default: T.model.json in this folder]."
        ),
    ] = None,
    overwrite: Overwrite = False,
    *,
    options: Given,
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
        lesson = commands.learn.learn_target(settings, target, files, progress)
    save(model, lesson.file(), Message("the model"))
    save(config, lesson.settings_file(model.resolve()), Message("the settings"))
    _tell(lesson, model, config, console())


def _tell(lesson: Lesson, model: Path, config: Path, out: Output) -> None:
    run = ("run", "--source", lesson.source, "--target", f"{lesson.target}_learnt")
    last = (
        Message("{file}: the model", file=model),
        Message("{file}: the settings of {target} with it", file=config, target=lesson.target),
        Message(
            "A target holds what one model decided, so try it with a new one, and give --config "
            "to each command\non that target:"
        ),
        f"  {command_line(*run, '--config', config, '--dry-run')}",
    )
    out.say(joined(_said(lesson), "\n"))
    out.say()
    out.table(_joined(lesson))
    out.say(joined(_new_model(lesson), "\n"))
    out.say()
    out.say(joined(last, "\n"))


def _said(lesson: Lesson) -> Iterator[Message]:
    counts = {"same": lesson.same, "different": lesson.different, "target": lesson.target}
    pairs = counted(lesson.same + lesson.different, "labelled pair")
    yield Message(
        "{pairs} of {target}: {same:,} same, {different:,} different", pairs=pairs, **counts
    )
    if lesson.unsure:
        yield Message("left out: {number:,} unsure", number=lesson.unsure)
    if gone := lesson.gone:
        yield Message(
            "left out: {number:,} with a text that is gone, or with equal texts", number=gone
        )
    if many := len(lesson.contradictions):
        labels = counted(many, "label")
        yield Message("{labels} contradicted by a later one:", labels=labels)
        for line in lesson.contradictions[:_NAMED]:
            yield Message("  {line}", line=line)
        if many > _NAMED:
            yield Message("  ... and {number:,} more", number=many - _NAMED)
    if off := ", ".join(lesson.learnt.off):
        yield Message("switched off, since the labels contradict it: {guards}", guards=off)
    if refused := lesson.learnt.refused:
        names = ", ".join(f"{name} {number:,}" for name, number in refused.items())
        yield Message(
            "labelled same, and kept apart by a guard all the same: {guards}", guards=names
        )


def _new_model(lesson: Lesson) -> Iterator[Message]:
    yield Message(
        "The new model is judged by cross-validation: each part by a model of the others."
    )
    if lesson.learnt.own.same.joined <= lesson.learnt.shipped.same.joined:
        yield Message(
            "The new model joins no more of the same than the one that ships: keep that one, or "
            "label\nmore pairs."
        )


def _joined(lesson: Lesson) -> Table:
    learnt = lesson.learnt
    shares = figures("", Message("of the same"), Message("of the different"))
    table = new_table(Message("joined at a confidence"), *shares)
    for name, one in (
        (Message("the model that ships, now"), learnt.shipped),
        (Message("the same, by these labels"), learnt.shipped_best),
        (Message("the new model"), learnt.own),
    ):
        table.add_row(name, f"{one.confidence:g}", _share(one.same), _share(one.different))
    return table


def _share(numbers: tuple[int, int]) -> Message:
    low, high = (100 * end for end in Share(*numbers).interval)
    named = {"part": numbers[0], "whole": numbers[1], "low": low, "high": high}
    return Message("{part:,} of {whole:,} ({low:.0f}-{high:.0f} %)", **named)
