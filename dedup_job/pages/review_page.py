"""The page on which a person labels pairs, and the part of it that each answer replaces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from markupsafe import Markup

from dedup_job.pages.render import HTML_LANGUAGE, environment, visible, words
from dedup_job.printing import command_line
from dedup_job.runs.asked_pairs import AskedPair, ReviewProgress

STATIC: Final = {  # what the page loads: its file in this room, its type
    "page.css": ("page.css", "text/css"),
    "review.css": ("review.css", "text/css"),
    "look.js": ("look.js", "text/javascript"),
    "review.js": ("review.js", "text/javascript"),
    "htmx.min.js": ("assets/htmx.min.js", "text/javascript"),
}
LARGEST: Final = 1 << 20  # bytes of what the page sends at once, a file of labels at most
_SHOWN = 6000  # characters of a text that are shown whole; of longer ones what differs


@dataclass(frozen=True, slots=True)
class ReviewPanel:
    """What the changing part of the page says.

    asked: the pair to answer, None where all have an answer; last: the one that was just answered;
    message: the outcome of another request.
    """

    asked: AskedPair | None
    progress: ReviewProgress
    last: AskedPair | None = None
    message: str = ""


@dataclass(frozen=True, slots=True)
class Heading:
    """What the page is about: the target, who answers, where the answers are stored."""

    target: str
    name: str
    stored_in: str


def empty_page(language: str) -> str:
    """Return the page before it is filled; language: `en` or `zh`, shown first."""
    template = environment().get_template("review.html.j2")
    return template.render(language=language, html_language=HTML_LANGUAGE[language])


def content_part(heading: Heading, panel: ReviewPanel, language: str) -> str:
    """Return what fills the page. Every text is escaped."""
    template = environment().get_template("content.html.j2")
    return template.render(
        target=heading.target,
        name=heading.name,
        stored_in=heading.stored_in,
        largest=LARGEST,
        import_command=import_command(heading),
        **_values(panel, language),
    )


def import_command(heading: Heading) -> str:
    """Return the command for a file of labels that is too large for the page."""
    of = ("--target", heading.target, "--name", heading.name)
    return command_line("labels", "import", "FILE", *of)


def panel_part(panel: ReviewPanel, language: str) -> str:
    """Return the part of the page that changes."""
    return environment().get_template("review_panel.html.j2").render(_values(panel, language))


def failure_part(why: str) -> str:
    """Return what takes the place of the page's message where nothing was done."""
    told_so = Markup('<p id="message" class="notice" role="alert">{}</p>')
    return told_so.format(visible(why))


def told(key: str, **values: Any) -> Markup:
    """Return a message of the page in all languages."""
    return words(f"review.{key}", **values)


def _values(panel: ReviewPanel, language: str) -> dict[str, Any]:
    return {
        "language": language,
        "asked": panel.asked,
        "last": panel.last,
        "progress": panel.progress,
        "message": panel.message,
        "most": _SHOWN,
    }
