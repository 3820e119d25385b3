"""Pairs and counts for a notebook's cell or a mail: in one language, inline styles, no script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from markupsafe import Markup

from dedup_job.messages import Message, in_language
from dedup_job.pages.render import HTML_LANGUAGE, environment
from dedup_job.runs.counts import Counts
from dedup_job.runs.decided import DecidedDocument


def cell(pairs: Sequence[DecidedDocument], counts: Counts | None, language: str) -> str:
    """Return pairs, with their counts and rates where there are any, as a piece of HTML.

    Every text is escaped. What differs is tinted, all else has the colours of the notebook.
    """
    template, html_language = environment().get_template("cell.html.j2"), HTML_LANGUAGE[language]
    return template.render(
        pairs=pairs, counts=counts, language=language, html_language=html_language
    )


def summary_page(
    target: str,
    headline: str,
    remarks: Sequence[str],
    pairs: Mapping[Message, Sequence[DecidedDocument]],
    steps: Sequence[tuple[str, str]],
    language: str,
) -> str:
    """Return the summary of a run as one HTML file for a mail: inline styles, no script.

    pairs: by their headings; steps: what can be done next, with the command for it.
    """
    said = partial(in_language, language=language)
    cells = {said(title): Markup(cell(found, None, language)) for title, found in pairs.items()}
    template = environment().get_template("summary.html.j2")
    return template.render(
        target=target,
        headline=said(headline),
        remarks=[*map(said, remarks)],
        pairs=cells,
        steps=[(said(what), command) for what, command in steps],
        html_language=HTML_LANGUAGE[language],
    )
