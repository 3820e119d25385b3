"""`dedup fingerprint`, `dedup compare`, `dedup query`: what the tool sees in a text."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Annotated

import typer
from rich.table import Column, Table
from rich.text import Text

from dedup_job import commands
from dedup_job.cli.console import console, working
from dedup_job.cli.differences import lines_now, table_of_differences
from dedup_job.cli.explain import kept_apart, told_of_differences
from dedup_job.cli.options import CONNECTION, OF_A_TARGET, Given, Target, check_range, with_options
from dedup_job.documents import Decision, Duplicate, Kept
from dedup_job.errors import UsageError
from dedup_job.mongo.bson.extended_json import shown
from dedup_job.report.output import Output, figures, new_table

_EMPTY = "nothing is left after cleaning"
_MAX_TEXT = 16 << 20  # bytes of a text
_MAX_SHOWN = 10_000
_TEXT_WIDTH = 60  # columns of the terminal, of which a Chinese character takes two

_ARGUMENT = "The text, or - to read it from standard input."


@with_options("config")
def fingerprint(
    text: Annotated[str, typer.Argument(metavar="TEXT", help=_ARGUMENT)],
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the cleaned text, its tokens and the route.")
    ] = False,
    *,
    options: Given,
) -> None:
    """Show the fingerprint of a text and its keywords."""
    settings, wanted = options.load(), [_read_text(text)]
    with working() as progress:
        (seen,) = commands.texts.fingerprint_texts(settings, wanted, progress)
    out = console()
    _describe(out, "", seen)
    if explain:
        out.say(f"route: {seen.why.route}")
        out.say(f"text: {seen.text}")
        out.say(f"tokens: {' / '.join(seen.why.tokens)}")
    out.say()
    out.table(_feature_table(seen))


@with_options(*CONNECTION, "config")
def compare(
    a: Annotated[
        str, typer.Argument(metavar="A", help="A text, or - to read it from standard input.")
    ],
    b: Annotated[str, typer.Argument(metavar="B", help="Another text.")],
    target: Annotated[
        str | None,
        typer.Option(metavar="NS", help="Take the settings of the last run of this target."),
    ] = None,
    *,
    options: Given,
) -> None:
    """Show whether two texts are duplicates, and why: differences, similarity, keywords.

    With --target they are compared as the last run of that target does it.
    """
    settings, one, other = options.load(), _read_text(a), _read_text(b)
    with working() as progress:
        found = commands.texts.compare_texts(
            settings, one, other, target, progress, given=options.given
        )
    out = console()
    _describe(out, "A ", found.one)
    _describe(out, "B ", found.other)
    out.say()
    out.table(_comparison_table(found.one, found.other))
    out.say()
    if found.view.differences:
        out.table(table_of_differences(lines_now(found.view.differences), "A", "B"))
        out.say()
    sides = (("A", found.one), ("B", found.other))
    empty = [name for name, seen in sides if not seen.text]
    if empty:
        out.say(f"not compared: a run skips {' and '.join(empty)}, {_EMPTY}")
        return
    for line in _reasons(found):
        out.say(line)


@with_options(*OF_A_TARGET)
def query(
    text: Annotated[str, typer.Argument(metavar="TEXT", help=_ARGUMENT)],
    target: Target,
    k: Annotated[
        int | None,
        typer.Option(
            "--k",
            metavar="K",
            help="Show all documents within K of 64 bits, 0 to 7, not what a run finds.",
        ),
    ] = None,
    limit: Annotated[int, typer.Option(metavar="N", help="Show the nearest N at most.")] = 10,
    *,
    options: Given,
) -> None:
    """Show what a run would do with a text, and the kept documents that it is compared with.

    They are found and judged as by a run, with the settings of the target's last run unless
    --config or --field gives others; duplicates come first, then the most similar ones. With --k
    all documents within that distance are shown, the nearest first. Nothing is written.
    """
    settings = options.load()
    if k is not None:
        check_range("--k", k, 0, 7)
    check_range("--limit", limit, 1, _MAX_SHOWN)
    wanted = _read_text(text)
    with working() as progress:
        answer = commands.texts.query_target(
            settings, target, wanted, progress, limit=limit, distance=k, given=options.given
        )
    output = console()
    if answer.nearest:
        output.table(_table_of_near(answer.nearest), spare=["found by"])
        output.say()
    for line in _summary(answer, k):
        output.say(line)


def _read_text(text: str) -> str:
    """Return the text, read from standard input where it is -.

    Raises UsageError if that is not UTF-8 or larger than any document.
    """
    if text != "-":
        return text
    content = sys.stdin.buffer.read(_MAX_TEXT + 1)  # a device has no end
    if len(content) > _MAX_TEXT:
        raise UsageError(
            f"standard input holds more than {_MAX_TEXT >> 20} MiB; no document is that large."
        )
    try:
        return content.decode()
    except UnicodeDecodeError as e:
        raise UsageError(f"standard input is not UTF-8: {e.reason} at byte {e.start}") from e


def _reasons(found: commands.texts.ComparedTexts) -> Iterator[str]:
    view, settings = found.view, found.settings
    if view.equal:
        yield "equal texts: duplicates (exact)"
        return
    if view.distance is None:
        yield "distance: a short text has no simhash"
    else:
        yield f"distance: {view.distance} of 64 bits, limit {settings.index.distance}"
    by = ", ".join(view.channels) or "no channel"
    yield f"found by: {by} (channels: {', '.join(settings.index.channels) or 'none'})"
    least = "" if settings.decision.judges else f", least {view.required:.4f}"
    folded = f"as they are {view.raw:.4f}, folded {view.folded:.4f}{least}"
    yield f"similarity ({settings.decision.compare}): {folded}"
    yield f"differences: {told_of_differences(view, settings.decision)}"
    apart = kept_apart(view, settings.decision)
    yield f"not duplicates: {apart}" if apart else "duplicates (near)"


def _describe(console: Output, name: str, seen: commands.texts.SeenText) -> None:
    kind = "  (short: a hash of the text, found by minhash or as it is)" if seen.short else ""
    if not seen.text:
        kind = f"  (a run skips it: {_EMPTY})"
    console.say(f"{name}fingerprint {seen.value:016x}  {seen.value:064b}{kind}")


def _feature_table(seen: commands.texts.SeenText) -> Table:
    name = "n-gram" if seen.why.route == "n-grams" else "keyword"
    table = new_table(Column(name, overflow="fold"), *figures("weight"))
    for feature, weight in seen.why.features:
        table.add_row(feature, f"{weight:.4f}")
    return table


def _comparison_table(one: commands.texts.SeenText, two: commands.texts.SeenText) -> Table:
    table = new_table(Column("keyword", overflow="fold"), *figures("in A", "in B"))
    mine, others = dict(one.why.features), dict(two.why.features)
    shared = [word for word in mine if word in others]
    only_a = [word for word in mine if word not in others]
    only_b = [word for word in others if word not in mine]
    for words in (shared, only_a, only_b):
        for word in words:
            found = (f"{all_[word]:.4f}" if word in all_ else "-" for all_ in (mine, others))
            table.add_row(word, *found)
        table.add_section()
    return table


def _told(decision: Decision) -> str:
    """Say what a run would do."""
    if isinstance(decision, Duplicate):
        pair = decision.pair
        more = f"; it has more: {', '.join(pair.richer)}" if pair.richer else ""
        return f"a run drops it: {decision.reason} duplicate of _id {shown(pair.of)}{more}"
    assert isinstance(decision, Kept)  # of a text nothing else is decided
    refused = decision.nearest
    near = f"; the nearest, _id {shown(refused.of)}, differs: {refused.kind}" if refused else ""
    return f"a run keeps it{near}"


def _table_of_near(nearest: list[commands.texts.Neighbour]) -> Table:
    table = new_table(
        "distance",
        "_id",
        *figures("similarity"),
        "kept apart by",
        Column("found by", overflow="fold"),
        Column("text", no_wrap=True, overflow="crop"),
    )
    for row in nearest:
        start = "".join(c if c.isprintable() else " " for c in row.text[: 4 * _TEXT_WIDTH])
        first = Text(" ".join(start.split()))
        first.truncate(_TEXT_WIDTH, overflow="ellipsis")
        view = row.view
        distance = "-" if view.distance is None else f"{view.distance}"
        table.add_row(
            "0, equal text" if view.equal else distance,
            shown(row.key),
            f"{view.similarity:.3f}",
            view.refused_by or "nothing",
            ", ".join(view.channels) or "-",
            first,
        )
    return table


def _summary(answer: commands.texts.Answer, k: int | None) -> Iterator[str]:
    kept = f"{answer.kept:,} kept documents"
    where = "is a candidate" if k is None else f"is within distance {k}"
    count = len(answer.nearest)
    more = f"; the nearest {count:,}" if answer.found > count else ""
    if not answer.found:
        yield f"none of {kept} {where}"
    elif k is None:
        yield f"candidates: {answer.found:,} of {kept}{more}"
    else:
        yield f"{answer.found:,} of {kept} within distance {k}{more}"
    yield _told(answer.decision)
    if answer.settings_of:
        yield f"settings: those of run {answer.settings_of}"
