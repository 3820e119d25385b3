"""The differences of two texts as a table: class, harmless or not, the words of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from dedup_job.cli.differences import visible
from dedup_job.report.output import new_table

if TYPE_CHECKING:
    from dedup_job.judgment import Found

_LONGEST = 60  # characters of a cell


@dataclass(frozen=True, slots=True)
class Line:
    """A difference: its class, whether it is harmless, the words of the two texts."""

    kind: str
    harmless: bool
    left: str
    right: str


def lines_now(found: Sequence[Found]) -> list[Line]:
    """Return what the judge finds now; the first text is on the left."""
    return [Line(str(one.kind), one.harmless, one.text, one.other) for one in found]


def lines_then(row: Mapping[str, Any]) -> list[Line]:
    """Return what a ledger row says of a near duplicate, whose differences were all harmless."""
    stored = row.get("differences")
    there = stored if isinstance(stored, list) else []
    return [
        Line(str(one.get("class")), True, str(one.get("text")), str(one.get("of")))
        for one in there
        if isinstance(one, Mapping)
    ]


def table_of_differences(lines: Iterable[Line], left: str, right: str) -> Table:
    """Return the table; left, right: what the two texts are called."""
    table = new_table()
    table.add_column("difference", no_wrap=True)
    table.add_column("harmless", no_wrap=True)
    for name in (left, right):
        table.add_column(name, overflow="fold")
    for line in lines:
        words = (Text(visible(_cut(side))) for side in (line.left, line.right))
        table.add_row(line.kind, "yes" if line.harmless else "no", *words)
    return table


def _cut(words: str) -> str:
    return f"{words[:_LONGEST]}…" if len(words) > _LONGEST else words
