"""Pairs and counts as the value of a notebook's cell, in one language, without a script."""

from __future__ import annotations

from collections.abc import Sequence

from dedup_job.pages.render import HTML_LANGUAGE, environment
from dedup_job.runs.counts import Counts
from dedup_job.runs.decided import DecidedDocument


def cell(pairs: Sequence[DecidedDocument], counts: Counts | None, language: str) -> str:
    """Return pairs, with their counts and rates where there are any, as a piece of HTML.

    Every text is escaped. What differs is tinted, all else has the colours of the notebook.
    """
    return (
        environment()
        .get_template("cell.html.j2")
        .render(
            pairs=pairs, counts=counts, language=language, html_language=HTML_LANGUAGE[language]
        )
    )
