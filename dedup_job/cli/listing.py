"""`dedup list` and `dedup report`: documents of a target as lists and as a page."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.text import Text

from dedup_job import commands
from dedup_job.cli import options as opt
from dedup_job.cli.console import console, is_output_open, save, working
from dedup_job.files import check_new
from dedup_job.messages import Message, UsageError, asked_language, counted, joined, localized
from dedup_job.printing import escaped, escaped_json
from dedup_job.report import pairs
from dedup_job.report.output import Output, whole
from dedup_job.runs.decided import KEPT, DecidedDocument, ListFilter, ListKind

if TYPE_CHECKING:
    from dedup_job.commands.look import Sample
    from dedup_job.runs.survey import Survey
    from dedup_job.settings import Settings

    _Query = tuple[Settings, str, ListFilter]

_IN_A_TABLE, _MOST_SHOWN = 20, 10_000
_MOST = 2**53
_LEAST = 10  # columns of a text at the end of a line


class _Format(StrEnum):
    TABLE = "table"
    JSONL = "jsonl"
    CSV = "csv"
    IDS = "ids"


@opt.of_target
def list_(
    what: ListKind = typer.Option(
        ...,
        help="dropped: all duplicates; near, exact: some of them; refused: kept documents that "
        "were nearly duplicates; kept: all of them; skipped, quarantined: documents that were "
        "not compared; groups: kept documents with their number of duplicates; changed, "
        "deleted: documents that were changed or deleted in the source after they were "
        "decided; only runs that follow its change stream find them.",
    ),
    target: str = opt.TARGET,
    of: str | None = opt.value("Only pairs with this kept document, by its _id.", "ID"),
    kind: str | None = opt.value(
        "Only pairs with a difference of this kind; for `refused`: pairs that this keeps "
        "apart, a guard or unlikely.",
        "CLASS",
        "--class",
    ),
    run: int | None = opt.value("Only what run N decided or found.", "N"),
    form: _Format = typer.Option(
        _Format.TABLE,
        "--format",
        help="table: to read; jsonl, csv: for programs; ids: one per line, as dedup restore "
        "--ids and dedup inspect read them.",
    ),
    texts: bool = opt.flag("The cleaned texts as well; in a table side by side.", "--texts"),
    limit: int | None = opt.value(
        "Show N at most [default: 20 in a table or at random, else all].", "N"
    ),
    random: bool = opt.flag("Draw pairs at random: dropped, near, exact, refused.", "--random"),
    seed: int | None = opt.value(
        "Of --random: the same seed draws the same pairs [default: 0].", "N"
    ),
    *,
    options: opt.SharedOptions,
) -> None:
    """List what was dropped, what nearly was, groups and others.

    A table has a line for each pair, with their differences marked: of duplicates those with the
    largest part left out of the comparison first, then the least likely; of refused pairs the
    likeliest first, with the guard that keeps them apart; where similarity decides,
    it takes the place of the probability. The other formats list
    all in the order of _id, groups with the most duplicates first, and take the same memory however
    long the list is. With --random all pairs have the same chance, so the share of wrong ones among
    them is about that of all; the same seed draws the same pairs, while no more are added. Nothing
    is written.
    """
    if run is not None:
        opt.check_range("--run", run, 1, _MOST)
    if seed is not None:
        opt.check_range("--seed", seed, 0, _MOST)
        if not random:
            raise UsageError("--seed is for --random.")
    most = _MOST_SHOWN if form is _Format.TABLE or random else _MOST
    if limit is not None:
        opt.check_range("--limit", limit, 1, most)
    if texts and form is _Format.IDS:
        raise UsageError("--texts is not for {form}.", form=str(form))
    query = options.load(), target, ListFilter(what, of, kind, run)
    _list(query, form, limit, (seed or 0) if random else None, texts=texts)


def _list(
    query: _Query, form: _Format, limit: int | None, seed: int | None, *, texts: bool
) -> None:
    as_table, use = form is _Format.TABLE, commands.look
    if as_table or seed is not None:
        size = limit or _IN_A_TABLE, seed
        with working() as progress:
            sample = use.sample_pairs(*query, *size, progress, texts=as_table or texts)
        if as_table:
            _show(sample, query[-1].what, console(), texts=texts)
        else:
            _write([sample.documents], form, texts=texts)
        return
    with working() as progress:
        if form is _Format.IDS:
            _write(use.list_ids(*query, progress, limit=limit), form)
        else:
            pages = use.list_documents(*query, progress, limit=limit, texts=texts)
            _write(pages, form, texts=texts)


def _write(pages: Iterable[Sequence[Any]], form: _Format, *, texts: bool = False) -> None:
    encode = json.JSONEncoder(ensure_ascii=False).encode
    for number, page in enumerate(filter(None, pages)):
        if form is _Format.IDS:
            lines = "\n".join(one if isinstance(one, str) else one.id for one in page)
        elif form is _Format.JSONL:
            lines = escaped_json("\n".join(encode(one.as_json(texts=texts)) for one in page))
        else:
            lines = _csv([one.as_row(texts=texts) for one in page], names=not number)
        typer.echo(lines)
        if not is_output_open():
            return


def _csv(rows: Sequence[dict[str, Any]], *, names: bool) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if names:
        writer.writerow(rows[0])
    for row in rows:
        kinds = " ".join(dict.fromkeys(one["class"] for one in row.get("differences", ())))
        writer.writerow((row | {"differences": kinds} if "differences" in row else row).values())
    return text.getvalue().removesuffix("\n")


def _show(sample: Sample, what: str, console: Output, *, texts: bool) -> None:
    if not sample.documents:
        console.say(Message("No document of {what}.", what=Message(str(what))))
        return
    for number, one in enumerate(sample.documents, 1):
        if texts:
            _show_block(one, number, console)
        else:
            console.say(_line(one, console))
    shown = Message(
        "shown: {number:,} of {total:,}.", number=len(sample.documents), total=sample.total
    )
    marked = what != ListKind.EXACT and any(one.of for one in sample.documents)
    marks = [pairs.legend(console)] if marked else []
    more = Message("`--texts` shows whole texts, `dedup inspect --target T ID` all of one.")
    console.paragraph(joined([shown, *marks, more]))


def _line(one: DecidedDocument, console: Output) -> Text:
    line = Text(pairs.visible(localized(_short_head(one))))
    line.append(f"  {escaped(one.id)}")
    width = console.line_width - line.cell_len - 2
    if width < _LEAST:
        return line
    if one.of and one.text is not None and one.other is not None and one.text != one.other:
        text = pairs.marked_line(one.other, one.text, console, width)
    elif one.text is not None:
        text = Text(pairs.visible(one.text[:width]))
    else:
        no_text = Message("its text is gone") if one.of else ""
        text = Text(pairs.visible(localized(one.detail or no_text)))
    text.truncate(width, overflow="ellipsis")
    return line.append("  ").append_text(text) if text else line


def _short_head(one: DecidedDocument) -> Message:
    sure = one.pair.similarity if one.pair.probability is None else one.pair.probability
    if one.duplicates is not None or not one.reason:
        return _head(one)
    if sure is None or one.reason not in ("near", "unlikely", "similarity"):
        return pairs.display_name(one.reason)
    if one.pair.left_out:
        return Message(
            "{sure}, {share:.0%} not compared",
            sure=pairs.measure_text(sure),
            share=one.pair.left_out,
        )
    return Message(pairs.measure_text(sure))


def _show_block(one: DecidedDocument, number: int, console: Output) -> None:
    head = Message("{number}. {head}", number=number, head=_head(one))
    console.say(pairs.visible(localized(head)))
    named = {"_id": one.id, "of": one.of, "against": one.against}
    console.rows(((name, whole(value)) for name, value in named.items() if value), indent=2)
    if one.of:
        later = Message("kept as well") if one.decision == KEPT else Message("dropped")
        console.blocks([pairs.both_texts((Message("kept"), later), one.other, one.text, console)])
        console.say()
    elif one.text is not None:
        console.say(f"  {localized(pairs.beginning(one.text))}")


def _head(one: DecidedDocument) -> Message:
    if one.duplicates is not None:
        return counted(one.duplicates, "duplicate")
    if one.decision == KEPT and one.of:
        apart = Message("kept apart: {what}", what=pairs.display_name(one.reason))
        return joined([apart, *pairs.measures(one.pair)], ", ")
    if one.decision == KEPT:
        return Message("kept by run {run}", run=one.run) if one.run else Message("kept")
    if one.decision == ListKind.CHANGED:
        return Message("changed in the source, found by run {run}", run=one.run)
    if not one.reason:
        return Message("deleted in the source, found by run {run}", run=one.run)
    parts = [Message(one.reason), *pairs.measures(one.pair)]
    if share := one.pair.left_out:
        parts.append(Message("{share:.0%} of a text not compared", share=share))
    head = joined(parts, ", ")
    return Message("{head}: {detail}", head=head, detail=one.detail) if one.detail else head


@opt.of_target
def report(
    target: str = opt.TARGET,
    html: Path = opt.value("Page to write: one file, opens offline.", "FILE", default=...),
    overwrite: bool = opt.OVERWRITE,
    *,
    options: opt.SharedOptions,
) -> None:
    """Write a page of kept and dropped documents, with samples.

    The page shows counts, similarities, pairs side by side, the largest groups, and the runs. It
    holds texts of the collection: treat it as you treat the collection. Nothing is written to the
    database.
    """
    check_new("--html", html, overwrite=overwrite, again=True)
    settings = options.load()
    with working() as progress:
        survey = commands.look.survey_target(settings, target, progress)
        progress.stage(Message("writing the page"))
        write_page(survey, html)
    size = html.stat().st_size / 1e6
    console().say(Message("{file}: {size:.2f} MB; open it in a browser.", file=html, size=size))


def write_page(survey: Survey, file: Path) -> None:
    """Write the HTML page of a survey to a file; DedupError if that fails."""
    from dedup_job.pages import report_page  # here: --help should not wait for it

    page = report_page(survey, asked_language())
    save(file, page, Message("the page"), Message("Choose another --html FILE."))
