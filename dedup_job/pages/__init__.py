"""Pages in HTML: templates with their words in two languages, styles and scripts."""

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from dedup_job import __version__
from dedup_job.messages import LANGUAGES, in_language
from dedup_job.printing import command_line, escaped, listed
from dedup_job.report.pairs import DiffSegment, diff, display_name, measure_text, shortened
from dedup_job.runs.decided import Counts, DecidedDocument
from dedup_job.runs.survey import Layer, Survey
from dedup_job.text_fields import values_in

_LOADED = ("page.css", "review.css", "look.js", "review.js", "assets/htmx.min.js")
STATIC: Final = {file.rpartition("/")[2]: file for file in _LOADED}
"""Files of this folder that the review page loads, by their names in its addresses."""
_CONTEXT = 80  # characters shown beside what differs, in a text that is shortened
_SHOWN = 700  # characters of a text that are shown whole
_CHANGE = 150  # characters of each end of a change
_CELL = 200  # characters of a value in a table
_WHOLE = 6000  # characters of a text that the review shows whole; longer ones are shortened


def report_page(survey: Survey, language: str = "") -> str:
    """Return the report of a target as one HTML file that loads nothing; texts are escaped.

    language: `en` or `zh`, "" for the browser's choice, which look.js makes.
    """
    runs = [[run.number, run.counts.repeat_rate] for run in survey.runs if run.counts.scanned]
    bins = {"near": survey.near.bins, "refused": survey.refused.bins}
    template = environment().get_template("report.html.j2")
    values = {"charts": {"similarities": bins, "runs": runs}, "language": language}
    about = {"made": datetime.now(UTC), "version": __version__}
    return template.render(survey=survey, **values, **about)


def review_part(template: str, /, **values: Any) -> Markup:
    """Return a template of `dedup review` filled with values; texts are escaped."""
    return Markup(environment().get_template(f"{template}.html.j2").render(values, most=_WHOLE))


def error_element(why: str) -> str:
    """Return the page's element for an error message."""
    return Markup('<p id="message" class="notice" role="alert">{}</p>').format(escaped(why))


def phrase(key: str, **values: Any) -> Markup:
    """Return a phrase in all languages, each in an element, of which the page shows one.

    key: section and name in words.toml; section `label`: names that rows hold.
    """
    section, _, name = key.partition(".")
    if section == "label":
        texts: Sequence[str] = [in_language(display_name(name), language) for language in LANGUAGES]
    else:
        texts = _words()[section][name]
    forms: Iterable[Markup] = map(Markup, map(escape, texts))
    if values:  # else a name that a row holds may have braces of its own
        forms = (form.format(**values) for form in forms)
    return Markup("").join(
        Markup('<span lang="{}">{}</span>').format(language, form)
        for language, form in zip(("en", "zh-Hans"), forms, strict=True)
    )


@cache
def _words() -> Mapping[str, Mapping[str, Sequence[str]]]:
    return tomllib.loads(asset("words.toml"))


def asset(name: str) -> str:
    """Return the text of a file of this folder."""
    return files("dedup_job.pages").joinpath(name).read_text(encoding="utf-8")


@cache
def environment() -> Environment:
    """Return the environment of the templates: it escapes texts and refuses unknown names."""
    environment = Environment(
        loader=PackageLoader("dedup_job.pages", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        number="{:,}".format,
        percent="{:.2%}".format,
        percent1="{:.1%}".format,
        short=_short,
        measured=measure_text,
        visible=escaped,
    )
    environment.globals.update(
        w=phrase,
        value=Markup('<b data-value="{}">…</b>').format,
        asset=lambda name: Markup(asset(name)),
        segments=_segments,
        flat=lambda values: [(n, _short(listed(v), _CELL)) for n, v in values_in(values)],
        funnel=_funnel,
        named=_named,
        further_lines=_further,
        command_line=command_line,
    )
    return environment


def _funnel(counts: Counts) -> Iterator[tuple[str, int, int]]:
    before = counts.scanned
    yield "read", before, 0
    for name in ("skipped", "quarantined", "exact", "near", "kept"):
        before -= getattr(counts, name)
        yield name, getattr(counts, name), before


def _named(layer: Layer) -> Markup:
    return phrase("stratum.named", name=phrase(f"label.{layer.name}")) if layer.name else Markup()


def _further(source: str, target: str) -> list[tuple[str, str]]:
    of = ("--target", target)
    return [
        ("list", command_line("list", *of, "--what", "dropped")),
        ("refused", command_line("list", *of, "--what", "refused")),
        ("inspect", command_line("inspect", *of, "ID")),
        ("restore", command_line("restore", *of, "ID")),
        ("check", command_line("check", "--source", source, *of, "--all")),
        ("undo", command_line("undo", *of, "N")),
    ]


def _segments(pair: DecidedDocument, most: int) -> list[DiffSegment]:
    left, right = pair.other or "", pair.text or ""
    found = diff(left, right)
    if len(left) <= most and len(right) <= most:
        return found
    return [shortened(segment, _CONTEXT, _CHANGE) for segment in found][:_CELL]


def _short(text: str, most: int = _SHOWN) -> str:
    return text if len(text) <= most else text[:most] + " …"
