"""`dedup explain`: why a document was kept or dropped, with both texts beside each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Column, Table

from dedup_job import commands
from dedup_job.cli import differences as pairs
from dedup_job.cli.console import console, working
from dedup_job.cli.options import OF_A_TARGET, Given, Target, check_range, with_options
from dedup_job.mongo.bson.extended_json import shown_value
from dedup_job.printing import command_line, for_shell
from dedup_job.report.output import Output, figures, new_table, whole
from dedup_job.report.pieces import pieces_of

if TYPE_CHECKING:
    from rich.text import Text

    from dedup_job.commands.explain import Explained, Near, Side
    from dedup_job.decision import DecisionSettings
    from dedup_job.decision.pair import PairView
    from dedup_job.settings import Settings

_MOST_SHOWN = 64
_TEXT = 600  # characters at the beginning of a text that stands alone
_WORDS = 40  # keywords shown of a kind
_NAMES = ("the source's text, cleaned", "kept")  # of _id and of, whose ids stand above

_ALWAYS = {
    "index": {"channels", "distance"},
    "decision": {"compare", "similarity", "judge"},
}  # settings that are shown though they are the defaults


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
    options: Given,
) -> None:
    """Show what was decided about a document, and why.

    Of a duplicate: its text and the kept one beside each other with the differences marked, their
    classes, keywords, distance, similarity, channels. Of a kept document: its nearest candidates,
    what keeps them apart, and its duplicates. Of one that was skipped or quarantined: the reason.
    The settings are those of the target's last run, unless --config or --field gives others.
    Nothing is written.
    """
    settings = options.load()
    check_range("--limit", limit, 1, _MOST_SHOWN)
    with working() as progress:
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
        _show_duplicates(found, console)
    console.say()
    then = f", those of run {found.settings_of}" if found.settings_of else ""
    console.say(f"settings{then}:")
    console.rows(_settings_lines(found.settings), indent=2)


def _head(found: Explained) -> Iterator[tuple[str, str | Text]]:
    yield "_id", whole(found.id)
    if found.also:
        others = ", ".join(map(for_shell, found.also))
        yield "also decided", whole(f"{others}, quoted for a shell; write the one you mean")
    row = found.row
    if row is None:
        yield "decision", "kept"
    else:
        yield "decision", f"{row.get('decision')}: {row.get('reason')}"
        if row.get("detail"):
            yield "detail", pairs.visible(str(row["detail"]))
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
    if found.run is not None and found.run.get("status") == "restored":
        return f"none: put back by hand, as number {number}"
    if found.run is None or "started" not in found.run:
        return f"{number}"
    return f"{number}, begun {found.run['started']:%Y-%m-%d %H:%M} UTC"


def _show_text(side: Side, console: Output, whose: str = "") -> None:
    console.say()
    if side.text is None:
        console.say(f"{whose}{side.why_not}")
        return
    more = f" … {len(side.text) - _TEXT:,} characters more" if len(side.text) > _TEXT else ""
    console.say(f"text of {side.id}: {pairs.visible(side.text[:_TEXT])}{more}")


def _show_pair(found: Explained, left: Side, right: Side, console: Output) -> None:
    if left.text is None or right.text is None or found.view is None:
        for side in (left, right):
            _show_text(side, console, f"{side.id}: ")
        if then := pairs.lines_then(found.row or {}):
            console.say()
            console.table(pairs.table_of_differences(then, *_NAMES))
        return
    if left.text == right.text:
        _show_text(right, console)
        console.say("The source's text, cleaned, is the same.")
    else:
        console.say()
        console.table(pairs.side_by_side(pieces_of(left.text, right.text), console, _NAMES))
    if found.view.differences:
        console.say()
        console.table(pairs.table_of_differences(pairs.lines_now(found.view.differences), *_NAMES))
    console.say()
    console.rows(_measures(found, found.view))
    console.say()
    console.rows(_keywords(left, right))
    console.say(f"\n{_verdict(found, found.view)}")


def _show_duplicates(found: Explained, console: Output) -> None:
    console.say()
    if not found.dropped:
        console.say("No document was dropped for it.")
        return
    shown = len(found.duplicates)
    first = f", the first {shown:,} here" if shown < found.dropped else ""
    were = "document was" if found.dropped == 1 else "documents were"
    console.say(f"{found.dropped:,} {were} dropped for it{first}:\n")
    table = new_table(Column("_id", no_wrap=True), "reason", *figures("similarity", "run"))
    for one in found.duplicates:
        similarity = "" if one.similarity is None else f"{one.similarity:.3f}"
        table.add_row(one.id, one.reason, similarity, str(one.run))
    console.table(table)
    if first:
        line = command_line("list", "--what", "dropped", "--of", "ID", "--target", found.target)
        console.say(f"\n`{line}` lists all.")


def _show_kept(found: Explained, console: Output, limit: int) -> None:
    _show_text(found.left, console)
    if found.left.text is None:
        return
    explanation = found.left.explanation
    features = [word for word, _ in explanation.features] if explanation else []
    console.rows([("keywords", _words_of(features))])
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
    candidates = f"{found.found:,} candidate{'' if found.found == 1 else 's'}"
    some = f", {len(shown):,} shown" if len(shown) < found.found else ""
    console.say(
        f"{candidates} among {found.among:,} kept documents{some}. Of the differences, "
        f"{pairs.legend(console)}.\n"
    )
    console.table(_table_of_near(found, shown, console))
    if any(near.view.refused_by is None for near in shown):
        console.say(
            "\nWhere nothing keeps them apart, the one kept later would now be a duplicate: a "
            "text, the settings or dedup changed since, or there were more candidates than "
            "decision.most_candidates."
        )


def _table_of_near(found: Explained, shown: Sequence[Near], console: Output) -> Table:
    texts = Column("differences", overflow="fold", min_width=40, max_width=60)
    names = ("kept", "found by", "kept apart by", "_id")
    table = new_table(*figures("similarity", "least", "distance"), *names, texts)
    for near in shown:
        view = near.view
        table.add_row(
            f"{view.similarity:.3f}",
            "-" if found.settings.decision.judges else f"{view.required:.3f}",
            "-" if view.distance is None else f"{view.distance}",
            "-" if near.before is None else "before" if near.before else "later",
            ", ".join(view.channels) or "-",
            view.refused_by or "nothing",
            near.side.id,
            pairs.marked_line(pieces_of(found.left.text or "", near.side.text or ""), console, 160),
        )
    return table


def _measures(found: Explained, view: PairView) -> Iterator[tuple[str, str]]:
    """Yield what is measured of a duplicate and the kept one now, and then where it differs."""
    row, decision = found.row or {}, found.settings.decision
    distance = "none, a short text has no simhash" if view.distance is None else f"{view.distance}"
    then = None if view.equal else row.get("distance")
    was = "" if then in (None, view.distance) else f" (then {then})"
    limit = found.settings.index.distance
    yield "distance", f"{distance} of 64 bits, candidates up to {limit}{was}"
    as_they_are = f"as they are {view.raw:.3f}, folded {view.folded:.3f}"
    if decision.compare == "none":
        yield "similarity", f"{as_they_are}; not compared (decision.compare = none)"
    else:
        then = row.get("similarity")
        changed = isinstance(then, int | float) and abs(then - view.similarity) > 1e-9
        least = floor = ""
        if not decision.judges:
            least = f", least {view.required:.3f}"
            if view.similarity < view.required <= view.folded:
                floor = ", which does not count: as they are the texts are too unlike"
        was = f" (then {then:.3f})" if changed else ""
        told = f"{view.similarity:.3f}{was}{least}; {as_they_are}{floor}"
        yield f"similarity ({decision.compare})", told
    if view.agreement is not None:
        yield "sketch", f"{view.agreement} of 128 bits equal, least {view.least_agreement}"
    then = row.get("found_by")
    then_by = ", ".join(map(str, then)) if isinstance(then, list) else ""
    names = ", ".join(view.channels) or "none"
    yield "found by", names + (f" (then {then_by})" if then_by not in ("", names) else "")
    if view.differences:
        yield "differences", told_of_differences(view, decision)


def told_of_differences(view: PairView, decision: DecisionSettings) -> str:
    """Name the classes of differences that are not harmless."""
    harmful = dict.fromkeys(str(one.kind) for one in view.differences if not one.harmless)
    told = f"not harmless: {', '.join(harmful)}" if harmful else "all harmless"
    return told if decision.judges else f"{told} (the judge is off)"


def _keywords(left: Side, right: Side) -> Iterator[tuple[str, str]]:
    """Yield the keywords that both texts have, and those that one has."""
    mine = dict(left.explanation.features) if left.explanation else {}
    other = dict(right.explanation.features) if right.explanation else {}
    yield "keywords of both", _words_of([word for word in mine if word in other])
    yield f"only of {left.id}", _words_of([word for word in mine if word not in other])
    yield f"only of {right.id}", _words_of([word for word in other if word not in mine])


def _verdict(found: Explained, view: PairView) -> str:
    """Say whether a duplicate would be one now."""
    if found.row is not None and found.row.get("reason") == "exact" and not view.equal:
        return (
            "The texts were equal then and are not now: the source document, the kept one or the "
            "settings of cleaning changed since."
        )
    apart = kept_apart(view, found.settings.decision)
    if not apart:
        return "With today's texts: still duplicates."
    return (
        f"With today's texts: not duplicates ({apart}). The source document or the kept one "
        "changed since the run, or dedup did."
    )


def kept_apart(view: PairView, decision: DecisionSettings) -> str:
    """Say what keeps a pair apart, "" where nothing does."""
    if view.refused_by is None:
        return ""
    least = "" if decision.judges else f" < {view.required:.2f}"
    similarity = f"similarity {view.similarity:.2f}{least}"
    if view.refused_by == "channels":
        low = not decision.judges and view.similarity >= view.required
        return f"{'' if low else f'{similarity}, and '}nothing would propose the pair"
    if view.refused_by == "sketch":
        return f"{view.agreement} equal bits in their sketches, least {view.least_agreement}"
    return similarity if view.refused_by == "similarity" else view.refused_by


def _words_of(words: Sequence[str]) -> str:
    """List keywords, the first ones of many."""
    if not words:
        return "none"
    more = f" and {len(words) - _WORDS:,} more" if len(words) > _WORDS else ""
    return f"{len(words):,}: {pairs.visible(' / '.join(words[:_WORDS]))}{more}"


def _settings_lines(settings: Settings) -> Iterator[tuple[str, str]]:
    """Yield the settings that decide, those that are not the defaults and the chief ones."""
    for section in ("source", "cleaning", "fingerprint", "index", "decision"):
        part = getattr(settings, section)
        default = dict(type(part)())
        values = [
            f"{name} = [{', '.join(map(str, value))}]"
            if isinstance(value, tuple)
            else f"{name} = {value}"
            for name, value in part
            if value != default[name] or name in _ALWAYS.get(section, ())
        ]
        if values:
            yield f"[{section}]", ", ".join(values)
    yield "", "all others are the defaults, see dedup config show"
