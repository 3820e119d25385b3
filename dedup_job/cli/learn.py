"""`dedup learn`: a model for one collection."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from dedup_job import commands
from dedup_job.cli.console import confirm, console, save, working
from dedup_job.cli.options import OF_A_TARGET, Given, Target, with_options
from dedup_job.files import check_writable, read_input
from dedup_job.printing import command_line, counted
from dedup_job.report.output import Output, figures, new_table
from dedup_job.runs.asked_pairs import Share

if TYPE_CHECKING:
    from dedup_job.commands.learn import Lesson
    from dedup_job.judgment.learning import Figures

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
            "unsure), as dedup labels export writes them; - for standard input; several times for "
            "several files.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="File of the model [default: T.model.json in this folder]."
        ),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Replace files that are there without asking.")
    ] = False,
    *,
    options: Given,
) -> None:
    """Make a model that judges as the labels of dedup review do, and settings that use it.

    The model that ships is calibrated on the labels. With 20 of each kind or more it learns from
    them as well: pip install "dedup-job[learn]". It is never changed itself: the new model is a
    file of its own, and beside it lies a settings file for --config, with the confidence that joins
    hardly any pair labelled different. The command prints how many labelled pairs each model joins;
    the new one is judged by cross-validation. A guard that the labels contradict is switched off,
    and named. Nothing is written to the database.
    """
    model = Path(f"{target.replace('/', '_')}.model.json") if out is None else out
    config = model.with_name(f"{model.name.removesuffix('.json')}.toml")
    for file in (model, config):
        check_writable("--out", file)
    settings = options.load()
    files = {name: read_input(name, _LARGEST) for name in pairs or ()}
    if not yes and (there := [str(file) for file in (model, config) if file.exists()]):
        confirm(f"Replace {' and '.join(there)}?", "nothing was written")
    with working() as progress:
        lesson = commands.learn.learn_target(settings, target, files, progress)
    save(model, lesson.file(), "the model")
    save(config, lesson.settings_file(model.resolve()), "the settings")
    _tell(lesson, model, config, console())


def _tell(lesson: Lesson, model: Path, config: Path, out: Output) -> None:
    learnt = lesson.learnt
    out.say(
        f"{counted(lesson.same + lesson.different, 'labelled pair')} of {lesson.target}: "
        f"{lesson.same:,} same, {lesson.different:,} different"
    )
    for number, what in (
        (lesson.unsure, "unsure"),
        (lesson.gone, "with a text that is gone, or with equal texts"),
    ):
        if number:
            out.say(f"left out: {number:,} {what}")
    if lesson.contradictions:
        out.say(f"{counted(len(lesson.contradictions), 'label')} contradicted by a later one:")
        for line in lesson.contradictions[:_NAMED]:
            out.say(f"  {line}")
        if len(lesson.contradictions) > _NAMED:
            out.say(f"  ... and {len(lesson.contradictions) - _NAMED:,} more")
    if learnt.off:
        out.say(f"switched off, since the labels contradict it: {', '.join(learnt.off)}")
    if learnt.refused:
        names = ", ".join(f"{name} {number:,}" for name, number in learnt.refused.items())
        out.say(f"labelled same, and kept apart by a guard all the same: {names}")
    out.say()
    out.table(_joined(lesson))
    out.say("The new model is judged by cross-validation: each part by a model of the others.")
    if learnt.too_few:
        needed = commands.learn.NEEDED
        out.say(
            f"It is calibrated only: it learns from {needed} labels of each kind or more that no "
            "guard keeps\napart."
        )
    elif not lesson.extra:
        out.say('It is calibrated only. To let it learn: pip install "dedup-job[learn]"')
    elif not learnt.grown:
        out.say("It is calibrated only: to learn more did not help.")
    if learnt.own.same.joined <= learnt.shipped.same.joined:
        out.say(
            "The new model joins no more of the same than the one that ships: keep that one, or "
            "label\nmore pairs."
        )
    out.say(f"\n{model}: the model\n{config}: the settings of {lesson.target} with it")
    run = ("run", "--source", lesson.source, "--target", f"{lesson.target}_learnt")
    out.say(
        "A target holds what one model decided, so try it with a new one, and give --config to "
        "each command\non that target:\n"
        f"  {command_line(*run, '--config', config, '--dry-run')}"
    )


def _joined(lesson: Lesson) -> Table:
    learnt = lesson.learnt
    table = new_table("joined at a confidence", *figures("", "of the same", "of the different"))
    for name, one in (
        ("the model that ships, now", learnt.shipped),
        ("the same, by these labels", learnt.shipped_best),
        ("the new model", learnt.own),
    ):
        table.add_row(name, f"{one.confidence:g}", *_shares(one))
    return table


def _shares(one: Figures) -> list[str]:
    found = [Share(*each) for each in (one.same, one.different)]
    ends = [[f"{100 * end:.0f}" for end in share.interval] for share in found]
    return [
        f"{share.part:,} of {share.whole:,} ({low}-{high} %)"
        for share, (low, high) in zip(found, ends, strict=True)
    ]
