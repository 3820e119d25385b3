"""`dedup fingerprint` and `dedup compare`: what the tool sees in a text."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated

import typer

from dedup_job.cli.options import Config, Database, Uri, UriFile, source_flags
from dedup_job.errors import UsageError

if TYPE_CHECKING:
    from rich.table import Table

    from dedup_job.decision import Equipment
    from dedup_job.decision.pair import PairView
    from dedup_job.documents import Fingerprints
    from dedup_job.fingerprint import Explanation
    from dedup_job.report.output import Output
    from dedup_job.settings import Settings


_EMPTY = "nothing is left after cleaning"
_LARGEST = 16 << 20  # bytes of a text


@dataclass(frozen=True)
class _Seen:
    """A text as the tool sees it."""

    text: str
    value: int
    short: bool
    why: Explanation
    prints: Fingerprints  # of all texts that were asked for

    @cached_property
    def features(self) -> dict[str, float]:
        """Weight by feature, the heaviest first."""
        return dict(self.why.features)


def fingerprint(
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="The text, or - to read it from standard input.")
    ],
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the cleaned text, its tokens and the route.")
    ] = False,
    config: Config = None,
) -> None:
    """Show the fingerprint of a text and the keywords that it is made of."""
    from dedup_job.cli.console import console as output
    from dedup_job.settings import load

    settings = load(file=config).settings
    equipment = settings.equipment(lambda told: typer.echo(told, err=True))
    (seen,) = _see([read_text(text)], settings, equipment)
    console = output()
    _describe(console, "", seen)
    if explain:
        console.say(f"route: {seen.why.route}")
        console.say(f"text: {seen.text}")
        console.say(f"tokens: {' / '.join(seen.why.tokens)}")
    console.say()
    console.table(_feature_table(seen))


def compare(
    a: Annotated[
        str, typer.Argument(metavar="A", help="A text, or - to read it from standard input.")
    ],
    b: Annotated[str, typer.Argument(metavar="B", help="Another text.")],
    target: Annotated[
        str | None,
        typer.Option(metavar="NS", help="Take the settings of the last run of this target."),
    ] = None,
    uri: Uri = None,
    uri_file: UriFile = None,
    db: Database = None,
    config: Config = None,
) -> None:
    """Show whether two texts are duplicates, and why: differences, similarity, keywords.

    With --target they are compared as the last run of that target does it.
    """
    from dedup_job.cli.classes import lines_now, table_of_differences
    from dedup_job.cli.console import console as output
    from dedup_job.decision.pair import PairViewer
    from dedup_job.settings import load

    loaded = load(source_flags(uri, uri_file, db, None), config).settings
    texts = [read_text(a), read_text(b)]
    settings, equipment = _as_made(loaded, target, given=config is not None)
    one, two = _see(texts, settings, equipment)
    viewer = PairViewer(settings.decision, settings.index, equipment.any_judge)
    view = viewer.view(one.text, two.text, two.prints)
    console = output()
    _describe(console, "A ", one)
    _describe(console, "B ", two)
    console.say()
    console.table(_comparison_table(one, two))
    console.say()
    if view.differences:
        console.table(table_of_differences(lines_now(view.differences), "A", "B"))
        console.say()
    empty = [name for name, seen in (("A", one), ("B", two)) if not seen.text]
    if empty:
        console.say(f"not compared: a run skips {' and '.join(empty)}, {_EMPTY}")
        return
    for line in _reasons(view, settings):
        console.say(line)


def _as_made(settings: Settings, target: str | None, *, given: bool) -> tuple[Settings, Equipment]:
    """Return settings and equipment: those of a target where one is named."""
    from dedup_job.cli.opened import opened_as_made

    if target is not None:
        with opened_as_made(settings, target, given=given) as on:
            settings = on.settings
    return settings, settings.equipment(lambda text: typer.echo(text, err=True))


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


def _see(texts: list[str], settings: Settings, equipment: Equipment) -> list[_Seen]:
    from dedup_job.cleaning import Cleaner

    cleaner, fingerprinter = Cleaner(settings.cleaning), equipment.fingerprinter
    cleaned = [cleaner.clean(text) for text in texts]
    found = fingerprinter.fingerprint(cleaned)
    return [
        _Seen(text, int(found.values[i]), bool(found.short[i]), fingerprinter.explain(text), found)
        for i, text in enumerate(cleaned)
    ]


def _reasons(view: PairView, settings: Settings) -> Iterator[str]:
    from dedup_job.cli.explain_lines import kept_apart

    if view.equal:
        yield "equal texts: duplicates (exact)"
        return
    if view.distance is None:
        yield "distance: a short text has no simhash"
    else:
        yield f"distance: {view.distance} of 64 bits, limit {settings.index.distance}"
    found = ", ".join(view.channels) or "no channel"
    yield f"found by: {found} (channels: {', '.join(settings.index.channels) or 'none'})"
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


def _describe(console: Output, name: str, seen: _Seen) -> None:
    kind = "  (short: a hash of the text, found by minhash or as it is)" if seen.short else ""
    if not seen.text:
        kind = f"  (a run skips it: {_EMPTY})"
    console.say(f"{name}fingerprint {seen.value:016x}  {seen.value:064b}{kind}")


def _feature_table(seen: _Seen) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("n-gram" if seen.why.route == "n-grams" else "keyword", overflow="fold")
    table.add_column("weight", justify="right")
    for feature, weight in seen.features.items():
        table.add_row(feature, f"{weight:.4f}")
    return table


def _comparison_table(one: _Seen, two: _Seen) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("keyword", overflow="fold")
    table.add_column("in A", justify="right")
    table.add_column("in B", justify="right")
    shared = [word for word in one.features if word in two.features]
    only_a = [word for word in one.features if word not in two.features]
    only_b = [word for word in two.features if word not in one.features]
    for words in (shared, only_a, only_b):
        for word in words:
            weights = (seen.features.get(word) for seen in (one, two))
            table.add_row(word, *("-" if w is None else f"{w:.4f}" for w in weights))
        table.add_section()
    return table
