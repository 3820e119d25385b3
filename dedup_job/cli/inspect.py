"""`dedup inspect`: the decision about a document or a text, and the reasons for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.table import Column, Table
from rich.text import Text

from dedup_job import commands
from dedup_job.cli import options as opt
from dedup_job.cli.console import console, working
from dedup_job.files import read_input
from dedup_job.judgment.features import GUARDS
from dedup_job.messages import Message, UsageError, counted, joined, localized
from dedup_job.mongo.id_keys import unmistakable
from dedup_job.printing import as_json, command_line, for_shell
from dedup_job.report import pairs
from dedup_job.report.output import Block, Output, new_table, number_columns, whole
from dedup_job.report.pairs import display_name, measure_text
from dedup_job.runs.decided import KEPT, DecidedDocument

if TYPE_CHECKING:
    from dedup_job.commands.look import Inspected, Item, Near
    from dedup_job.decision.decider import PairView
    from dedup_job.settings import Settings

_STDIN = "-"
_MAX_TEXT = 16 << 20  # bytes of a text
_MOST_SHOWN = 10_000
_WORDS = 40  # keywords shown
_DROPPED = (Message("kept"), Message("the source's text, cleaned"))  # heads of both texts
_ORDINALS = (Message("first"), Message("second"))
_APART = {
    "channels": Message("no candidate generator finds the pair"),
    "sketch": Message("too few equal bits of the sketches"),
}


@opt.of_target
def inspect(
    items: list[str] | None = typer.Argument(
        None,
        metavar="ITEM",
        help="One or two. With --target each is an _id: 24 hex digits, a number, a string, or "
        'extended JSON such as \'{"$oid": "..."}\' or \'"17"\' for a string of digits. '
        "Without, each is a text. - is the text on standard input. Put one that begins with - "
        "last, after --.",
    ),
    target: str | None = opt.OPTIONAL_TARGET,
    text: list[str] | None = opt.value("A text as an ITEM, also with --target.", "TEXT"),
    file: list[Path] | None = opt.value("The same, read from a file in UTF-8.", "FILE"),
    limit: int = opt.value("Show the nearest N documents at most.", "N", default=10),
    as_values: bool = opt.flag("Print JSON.", "--json"),
    *,
    options: opt.SharedOptions,
) -> None:
    """Show what is decided about a document or a text, and why.

    Of a duplicate: its text and the kept one side by side with the differences marked, their
    classes, distance, similarity, channels. Of a kept document: its nearest candidates, what keeps
    them apart, and its duplicates. Of one that was skipped or quarantined: the reason. Of a text
    with --target: what a run would decide, and the candidates. Two documents or texts are compared.
    The settings are those of the target's last run, unless --config or --field gives others;
    --json prints them, and of any text the tokens and keywords. Nothing is written.
    """
    settings = options.load()
    opt.check_range("--limit", limit, 1, _MOST_SHOWN)
    words, files = items or [], [*map(str, file or ())]
    if [*words, *(text or ()), *files].count(_STDIN) > 1:
        raise UsageError("- is given twice, and standard input holds one text.")
    ids = [word for word in words if target is not None and word != _STDIN]
    texts = [word for word in words if target is None or word == _STDIN] + (text or [])
    texts = [read_input(word, _MAX_TEXT) if word == _STDIN else word for word in texts]
    texts += [read_input(name, _MAX_TEXT) for name in files]
    with working() as progress:
        inspected = commands.look.inspect(settings, ids, texts, target, progress, limit=limit)
    if as_values:
        typer.echo(as_json(inspected.as_json()), nl=False)
    else:
        out = console()
        out.blocks(_blocks(inspected, out))


def _blocks(inspected: Inspected, console: Output) -> Iterator[Block]:
    head = [row for item in inspected.items for row in _head(item)]
    if inspected.target:
        made = {"target": inspected.target, "source": inspected.source}
        head.append((Message("target"), Message("{target}, made from {source}", **made)))
    if inspected.settings_of:
        head.append((Message("settings"), Message("those of run {run}", run=inspected.settings_of)))
    yield head
    if inspected.pair is None:
        yield from map(_alone, inspected.sides)
        yield [row for side in inspected.sides for row in _searched_by(side)]
    else:
        yield from _pair(inspected, inspected.pair, console)
    if inspected.near is not None:
        yield from _near(inspected, inspected.near, console)
    if inspected.dropped is not None:
        yield _dropped(inspected.items[0], inspected.dropped, inspected.target)


def _head(item: Item) -> Iterator[tuple[str, str | Text]]:
    if item.key:
        yield "_id", whole(item.name)
    if item.also:
        ids = ", ".join(map(for_shell, item.also))
        advice = Message("{ids}, quoted for a shell; write the one you mean", ids=ids)
        yield Message("also decided"), whole(localized(advice))
    if item.decided is not None:
        yield from _decision(item, item.decided)
        if item.key:
            unknown = Message("not recorded in this form of the target")
            yield Message("run"), f"{item.decided.run}" if item.decided.run else unknown


def _decision(item: Item, decided: DecidedDocument) -> Iterator[tuple[str, str | Text]]:
    is_kept, decision = decided.decision == KEPT, Message(decided.decision)
    dropped = Message("{decision}: {reason}", decision=decision, reason=Message(decided.reason))
    name = Message("decision") if item.key else Message("{name}, a run decides", name=item.name)
    yield name, decision if is_kept else dropped
    if decided.detail:
        yield Message("detail"), pairs.visible(localized(decided.detail))
    if decided.of and not is_kept:
        yield "of", whole(decided.of)
    if decided.against:
        yield "against", whole(decided.against)
    if decided.kept_by:
        until = Message("until that better copy came ({rule})", rule=decided.kept_by)
        yield Message("was kept"), whole(localized(until))
    if decided.pair.richer:
        more = (Message(pairs.visible(name)) for name in decided.pair.richer)
        yield Message("has more than it"), joined(more, ", ")


def _alone(side: Item) -> Message:
    lines = []
    if side.why_not:
        lines.append(Message("{name}: {why}", name=side.name, why=side.why_not))
    if side.text is not None:
        name = Message("text of {name}", name=side.name) if side.key else side.name
        lines.append(Message("{name}: {text}", name=name, text=pairs.beginning(side.text)))
    return joined(lines, "\n")


def _pair(inspected: Inspected, view: PairView, console: Output) -> Iterator[Block]:
    left, right = inspected.sides
    names = _DROPPED if inspected.original else _ORDINALS
    yield pairs.both_texts(names, left.text, right.text, console)
    if view.differences:
        rows = ((each.kind, each.place, each.text, each.of) for each in view.differences)
        if inspected.original:
            rows = ((each.kind, each.place, each.of, each.text) for each in view.differences)
        yield pairs.table_of_differences(names, rows)
    yield [*_measures(view, inspected.settings)]
    yield _verdict(inspected, view)


def _measures(view: PairView, settings: Settings) -> Iterator[tuple[str, str]]:
    decision, limit = settings.decision, settings.index.distance
    about = {"distance": view.distance, "limit": limit}
    distance = Message("{distance} of 64 bits, candidates up to {limit}", **about)
    if view.distance is None:
        distance = Message("none, a short text has no simhash")
    alike: str = Message("not compared (decision.judge = none)")
    if decision.judges:
        alike = measure_text(view.similarity)
    elif decision.compares:
        alike = _with_least(view.similarity, view.required)
    yield Message("distance"), distance
    yield Message("similarity"), alike
    yield Message("found by"), ", ".join(view.channels) or Message("none")
    if (weighed := view.weighed) is None:
        return
    likely = _with_least(weighed.probability, decision.confidence)
    off = Message("{said} (the judge is off)", said=likely)
    yield Message("probability"), likely if decision.judges else off
    yield Message("judged as"), display_name(weighed.kind)
    for guard in weighed.guards:
        yield Message("guard {name}", name=guard), Message(GUARDS[guard])
    for side, sign in ((Message("for"), 1), (Message("against"), -1)):
        if reasons := weighed.reasons(sign):
            yield side, joined(reasons, "; ")


def _with_least(value: float, least: float) -> Message:
    return Message("{value}, least {least:g}", value=measure_text(value, least), least=least)


def _verdict(inspected: Inspected, view: PairView) -> Message:
    reason, apart = "exact" if view.equal else "near", view.refused_by or ""
    verdict = Message("duplicates ({reason})", reason=Message(reason))
    if apart:
        verdict = Message("not duplicates: {why}", why=_APART.get(apart, Message(apart)))
    if inspected.original is None:
        return Message("{verdict}.", verdict=verdict)
    decided = inspected.items[0].decided
    if not apart and decided and decided.reason == reason:
        return Message("With today's texts: still {verdict}.", verdict=verdict)
    return Message(
        "With today's texts: {verdict}. The source document, the kept one, the settings of "
        "cleaning or dedup changed since the run.",
        verdict=verdict,
    )


def _searched_by(item: Item) -> Iterator[tuple[str, str]]:
    if item.why is not None:
        words = [word for word, _ in item.why.features[:_WORDS]]
        yield Message("fingerprint"), item.fingerprint
        yield Message("keywords"), pairs.visible(" / ".join(words)) or Message("none")


def _near(inspected: Inspected, near: Sequence[Near], console: Output) -> Iterator[Block]:
    settings = inspected.settings.index
    how = Message(
        "candidates ({generators}; distance up to {distance})",
        generators=", ".join(settings.candidate_generators),
        distance=settings.distance,
    )
    kept = Message("other kept documents") if inspected.items[0].key else Message("kept documents")
    numbers = {"found": inspected.found, "among": inspected.among, "shown": len(near)}
    head = Message(
        "{how}: {found:,} of {among:,} {kept}, {shown:,} shown.", how=how, kept=kept, **numbers
    )
    yield joined([head, pairs.legend(console)], "\n") if near else head
    if near:
        yield _table_of_near(inspected, near, console)


def _table_of_near(inspected: Inspected, near: Sequence[Near], console: Output) -> Table:
    least = () if inspected.settings.decision.judges else (Message("least"),)
    kept = (Message("kept"),) if any(one.before is not None for one in near) else ()
    shown = Column(Message("differences"), overflow="fold", min_width=40, max_width=60)
    names = (*kept, Message("found by"), Message("kept apart by"), "_id")
    numbers = number_columns(Message("similarity"), *least, Message("distance"))
    table = new_table(*numbers, *names, shown)
    for one in near:
        view, own = one.view, inspected.items[0].text or ""
        texts = (own, one.text) if one.before is False else (one.text, own)
        table.add_row(
            measure_text(view.similarity, view.required),
            *(f"{view.required:g}" for _ in least),
            "-" if view.distance is None else f"{view.distance}",
            *(Message("before") if one.before else Message("later") for _ in kept),
            ", ".join(view.channels) or "-",
            Message(view.refused_by or "nothing"),
            one.id,
            pairs.marked_line(*texts, console, 160),
        )
    return table


def _dropped(item: Item, dropped: int, target: str) -> Message:
    if not dropped:
        return Message("No document was dropped for it.")
    words = ("--what", "dropped", "--of", unmistakable(item.key), "--target", target)
    return Message(
        "Dropped for it: {documents}; `{command}` lists them.",
        documents=counted(dropped, "document"),
        command=command_line("list", *words),
    )
