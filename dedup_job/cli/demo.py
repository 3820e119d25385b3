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
from dedup_job.judgment.guards import GUARDS, why_of
from dedup_job.messages import Message, joined, localized
from dedup_job.report.output import Output, figures, new_table
from dedup_job.report.progress import shown_progress

if TYPE_CHECKING:
    from dedup_job.demo import Score

WHAT_IT_IS: Final[Mapping[Kind, Message]] = {
    Kind.ORIGINAL: Message("a text of its own"),
    Kind.EXACT_COPY: Message("the same text"),
    Kind.MARKUP_COPY: Message("the same text in other HTML"),
    Kind.NEAR_COPY: Message("a typo, a note, other commas"),
    Kind.NUMBER_CHANGED: Message("asks with another number"),
    Kind.POLARITY_CHANGED: Message("asks for the opposite"),
    Kind.SHORT: Message("8 characters at most"),
    Kind.SHORT_COPY: Message("the same short text"),
    Kind.EMPTY: Message("HTML or spaces without words"),
    Kind.MISSING: Message("the field is missing"),
    Kind.NOT_TEXT: Message("a number, a list, bytes ..."),
}
_GUARDS: Final = frozenset(guard.name for guard in GUARDS)
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
    tell(done.report, None, stop, stays=False)
    show_result(out, done.score, done.deviations)
    out.say()
    out.paragraph(
        Message(
            "On your own data: `dedup run` shows what the server holds, and asks. The source is "
            "only read.\n"
            "  export DEDUP_URI='mongodb://user:password@host:27017'\n"
            "  dedup run"
        )
    )
    if done.score.lost or done.score.doubled:
        raise typer.Exit(1)


def show_result(out: Output, result: Score, deviations: Iterable[Deviation]) -> None:
    """Print a row for each kind, then why some documents are not as due."""
    out.say()
    out.say(_title(Message("What was planted, and what became of it")))
    out.table(_planted(result))
    out.say(
        Message(
            "planted duplicates found: {found:,} of {planted:,}\n"
            "innocents dropped: {innocents:,}\n"
            "documents lost: {lost:,}, both kept and dropped: {doubled:,}",
            found=result.found,
            planted=result.planted,
            innocents=result.innocents_dropped,
            lost=result.lost,
            doubled=result.doubled,
        )
    )
    if reasons := [*_reasons(deviations)]:
        out.say()
        out.say(_title(Message("Not as due, and why")))
        out.rows(reasons)


def _title(text: Message) -> Text:
    return Text(localized(text), style="bold")


def _planted(result: Score) -> Table:
    kind, what, count = Message("kind"), Message("what it is"), Message("documents")
    table = new_table(kind, what, *figures(count), Message("due"), *figures(Message("as due")))
    for row in result.rows():
        figure, right = f"{row.documents:,}", f"{row.as_due:,}"
        table.add_row(str(row.kind), WHAT_IT_IS[row.kind], figure, Message(due(row.kind)), right)
    return table


def _reasons(deviations: Iterable[Deviation]) -> Iterator[tuple[str, Message]]:
    """Yield each kind with a reason why documents are not as due, and the first as an example."""
    for _, same in groupby(sorted(deviations, key=_group), key=_group):
        of_one_reason = [*same]
        first = of_one_reason[0]
        said = [_why(len(of_one_reason), first), *_example(first)]
        yield str(first.kind), joined(said, "\n")


def _group(one: Deviation) -> tuple[int, str, str, bool, bool]:
    return [*Kind].index(one.kind), one.became, one.reason, not one.words, not one.other


def _why(count: int, one: Deviation) -> Message:
    match one.became, one.reason:
        case "kept", "":
            return Message("{count:,} kept: no kept document was found near.", count=count)
        case "kept", reason if reason == UNLIKELY:
            return _unsure(count, one)
        case "kept", reason if reason in _GUARDS:
            why = why_of(reason)
            return Message(
                "{count:,} kept by the guard {guard}: {why}", count=count, guard=reason, why=why
            )
        case "duplicate", "near":
            return Message("{count:,} dropped: judged the same as a kept document.", count=count)
        case "duplicate", "exact":
            return Message("{count:,} dropped: the texts are equal but for markup.", count=count)
        case "lost", _:
            return Message("{count:,} lost: in neither target nor ledger.", count=count)
        case "doubled", _:
            return Message("{count:,} both kept and dropped: in target and ledger.", count=count)
        case became, reason:
            return Message(
                "{count:,} {became}, with the reason {reason}.",
                count=count,
                became=became,
                reason=reason,
            )


def _unsure(count: int, one: Deviation) -> Message:
    match bool(one.words), bool(one.other):
        case True, True:
            return Message(
                "{count:,} kept: a word is replaced; the model is not sure that it is a slip.",
                count=count,
            )
        case True, False:
            return Message(
                "{count:,} kept: words are added; the model is not sure that they are a note.",
                count=count,
            )
        case False, True:
            return Message(
                "{count:,} kept: words are left out; the model is not sure that it is a slip.",
                count=count,
            )
        case _:
            return Message(
                "{count:,} kept: the model is not sure that both say the same.", count=count
            )


def _example(one: Deviation) -> Iterator[Message]:
    """Yield what differs in one document; nothing where no words do."""
    values = {
        "id": one.number,
        "of": one.of,
        "words": _short(one.words),
        "other": _short(one.other),
    }
    match bool(one.words), bool(one.other):
        case True, True:
            yield Message(
                'Document {id} says "{words}" where document {of} says "{other}".', **values
            )
        case True, False:
            yield Message('Document {id} has "{words}", which document {of} lacks.', **values)
        case False, True:
            yield Message('Document {id} lacks "{other}", which document {of} has.', **values)


def _short(text: str) -> str:
    return text if len(text) <= _MOST else f"{text[:_MOST]} ..."
