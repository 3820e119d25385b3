"""`dedup demo`: what was planted, what became of it, and why some is not as due."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.table import Table
from rich.text import Text

from dedup_job import commands
from dedup_job.cli.console import console
from dedup_job.cli.run import tell
from dedup_job.cli.signals import StopSignals
from dedup_job.demo import Deviation, Kind, due
from dedup_job.judgment import UNLIKELY
from dedup_job.judgment.guards import GUARDS
from dedup_job.report.output import Output, figures, new_table
from dedup_job.report.progress import shown_progress

if TYPE_CHECKING:
    from dedup_job.demo import Score

WHAT_IT_IS: Final[Mapping[Kind, str]] = {
    Kind.ORIGINAL: "a text of its own",
    Kind.EXACT_COPY: "the same text",
    Kind.MARKUP_COPY: "the same text in other HTML",
    Kind.NEAR_COPY: "a typo, a note, other commas",
    Kind.NUMBER_CHANGED: "asks with another number",
    Kind.POLARITY_CHANGED: "asks for the opposite",
    Kind.SHORT: "8 characters at most",
    Kind.SHORT_COPY: "the same short text",
    Kind.EMPTY: "HTML or spaces without words",
    Kind.MISSING: "the field is missing",
    Kind.NOT_TEXT: "a number, a list, bytes ...",
}
_GUARDS: Final = {guard.name: guard.why for guard in GUARDS}
_MOST = 20  # characters of an example


def demo(
    documents: Annotated[
        int, typer.Option(metavar="N", min=100, help="How many documents to make, roughly.")
    ] = 5000,
    seed: Annotated[
        int, typer.Option(metavar="N", help="Seed of the random documents.")
    ] = 20260101,
    embedded: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep the server's data in DIR [default: thrown away]."),
    ] = None,
) -> None:
    """Make labelled documents, run on them, check the result; on a MongoDB server of its own."""
    out = console()
    with StopSignals() as stop, shown_progress() as progress:
        watch = commands.run.Watch(progress, stop, stop.wait_for_batch)
        done = commands.demo.run_demo(documents, seed, embedded, watch, out.say)
    tell(done.report, None, stop)
    show_result(out, done.score, done.deviations)
    out.say(
        "\nOn your own data (whole documents go to the target; the source is only read):\n"
        "  export DEDUP_URI='mongodb://user:password@host:27017'\n"
        "  dedup run --source DATABASE.COLLECTION --target DATABASE.COLLECTION_unique "
        "--field text --dry-run"
    )
    if done.score.lost or done.score.doubled:
        raise typer.Exit(1)


def show_result(out: Output, result: Score, deviations: Iterable[Deviation]) -> None:
    """Print a row for each kind, then why some documents are not as due."""
    out.say(Text("\nWhat was planted, and what became of it", style="bold"))
    out.table(_planted(result))
    out.say(
        f"planted duplicates found: {result.found:,} of {result.planted:,}\n"
        f"innocents dropped: {result.innocents_dropped:,}\n"
        f"documents lost: {result.lost:,}, both kept and dropped: {result.doubled:,}"
    )
    if reasons := [*_reasons(deviations)]:
        out.say(Text("\nNot as due, and why", style="bold"))
        out.rows(reasons)
        out.say("On your own data, `dedup inspect ID --target T` shows this for any document.")


def _planted(result: Score) -> Table:
    table = new_table("kind", "what it is", *figures("documents"), "due", *figures("as due"))
    for row in result.rows():
        kind, figure = row.kind, f"{row.documents:,}"
        table.add_row(str(kind), WHAT_IT_IS[kind], figure, due(kind), f"{row.as_due:,}")
    return table


def _reasons(deviations: Iterable[Deviation]) -> Iterator[tuple[str, str]]:
    """Yield a kind, and why so many of it are not as due with the first of them as an example."""
    for _, same in groupby(sorted(deviations, key=_group), key=_group):
        of_one_reason = [*same]
        first = of_one_reason[0]
        why = _why(len(of_one_reason), first)
        yield str(first.kind), "\n".join(filter(None, [why, _example(first)]))


def _group(one: Deviation) -> tuple[int, str, str, bool, bool]:
    return [*Kind].index(one.kind), one.became, one.reason, not one.words, not one.other


def _why(count: int, one: Deviation) -> str:
    match one.became, one.reason:
        case "kept", "":
            return f"{count:,} kept: no kept document was found near."
        case "kept", reason if reason == UNLIKELY:
            return _unsure(count, one)
        case "kept", reason if reason in _GUARDS:
            return f"{count:,} kept by the guard {reason}: {_GUARDS[reason]}"
        case "duplicate", "near":
            return f"{count:,} dropped: judged the same as a kept document."
        case "duplicate", "exact":
            return f"{count:,} dropped: the texts are equal but for markup."
        case "lost", _:
            return f"{count:,} lost: in neither target nor ledger."
        case "doubled", _:
            return f"{count:,} both kept and dropped: in target and ledger."
        case became, reason:
            return f"{count:,} {became}, with the reason {reason}."


def _unsure(count: int, one: Deviation) -> str:
    match bool(one.words), bool(one.other):
        case True, True:
            return f"{count:,} kept: a word is replaced; the model is not sure that it is a slip."
        case True, False:
            return f"{count:,} kept: words are added; the model is not sure that they are a note."
        case False, True:
            return f"{count:,} kept: words are left out; the model is not sure that it is a slip."
        case _:
            return f"{count:,} kept: the model is not sure that both say the same."


def _example(one: Deviation) -> str:
    """Return what differs in one document; nothing where no words do."""
    words, other = _short(one.words), _short(one.other)
    match bool(words), bool(other):
        case True, True:
            return f'Document {one.number} says "{words}" where document {one.of} says "{other}".'
        case True, False:
            return f'Document {one.number} has "{words}", which document {one.of} lacks.'
        case False, True:
            return f'Document {one.number} lacks "{other}", which document {one.of} has.'
        case _:
            return ""


def _short(text: str) -> str:
    return text if len(text) <= _MOST else f"{text[:_MOST]} ..."
