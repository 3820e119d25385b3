"""A page as one file: a template, its words in two languages, its style and its scripts."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any, Final, TypeVar

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from dedup_job.messages import LANGUAGES, in_language
from dedup_job.printing import command_line, escaped
from dedup_job.report.labels import label, measured
from dedup_job.report.pieces import Piece, pieces_of
from dedup_job.runs.counts import Counts
from dedup_job.runs.decided import DecidedDocument
from dedup_job.runs.survey import BINS, Layer, Survey

S = TypeVar("S", bound=str)
HTML_LANGUAGE: Final = {"en": "en", "zh": "zh-Hans"}
_CONTEXT = 80  # characters shown beside what differs, in a text that is shortened
_SHOWN = 700  # characters of a text that are shown whole
_CHANGE = 300  # characters of one change
_CELL = 200  # characters of a value in a table
_LEAST, _ROOM = BINS // 2, BINS // 10  # bins: where most charts begin; those below a threshold


def report_page(survey: Survey, language: str = "") -> str:
    """Return the report of a target as one HTML file that loads nothing.

    language: `en` or `zh`, what was asked for, "" for nothing: look.js says which one is shown.
    Every text is escaped.
    """
    template = environment().get_template("report.html.j2")
    return template.render(survey=survey, language=language, charts=_charts(survey))


def words(key: str, **values: Any) -> Markup:
    """Return a phrase in all languages, marked so that the page shows one of them.

    key: section and name in words.toml; `label` is that of the names that rows hold.
    """
    return Markup("").join(
        Markup('<span lang="{}">{}</span>').format(language, _filled(Markup(escape(form)), values))
        for language, form in zip(HTML_LANGUAGE.values(), _forms(key), strict=True)
    )


def _filled(form: S, values: Mapping[str, Any]) -> S:
    """Fill in values; a name that a row holds may have braces of its own."""
    return form.format(**values) if values else form  # type: ignore[return-value]  # as it came


def _forms(key: str) -> Sequence[str]:
    section, _, name = key.partition(".")
    if section == "label":
        return [in_language(label(name), language) for language in LANGUAGES]
    return _words()[section][name]


@cache
def _words() -> Mapping[str, Mapping[str, Sequence[str]]]:
    return tomllib.loads(asset("words.toml"))


def asset(name: str) -> str:
    """Return the text of a file of this room."""
    return files("dedup_job.pages").joinpath(name).read_text(encoding="utf-8")


@cache
def environment() -> Environment:
    """Return what fills templates: it escapes every text, and refuses a name that is not there."""
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
        measured=measured,
        visible=escaped,
    )
    environment.globals.update(
        w=words,
        value=Markup('<b data-value="{}">…</b>').format,
        asset=lambda name: Markup(asset(name)),
        pieces=_pieces,
        flat=_flat,
        funnel=_funnel,
        named=_named,
        further_lines=_further,
        command_line=command_line,
    )
    return environment


def _funnel(counts: Counts) -> list[tuple[str, int, int]]:
    """Return the stages of the funnel: name, documents, and how many came before in the bar."""
    stages: list[tuple[str, int, int]] = [("read", counts.scanned, 0)]
    before = counts.scanned
    for name in ("skipped", "quarantined", "exact", "near", "kept"):
        count: int = getattr(counts, name)
        before -= count
        stages.append((name, count, before))
    return stages


def _named(layer: Layer) -> Markup:
    """Return the name of a layer as words that follow those of its stratum."""
    return words("stratum.named", name=words(f"label.{layer.name}")) if layer.name else Markup()


def _further(source: str, target: str) -> list[tuple[str, str]]:
    """Return commands that look further."""
    of = ("--target", target)
    return [
        ("list", command_line("list", *of, "--what", "dropped")),
        ("refused", command_line("list", *of, "--what", "refused")),
        ("inspect", command_line("inspect", *of, "ID")),
        ("restore", command_line("restore", *of, "ID")),
        ("check", command_line("check", "--source", source, *of, "--all")),
        ("undo", command_line("undo", *of, "N")),
    ]


def _pieces(pair: DecidedDocument, most: int) -> list[Piece]:
    """Return the pieces of a pair's texts, shortened between what differs if longer than `most`."""
    left, right = pair.other or "", pair.text or ""
    found = pieces_of(left, right)
    if len(left) <= most and len(right) <= most:
        return found
    return [_shortened(found, at) for at in range(len(found))][:_CELL]


def _shortened(found: Sequence[Piece], at: int) -> Piece:
    piece, first, last = found[at], at == 0, at == len(found) - 1

    def shown(text: str) -> str:
        if not piece.same or (first and last):
            return _short(text, _SHOWN if piece.same else _CHANGE)
        if len(text) <= 2 * _CONTEXT:
            return text
        return f"{'' if first else text[:_CONTEXT]} … {'' if last else text[-_CONTEXT:]}"

    return Piece(shown(piece.left), shown(piece.right), piece.same)


def _short(text: str, most: int = _SHOWN) -> str:
    """Return the beginning of a text."""
    return text if len(text) <= most else text[:most] + " …"


def _flat(settings: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    """Return nested settings as names with dots, and values as text."""
    found: list[tuple[str, str]] = []
    for name, value in settings.items():
        if isinstance(value, Mapping):
            found += _flat(value, f"{prefix}{name}.")
        else:
            found.append((prefix + name, _short(_value(value), _CELL)))
    return found


def _value(value: Any) -> str:
    """Return a setting as a person reads it."""
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "-"
    return "-" if value is None else str(value)


def _charts(survey: Survey) -> dict[str, Any]:
    """Return what the scripts of the page draw."""
    runs = [run for run in survey.runs if run.counts.scanned]
    points = next((run.series for run in reversed(survey.runs) if run.series), ())
    both = [sum(pair) for pair in zip(survey.near.bins, survey.refused.bins, strict=True)]
    first = next((at for at, number in enumerate(both) if number), 0)
    least = min(max(first, _LEAST), max(int((survey.threshold or 0) * BINS) - _ROOM, 0))
    return {
        "similarities": {"near": survey.near.bins, "refused": survey.refused.bins},
        "least": least / BINS,
        "below": sum(both[:least]),
        "series": [
            [now, (documents - former) / (now - then), resident / 1e6]
            for (then, former, _), (now, documents, resident) in pairwise(points)
            if now - then >= 1  # the last point may come at once
        ],
        "runs": [[run.number, run.counts.repeat_rate] for run in runs],
    }
