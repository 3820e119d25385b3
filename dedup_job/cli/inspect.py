"""`dedup inspect`: what was or would be decided about documents and texts, and why."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Column, Table

from dedup_job import commands
from dedup_job.cli import differences as pairs
from dedup_job.cli.console import console, working
from dedup_job.cli.options import OF_A_TARGET, Given, check_range, with_options
from dedup_job.errors import UsageError
from dedup_job.files import read_input
from dedup_job.judgment.guards import why_of
from dedup_job.printing import as_json, command_line, for_shell
from dedup_job.report.output import Output, figures, new_table, whole
from dedup_job.report.pieces import pieces_of
from dedup_job.runs.decided import KEPT

if TYPE_CHECKING:
    from rich.text import Text

    from dedup_job.commands.inspect import Inspected, Item, Near
    from dedup_job.decision import DecisionSettings
    from dedup_job.decision.pair import PairView
    from dedup_job.judgment import Weighed
    from dedup_job.settings import Settings

_STDIN = "-"
_MAX_TEXT = 16 << 20  # bytes of a text
_MOST_SHOWN = 10_000
_TEXT = 600  # characters at the beginning of a text that stands alone
_WORDS = 40  # keywords shown of a kind
_DROPPED = ("the source's text, cleaned", "kept")  # the texts of `_id` and `of`
_ASKED = ("first", "second")
_APART = {
    "channels": "no candidate generator finds the pair",
    "sketch": "too few equal bits of the sketches",
}

_CHIEF = {  # of the settings that decide, those that are shown though they are the defaults
    "index": {"candidate_generators", "distance"},
    "decision": {"judge", "confidence"},
}


@with_options(*OF_A_TARGET)
def inspect(
    items: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ITEM",
            help="One or two. With --target each is an _id: 24 hex digits, a number, a string, or "
            'extended JSON such as \'{"$oid": "..."}\' or \'"17"\' for a string of digits. '
            "Without, each is a text. - is the text on standard input. Put one that begins with - "
            "last, after --.",
            show_default=False,
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="NS", help="Collection that dedup run wrote: collection or database.collection."
        ),
    ] = None,
    text: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="A text as an ITEM, also with --target."),
    ] = None,
    file: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="The same, read from a file in UTF-8.")
    ] = None,
    max_distance: Annotated[
        int | None,
        typer.Option(
            metavar="K",
            help="List documents within Hamming distance K (0-7) instead of the candidates.",
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option(metavar="N", help="Show the nearest N documents at most.")
    ] = 10,
    full: Annotated[
        bool,
        typer.Option("--full", help="Show whole texts, tokens, and the weight of each keyword."),
    ] = False,
    as_values: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    *,
    options: Given,
) -> None:
    """Show what is decided about a document or a text, and why.

    Of a duplicate: its text and the kept one side by side with the differences marked, their
    classes, keywords, distance, similarity, channels. Of a kept document: its nearest candidates,
    what keeps them apart, and its duplicates. Of one that was skipped or quarantined: the reason.
    Of a text with --target: what a run would decide, and the candidates. Two documents or texts are
    compared. Of any text: its fingerprint and keywords. The settings are those of the target's last
    run, unless --config or --field gives others. Nothing is written.
    """
    settings = options.load()
    check_range("--limit", limit, 1, _MOST_SHOWN)
    words, files = items or [], [*map(str, file or ())]
    if [*words, *(text or ()), *files].count(_STDIN) > 1:
        raise UsageError("- is given twice, and standard input holds one text.")
    ids = [word for word in words if target is not None and word != _STDIN]
    texts = [word for word in words if target is None or word == _STDIN] + (text or [])
    texts = [read_input(word, _MAX_TEXT) if word == _STDIN else word for word in texts]
    texts += [read_input(name, _MAX_TEXT) for name in files]
    with working() as progress:
        found = commands.inspect.inspect(
            settings,
            ids,
            texts,
            target,
            progress,
            limit=limit,
            max_distance=max_distance,
        )
    if as_values:
        typer.echo(as_json(found.as_json()), nl=False)
    else:
        _show(found, console(), max_distance, full=full)


def _show(found: Inspected, console: Output, distance: int | None, *, full: bool) -> None:
    head = [row for item in found.items for row in _head(item)]
    head += [("which gave way to", whole(one)) for one in found.later]
    if found.target:
        head.append(("target", f"{found.target}, made from {found.source}"))
    if head:
        console.rows(head)
        console.say()
    if found.pair is None:
        _show_texts(found, console, full=full)
    else:
        _show_pair(found, found.pair, console, full=full)
    if seen := [side for side in found.sides if side.why is not None]:
        console.say()
        console.rows([*_fingerprints(seen), *_keywords(seen)])
        for line in (line for side in seen if full for line in _features(side)):
            console.say(f"\n{line}")
    if found.pair is not None:
        console.say(f"\n{_verdict(found, found.pair)}")
    if found.near is not None:
        console.say()
        _show_near(found, found.near, console, distance)
    if found.dropped is not None:
        console.say()
        _show_duplicates(found, found.dropped, console)
    console.say()
    then = f", those of run {found.settings_of}" if found.settings_of else ""
    console.say(f"settings{then}:")
    console.rows(_settings_lines(found.settings), indent=2)


def _head(item: Item) -> Iterator[tuple[str, str | Text]]:
    """Yield what is known of a decision, or what a run would decide of a text."""
    decided = item.decided
    if item.key:
        yield "_id", whole(item.name)
    if item.also:
        others = ", ".join(map(for_shell, item.also))
        yield "also decided", whole(f"{others}, quoted for a shell; write the one you mean")
    is_kept = decided is not None and decided.decision == KEPT
    if decided is not None:
        told = KEPT if is_kept else f"{decided.decision}: {decided.reason}"
        yield "decision" if item.key else f"{item.name}, a run decides", told
        if decided.detail:
            yield "detail", pairs.visible(decided.detail)
        if decided.of and not is_kept:
            yield "of", whole(decided.of)
        if decided.against:
            yield "against", whole(decided.against)
        if decided.kept_by:
            yield "was kept", whole(f"until that better copy came ({decided.kept_by})")
        if decided.pair.richer:
            yield "has more than it", pairs.visible(", ".join(decided.pair.richer))
    if item.key:
        yield "run", _run(item)
    if item.missing_candidates:
        names = ", ".join(item.missing_candidates)
        yield "missing candidates", whole(f"gone from the target then: {names}")
    if decided is not None and decided.of and is_kept:
        apart = f"similarity {decided.pair.similarity}, kept apart by {decided.reason}"
        yield "nearest then" if item.key else "nearest", whole(f"_id {decided.of}, {apart}")


def _run(item: Item) -> str:
    number = item.decided.run if item.decided else 0
    if not number:
        return "not recorded in this form of the target"
    if item.run.get("status") == "restored":
        return f"none: put back by hand, as number {number}"
    if "started" not in item.run:
        return f"{number}"
    return f"{number}, begun {item.run['started']:%Y-%m-%d %H:%M} UTC"


def _show_texts(found: Inspected, console: Output, *, full: bool) -> None:
    """Show texts that are not compared, and what the ledger says of their differences."""
    for number, side in enumerate(found.sides):
        if number:
            console.say()
        if side.why_not:
            console.say(f"{side.name}: {side.why_not}")
        if side.text is not None:
            of = f"text of {side.name}" if side.key else side.name
            console.say(f"{of}: {_beginning(side.text, full=full)}")
    decided = found.items[0].decided
    if decided and decided.pair.differences:
        rows = ((one.kind, one.place, one.text, one.of) for one in decided.pair.differences)
        console.say()
        console.table(pairs.table_of_differences(_DROPPED, rows))


def _beginning(text: str, *, full: bool) -> str:
    if full:
        return text
    more = f" … {len(text) - _TEXT:,} characters more" if len(text) > _TEXT else ""
    return f"{pairs.visible(text[:_TEXT])}{more}"


def _show_pair(found: Inspected, view: PairView, console: Output, *, full: bool) -> None:
    one, other = found.sides
    names = _DROPPED if found.original else _ASKED
    if view.equal:
        console.say(f"both texts, cleaned: {_beginning(other.text or '', full=full)}")
    else:
        pieces = pieces_of(one.text or "", other.text or "")
        console.table(pairs.side_by_side(pieces, console, names, whole=full))
    if view.differences:
        console.say()
        differing = ((one.kind, one.place, one.text, one.other) for one in view.differences)
        console.table(pairs.table_of_differences(names, differing))
    console.say()
    console.rows(_measures(found, view))


def _measures(found: Inspected, view: PairView) -> Iterator[tuple[str, str]]:
    """Yield what is measured of a pair now, and of a duplicate what was measured then."""
    decision, limit = found.settings.decision, found.settings.index.distance
    if view.distance is None:
        yield "distance", "none, a short text has no simhash"
    else:
        yield "distance", f"{view.distance} of 64 bits, candidates up to {limit}"
    if decision.compares:
        least = "" if decision.judges else f", least {view.required:.3f}"
        yield "similarity", f"{view.similarity:.3f}{least}"
    else:
        yield "similarity", "not compared (decision.judge = none)"
    if view.agreement is not None:
        yield "sketch", f"{view.agreement} of 128 bits equal, least {view.least_agreement}"
    yield "found by", ", ".join(view.channels) or "none"
    if view.weighed is not None:
        yield from _weighed(view.weighed, decision)
    if found.original and (decided := found.items[0].decided):
        then = decided.pair
        by = f"found by {', '.join(then.found_by)}"
        yield "then", f"distance {then.distance}, similarity {then.similarity}, {by}"


def _weighed(weighed: Weighed, decision: DecisionSettings) -> Iterator[tuple[str, str]]:
    """Yield what the judge makes of a pair: its probability, guards, the heaviest features."""
    off = "" if decision.judges else " (the judge is off)"
    yield "probability", f"{weighed.probability:.3f}, least {decision.confidence}{off}"
    for guard in weighed.guards:
        yield f"guard {guard}", why_of(guard)
    for side, named in (("for", weighed.reasons(1)), ("against", weighed.reasons(-1))):
        if named:
            yield side, "; ".join(named)


def _verdict(found: Inspected, view: PairView) -> str:
    """Say whether a pair are duplicates now, and of a dropped document whether that changed."""
    apart = _APART.get(view.refused_by or "", view.refused_by)
    reason = "exact" if view.equal else "near"
    verdict = f"not duplicates: {apart}" if apart else f"duplicates ({reason})"
    if found.original is None:
        return f"{verdict}."
    decided = found.items[0].decided
    if not apart and decided and decided.reason == reason:
        return f"With today's texts: still {verdict}."
    return (
        f"With today's texts: {verdict}. The source document, the kept one, the settings of "
        "cleaning or dedup changed since the run."
    )


def _fingerprints(seen: Sequence[Item]) -> Iterator[tuple[str, str]]:
    for item in seen:
        route = "" if item.why is None else f"from {item.why.route}"
        if item.short:
            route = "short: a hash of the text, found by minhash or as it is"
        name = f"fingerprint of {item.name}" if len(seen) > 1 else "fingerprint"
        yield name, f"{item.fingerprint}  {int(item.fingerprint, 16):064b}  ({route})"


def _keywords(seen: Sequence[Item]) -> Iterator[tuple[str, str]]:
    """Yield the keywords of a text, or those that both have and those that one has."""
    mine, *others = (dict(item.why.features) if item.why else {} for item in seen)
    if not others:
        yield "keywords", _words_of([*mine])
        return
    (other,) = others
    yield "keywords of both", _words_of([word for word in mine if word in other])
    yield f"only of {seen[0].name}", _words_of([word for word in mine if word not in other])
    yield f"only of {seen[1].name}", _words_of([word for word in other if word not in mine])


def _words_of(words: Sequence[str]) -> str:
    """List keywords, the first ones of many."""
    if not words:
        return "none"
    more = f" and {len(words) - _WORDS:,} more" if len(words) > _WORDS else ""
    return f"{len(words):,}: {pairs.visible(' / '.join(words[:_WORDS]))}{more}"


def _features(item: Item) -> Iterator[str]:
    """Yield lines of all tokens, and of all keywords with their weights."""
    if item.why is not None:
        yield f"tokens of {item.name}: {' / '.join(item.why.tokens)}"
        weighed = (f"{word} {weight:.4g}" for word, weight in item.why.features)
        yield f"keywords of {item.name} with their weights: {' / '.join(weighed)}"


def _show_near(
    found: Inspected, near: Sequence[Near], console: Output, distance: int | None
) -> None:
    settings = found.settings.index
    shown = f", {len(near):,} shown" if len(near) < found.found else ""
    generators = ", ".join(settings.candidate_generators)
    how = f"candidates ({generators}; distance up to {settings.distance})"
    how = how if distance is None else f"within distance {distance}"
    kept = f"{'other ' if found.items[0].key else ''}kept documents"
    console.say(f"{how}: {found.found:,} of {found.among:,} {kept}{shown}.")
    if not near:
        console.say("" if distance is not None else "`--max-distance 7` looks further.")
        return
    console.say(f"Of the differences, {pairs.legend(console)}.\n")
    console.table(_table_of_near(found, near, console))
    if found.dropped is not None and any(one.view.refused_by is None for one in near):
        console.say(
            "\nWhere nothing keeps them apart, the one kept later would now be a duplicate: a "
            "text, the settings or dedup changed since, or there were more candidates than "
            "decision.most_candidates."
        )


def _table_of_near(found: Inspected, near: Sequence[Near], console: Output) -> Table:
    """Return the table: what is least where similarity decides, and who was kept before whom."""
    least = () if found.settings.decision.judges else ("least",)
    kept = ("kept",) if any(one.before is not None for one in near) else ()
    texts = Column("differences", overflow="fold", min_width=40, max_width=60)
    names = (*kept, "found by", "kept apart by", "_id")
    table = new_table(*figures("similarity", *least, "distance"), *names, texts)
    for one in near:
        view = one.view
        table.add_row(
            f"{view.similarity:.3f}",
            *(f"{view.required:.3f}" for _ in least),
            "-" if view.distance is None else f"{view.distance}",
            *("before" if one.before else "later" for _ in kept),
            ", ".join(view.channels) or "-",
            view.refused_by or "nothing",
            one.id,
            pairs.marked_line(pieces_of(found.items[0].text or "", one.text), console, 160),
        )
    return table


def _show_duplicates(found: Inspected, dropped: int, console: Output) -> None:
    if not dropped:
        console.say("No document was dropped for it.")
        return
    shown = len(found.duplicates)
    first = f", the first {shown:,} here" if shown < dropped else ""
    were = "document was" if dropped == 1 else "documents were"
    console.say(f"{dropped:,} {were} dropped for it{first}:\n")
    table = new_table(Column("_id", no_wrap=True), "reason", *figures("similarity", "run"))
    for one in found.duplicates:
        similarity = "" if one.pair.similarity is None else f"{one.pair.similarity:.3f}"
        table.add_row(one.id, one.reason, similarity, str(one.run))
    console.table(table)
    if first:
        line = command_line("list", "--what", "dropped", "--of", "ID", "--target", found.target)
        console.say(f"\n`{line}` lists all.")


def _settings_lines(settings: Settings) -> Iterator[tuple[str, str]]:
    """Yield the settings that decide, those that are not the defaults and the chief ones."""
    for section in ("source", "cleaning", "fingerprint", "index", "decision"):
        part = getattr(settings, section)
        values = part.model_dump(mode="json", include=_CHIEF.get(section, set()))
        values |= part.model_dump(mode="json", exclude_defaults=True)
        if values:
            told = (
                f"{name} = {json.dumps(value, ensure_ascii=False)}"
                for name, value in values.items()
            )
            yield f"[{section}]", ", ".join(told)
    yield "", "all others are the defaults, see dedup config show"
