"""`dedup report`: a page about a target."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dedup_job import commands
from dedup_job.cli.console import Overwrite, save, working
from dedup_job.cli.options import OF_A_TARGET, Given, Target, with_options
from dedup_job.files import check_new
from dedup_job.messages import Message, asked_language, localized

if TYPE_CHECKING:
    from dedup_job.runs.survey import Survey


@with_options(*OF_A_TARGET)
def report(
    target: Target,
    html: Annotated[
        Path, typer.Option("--html", metavar="FILE", help="Page to write: one file, opens offline.")
    ],
    overwrite: Overwrite = False,
    *,
    options: Given,
) -> None:
    """Write a page of kept and dropped documents, with samples.

    The page shows counts, similarities, pairs side by side, the largest groups, and the runs. It
    holds texts of the collection: treat it as you treat the collection. Nothing is written to the
    database.
    """
    check_new("--html", html, overwrite=overwrite, again=True)
    settings = options.load()
    with working() as progress:
        survey = commands.survey.survey_target(settings, target, progress)
        progress.stage(Message("writing the page"))
        write_page(survey, html)
    size = html.stat().st_size / 1e6
    said = Message("{file}: {size:.2f} MB; open it in a browser.", file=html, size=size)
    typer.echo(localized(said))


def write_page(survey: Survey, file: Path) -> None:
    """Write the page of a survey; DedupError where the file cannot be written."""
    from dedup_job.pages.render import report_page  # here: --help should not wait for it

    page = report_page(survey, asked_language())
    save(file, page, Message("the page"), Message("Choose another --html FILE."))
