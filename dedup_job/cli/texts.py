"""`dedup fingerprint` and `dedup compare`: what the tool sees in a text."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from dedup_job import commands
from dedup_job.cli.classes import lines_now, table_of_differences
from dedup_job.cli.console import console, working
from dedup_job.cli.explain_lines import kept_apart
from dedup_job.cli.options import CONNECTION, Options, with_options
from dedup_job.errors import UsageError
from dedup_job.report.output import Output, new_table

if TYPE_CHECKING:
    from rich.table import Table

    from dedup_job.commands.texts import ComparedTexts, SeenText

_EMPTY = "nothing is left after cleaning"
_LARGEST = 16 << 20  # bytes of a text


@with_options("config")
def fingerprint(
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="The text, or - to read it from standard input.")
    ],
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the cleaned text, its tokens and the route.")
    ] = False,
    *,
    options: Options,
) -> None:
    """Show the fingerprint of a text and the keywords that it is made of."""
    settings, wanted = options.load(), [read_text(text)]
    with working("ended; nothing was written.") as progress:
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
    options: Options,
) -> None:
    """Show whether two texts are duplicates, and why: differences, similarity, keywords.

    With --target they are compared as the last run of that target does it.
    """
    settings, one, other = options.load(), read_text(a), read_text(b)
    with working("ended; nothing was written.") as progress:
        found = commands.texts.compare_texts(
            settings, one, other, target, progress, given=options.config is not None
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


def read_text(text: str) -> str:
    """Return the text, read from standard input where it is -.

    Raises UsageError if that is not UTF-8 or larger than any document.
    """
    if text != "-":
        return text
    content = sys.stdin.buffer.read(_LARGEST + 1)  # a device has no end
    if len(content) > _LARGEST:
        raise UsageError(f"standard input holds more than {_LARGEST >> 20} MiB, as no document.")
    try:
        return content.decode()
    except UnicodeDecodeError as e:
        raise UsageError(f"standard input is not UTF-8: {e.reason} at byte {e.start}") from e


def _reasons(found: ComparedTexts) -> Iterator[str]:
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
    harmful = [str(one.kind) for one in view.differences if not one.harmless]
    decides = "" if settings.decision.judges else " (the judge is off)"
    yield f"differences: {_kinds(harmful) if harmful else 'all harmless'}{decides}"
    apart = kept_apart(view, settings.decision)
    yield f"not duplicates: {apart}" if apart else "duplicates (near)"


def _kinds(kinds: list[str]) -> str:
    return f"not harmless: {', '.join(dict.fromkeys(kinds))}"


def _describe(console: Output, name: str, seen: SeenText) -> None:
    kind = "  (short: a hash of the text, found by minhash or as it is)" if seen.short else ""
    if not seen.text:
        kind = f"  (a run skips it: {_EMPTY})"
    console.say(f"{name}fingerprint {seen.value:016x}  {seen.value:064b}{kind}")


def _feature_table(seen: SeenText) -> Table:

    table = new_table()
    table.add_column("n-gram" if seen.why.route == "n-grams" else "keyword", overflow="fold")
    table.add_column("weight", justify="right")
    for feature, weight in seen.why.features:
        table.add_row(feature, f"{weight:.4f}")
    return table


def _comparison_table(one: SeenText, two: SeenText) -> Table:

    table = new_table()
    table.add_column("keyword", overflow="fold")
    table.add_column("in A", justify="right")
    table.add_column("in B", justify="right")
    mine, others = dict(one.why.features), dict(two.why.features)
    shared = [word for word in mine if word in others]
    only_a = [word for word in mine if word not in others]
    only_b = [word for word in others if word not in mine]
    for words in (shared, only_a, only_b):
        for word in words:
            found = (weights.get(word) for weights in (mine, others))
            table.add_row(word, *("-" if w is None else f"{w:.4f}" for w in found))
        table.add_section()
    return table
