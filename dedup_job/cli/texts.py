"""`dedup fingerprint` and `dedup compare`: what the tool sees in a text."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from dedup_job.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_Config = Annotated[Path | None, typer.Option(metavar="FILE", help="Settings in TOML.")]


class _Seen(NamedTuple):
    """A text as the tool sees it."""

    text: str
    value: int
    short: bool
    keywords: dict[str, float]


def fingerprint(
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="The text, or - to read it from standard input.")
    ],
    config: _Config = None,
) -> None:
    """Show the fingerprint of a text and the keywords that it is made of."""
    from rich.console import Console

    (seen,) = _see([_read(text)], config)
    console = Console(highlight=False)
    _describe(console, "", seen)
    console.print(_keyword_table(seen))


def compare(
    a: Annotated[
        str, typer.Argument(metavar="A", help="A text, or - to read it from standard input.")
    ],
    b: Annotated[str, typer.Argument(metavar="B", help="Another text.")],
    config: _Config = None,
) -> None:
    """Show the fingerprints of two texts, their distance, and which keywords they share."""
    from rich.console import Console

    from dedup_job.fingerprint import hamming
    from dedup_job.settings import load

    one, two = _see([_read(a), _read(b)], config)
    limit = load(file=config).settings.index.distance
    console = Console(highlight=False)
    _describe(console, "A ", one)
    _describe(console, "B ", two)
    console.print()
    console.print(_comparison_table(one, two))
    console.print()
    if one.text == two.text:
        console.print("equal texts: duplicates (exact)")
    elif one.short or two.short:
        console.print("a short text is compared by its exact text only: not duplicates")
    else:
        bits = hamming(one.value, two.value)
        verdict = "duplicates (near)" if bits <= limit else "not duplicates"
        console.print(f"distance {bits} of 64 bits, limit {limit}: {verdict}")


def _read(text: str) -> str:
    if text != "-":
        return text
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as e:
        raise UsageError(f"standard input is not UTF-8: {e}") from e


def _see(texts: list[str], config: Path | None) -> list[_Seen]:
    from dedup_job.cleaning import Cleaner
    from dedup_job.fingerprint import Fingerprinter
    from dedup_job.settings import load

    settings = load(file=config).settings
    cleaner, fingerprinter = Cleaner(settings.cleaning), Fingerprinter(settings.fingerprint)
    cleaned = [cleaner.clean(text) for text in texts]
    found = fingerprinter.fingerprint(cleaned)
    return [
        _Seen(
            text,
            int(found.values[i]),
            bool(found.short[i]),
            dict(fingerprinter.keywords.extract(text)),
        )
        for i, text in enumerate(cleaned)
    ]


def _describe(console: Console, name: str, seen: _Seen) -> None:
    kind = ""
    if seen.short:
        kind = f"  (short: {len(seen.keywords)} keywords; compared by its exact text only)"
    console.print(f"{name}fingerprint {seen.value:016x}  {seen.value:064b}{kind}", soft_wrap=True)


def _keyword_table(seen: _Seen) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("keyword")
    table.add_column("weight", justify="right")
    for word, weight in seen.keywords.items():
        table.add_row(word, f"{weight:.4f}")
    return table


def _comparison_table(one: _Seen, two: _Seen) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("keyword")
    table.add_column("in A", justify="right")
    table.add_column("in B", justify="right")
    shared = [word for word in one.keywords if word in two.keywords]
    only_a = [word for word in one.keywords if word not in two.keywords]
    only_b = [word for word in two.keywords if word not in one.keywords]
    for words in (shared, only_a, only_b):
        for word in words:
            weights = (seen.keywords.get(word) for seen in (one, two))
            table.add_row(word, *("-" if w is None else f"{w:.4f}" for w in weights))
        table.add_section()
    return table
