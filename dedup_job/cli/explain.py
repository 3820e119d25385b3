"""`dedup explain`: why a document was kept or dropped, with both texts beside each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from dedup_job import commands
from dedup_job.cli.classes import lines_now, lines_then, table_of_differences
from dedup_job.cli.console import console, working
from dedup_job.cli.differences import differences, legend, on_one_line, side_by_side, visible
from dedup_job.cli.explain_lines import (
    kept_apart_by,
    keywords,
    measures,
    settings_lines,
    verdict,
    words_of,
)
from dedup_job.cli.options import OF_A_TARGET, Options, Target, check_range, with_options
from dedup_job.mongo.bson.extended_json import shown_value
from dedup_job.report.output import Output, new_table, whole

if TYPE_CHECKING:
    from rich.text import Text

    from dedup_job.commands.explain import Explained, Side

_MOST_SHOWN = 64
_TEXT = 600  # characters at the beginning of a text that stands alone
_NAMES = ("the source's text, cleaned", "kept")  # of _id and of, whose ids stand above


@with_options(*OF_A_TARGET)
def explain(
    id_: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            help="The _id: 24 hex digits, a number, a string, or extended JSON such as "
            '\'{"$oid": "..."}\' or \'"17"\' for a string of digits. Put one that '
            "begins with - last, after --.",
            show_default=False,
        ),
    ],
    target: Target,
    limit: Annotated[
        int, typer.Option(metavar="N", help="For a kept document, show the nearest N candidates.")
    ] = 5,
    *,
    options: Options,
) -> None:
    """Show what was decided about a document, and why.

    Of a duplicate: its text and the kept one beside each other with the differences marked, their
    classes, keywords, distance, similarity, channels. Of a kept document: its nearest candidates
    and what keeps them apart. Of one that was skipped or quarantined: the reason. The settings are
    those of the target's last run, unless --config or --field gives others. Nothing is written.
    """
    settings = options.load()
    check_range("--limit", limit, 1, _MOST_SHOWN)
    with working("ended; nothing was written.") as progress:
        found = commands.explain.explain_id(settings, target, id_, progress, given=options.given)
    _show(found, console(), limit)


def _show(found: Explained, console: Output, limit: int) -> None:
    console.rows(_head(found))
    if found.right is not None:
        _show_pair(found, found.left, found.right, console)
    elif found.row is not None:
        _show_text(found.left, console)
    else:
        _show_kept(found, console, limit)
    console.say()
    then = f", those of run {found.settings_of}" if found.settings_of else ""
    console.say(f"settings{then}:")
    console.rows(settings_lines(found.settings), indent=2)


def _head(found: Explained) -> Iterator[tuple[str, str | Text]]:
    yield "_id", whole(found.id)
    if found.also:
        others = ", ".join(found.also)
        yield "also decided", whole(f"{others}; write the one you mean as extended JSON")
    row = found.row
    if row is None:
        yield "decision", "kept"
    else:
        yield "decision", f"{row.get('decision')}: {row.get('reason')}"
        if row.get("detail"):
            yield "detail", visible(str(row["detail"]))
    if row is not None and row.get("decision") == "duplicate":
        yield "of", whole(shown_value(row.get("of")))
    yield "run", _run(found)
    missing = (row or {}).get("void") or (found.kept.missing_originals if found.kept else ())
    if missing:
        names = ", ".join(map(shown_value, missing))
        yield "void", whole(f"candidates that were gone from the target then: {names}")
    if found.kept and (refused := found.kept.refused):
        yield (
            "nearest then",
            whole(
                f"_id {shown_value(refused.get('of'))}, similarity "
                f"{refused.get('similarity')}, kept apart by {refused.get('class')}"
            ),
        )
    yield "target", f"{found.target}, made from {found.source}"


def _run(found: Explained) -> str:
    number = (found.row or {}).get("run") or (found.kept.run if found.kept else 0)
    if not number:
        return "not recorded in this form of the target"
    if found.run is None or "started" not in found.run:
        return f"{number}"
    return f"{number}, begun {found.run['started']:%Y-%m-%d %H:%M} UTC"


def _show_text(side: Side, console: Output) -> None:
    console.say()
    if side.text is None:
        console.say(side.why_not)
        return
    more = f" … {len(side.text) - _TEXT:,} characters more" if len(side.text) > _TEXT else ""
    console.say(f"text of {side.id}: {visible(side.text[:_TEXT])}{more}")


def _show_pair(found: Explained, left: Side, right: Side, console: Output) -> None:
    if left.text is None or right.text is None or found.view is None:
        for side in (left, right):
            if side.text is None:
                console.say(f"\n{side.id}: {side.why_not}")
            else:
                _show_text(side, console)
        if then := lines_then(found.row or {}):
            console.say()
            console.table(table_of_differences(then, *_NAMES))
        return
    if left.text == right.text:
        _show_text(right, console)
        console.say("The source's text, cleaned, is the same.")
    else:
        console.say()
        console.table(side_by_side(differences(left.text, right.text), console, _NAMES))
    if found.view.differences:
        console.say()
        console.table(table_of_differences(lines_now(found.view.differences), *_NAMES))
    console.say()
    console.rows(measures(found, found.view))
    console.say()
    console.rows(keywords(left, right))
    console.say(f"\n{verdict(found, found.view)}")


def _show_kept(found: Explained, console: Output, limit: int) -> None:
    _show_text(found.left, console)
    if found.left.text is None:
        return
    explanation = found.left.explanation
    features = [word for word, _ in explanation.features] if explanation else []
    console.rows([("keywords", words_of(features))])
    channels = ", ".join(found.settings.index.channels)
    console.say()
    if not found.near:
        console.say(
            f"No other of {found.among + 1:,} kept documents is a candidate now ({channels}; "
            f"distance up to {found.settings.index.distance}). `dedup query TEXT --k 7` looks "
            "further."
        )
        return
    shown = found.near[:limit]
    table = new_table()
    for name in ("similarity", "least", "distance"):
        table.add_column(name, justify="right")
    table.add_column("kept", no_wrap=True)
    table.add_column("found by")
    table.add_column("kept apart by")
    table.add_column("_id", no_wrap=True)
    table.add_column("differences", overflow="fold", min_width=40, max_width=60)
    for near in shown:
        pieces = differences(found.left.text, near.side.text or "")
        view = near.view
        table.add_row(
            f"{view.similarity:.3f}",
            "-" if found.settings.decision.judges else f"{view.required:.3f}",
            "-" if view.distance is None else f"{view.distance}",
            "-" if near.before is None else "before" if near.before else "later",
            ", ".join(view.channels) or "-",
            kept_apart_by(near),
            near.side.id,
            on_one_line(pieces, console, 160),
        )
    candidates = f"{found.found:,} candidate{'' if found.found == 1 else 's'}"
    some = f", {len(shown):,} shown" if len(shown) < found.found else ""
    console.say(
        f"{candidates} among {found.among:,} kept documents{some}. Of the differences, "
        f"{legend(console)}.\n"
    )
    console.table(table)
    if any(near.view.refused_by is None for near in shown):
        console.say(
            "\nWhere nothing keeps them apart, the one kept later would now be a duplicate: a "
            "text, the settings or dedup changed since, or there were more candidates than "
            "decision.most_candidates."
        )
