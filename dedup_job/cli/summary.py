"""The summary of a run for a mail: what came, what was dropped, pairs to look at, what to do."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from dedup_job import commands
from dedup_job.cli.console import save
from dedup_job.cli.differences import legend, marked_line
from dedup_job.messages import Message, chosen_language, joined
from dedup_job.printing import on_one_line
from dedup_job.report.labels import measures
from dedup_job.report.output import Output
from dedup_job.report.pieces import pieces_of
from dedup_job.report.terminal import in_a_line, next_steps, remarks
from dedup_job.runs.list_filter import ListFilter, What

if TYPE_CHECKING:
    from dedup_job.runs.decided import DecidedDocument
    from dedup_job.runs.run import Run
    from dedup_job.settings import Settings

_PAIRS = 5  # of each of the two kinds
_WIDTH = 76  # columns of a mail
_KINDS = {
    What.NEAR: Message("Dropped, the most doubtful first"),
    What.REFUSED: Message("Kept, though nearly dropped"),
}


def write_summary(file: Path, run: Run, settings: Settings) -> None:
    """Write the summary of a run: a page where the name says so, else plain text."""
    pairs = {}
    for kind, title in _KINDS.items() if run.counts.scanned else ():
        wanted, where = ListFilter(kind, run=run.number), (settings, run.about.target)
        if found := commands.listing.sample_pairs(*where, wanted, _PAIRS):
            pairs[title] = found
    is_page = file.suffix.lower() in (".html", ".htm")
    save(file, (_as_page if is_page else _as_text)(run, pairs), Message("the summary"))


def _as_page(run: Run, pairs: dict[Message, list[DecidedDocument]]) -> str:
    from dedup_job.pages.cell import summary_page  # here: few runs need it

    steps = [*next_steps(run)]
    return summary_page(
        run.about.target, in_a_line(run), [*remarks(run)], pairs, steps, chosen_language()
    )


def _as_text(run: Run, pairs: dict[Message, list[DecidedDocument]]) -> str:
    text = io.StringIO()
    out = Output(text, width=_WIDTH, colour=False)
    for sentence in (in_a_line(run), *remarks(run)):
        out.paragraph(sentence)
        out.say()
    for title, found in pairs.items():
        out.say(title)
        for one in found:
            _say_pair(one, out)
        out.say()
    if pairs:
        out.paragraph(legend(out))
        out.say()
    for what, command in next_steps(run):
        out.say(what)
        out.say(f"  {command}")
    return text.getvalue()


def _say_pair(one: DecidedDocument, out: Output) -> None:
    """Print the ids of a pair, how alike it is, and what differs on a line."""
    ids = Message("{of} and {id}", of=on_one_line(one.of), id=on_one_line(one.id))
    out.say(joined(["- ", joined([ids, *measures(one.pair)], ", ")], ""))
    if one.text is not None and one.other is not None:
        out.rows([("", marked_line(pieces_of(one.other, one.text), out, _WIDTH))])
