"""The page on which a person labels pairs, and the part of it that each answer replaces."""

from __future__ import annotations

from typing import Final

from markupsafe import Markup

from dedup_job.pages.render import environment
from dedup_job.printing import escaped
from dedup_job.runs.asked_pairs import AskedPair, ReviewProgress

STATIC: Final = {  # what the page loads: its file in this room, its type
    "page.css": ("page.css", "text/css"),
    "review.css": ("review.css", "text/css"),
    "look.js": ("look.js", "text/javascript"),
    "review.js": ("review.js", "text/javascript"),
    "htmx.min.js": ("assets/htmx.min.js", "text/javascript"),
}
_SHOWN = 6000  # characters of a text that are shown whole; of longer ones what differs


def empty_page(language: str) -> str:
    """Return the page before it is filled; language: see `render.report_page`."""
    return environment().get_template("review.html.j2").render(language=language)


def content_part(target: str, name: str, stored_in: str, panel: str) -> str:
    """Return what fills the page; name: who answers; panel: the part that changes."""
    template = environment().get_template("content.html.j2")
    return template.render(target=target, name=name, stored_in=stored_in, panel=Markup(panel))


def panel_part(
    target: str, asked: AskedPair | None, progress: ReviewProgress, last: AskedPair | None
) -> str:
    """Return the part of the page that changes. Every text is escaped.

    asked: the pair to answer, None if all have an answer; last: the one that was just answered.
    """
    template = environment().get_template("review_panel.html.j2")
    return template.render(target=target, asked=asked, progress=progress, last=last, most=_SHOWN)


def failure_part(why: str) -> str:
    """Return what takes the place of the page's message where nothing was done."""
    told_so = Markup('<p id="message" class="notice" role="alert">{}</p>')
    return told_so.format(escaped(why))
