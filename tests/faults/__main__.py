"""Bring about every fault that a run must live through, and print what became of it.

    python -m tests.faults [--scale 1] [PART ...]

Real servers, real processes. Ends with 1 if anything ended otherwise than it should. The whole
takes about 20 minutes; --scale 0.1 brings about a tenth of the faults, each kind once at least.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.table import Table

from tests.faults.table import Row

PARTS = (
    "kills",
    "nights",
    "outages",
    "failing_commands",
    "rollback",
    "late",
    "races",
    "bad_documents",
    "local",
    "tampered",
    "cluster",
)


def rows(parts: Iterable[str], scale: float) -> Iterator[Row]:
    """Yield the results of the faults, part by part; a part that breaks is a row as well."""
    for name in parts:
        began = time.monotonic()
        try:
            yield from importlib.import_module(f"tests.faults.{name}").run(scale)
        except Exception as e:  # noqa: BLE001  # the other parts are worth their time all the same
            yield Row(f"{name} broke off", 1, 0, f"{type(e).__name__}: {e}")
        print(f"{name}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)


def main() -> int:
    """Print a row for each fault as it is through, and all of them as a table at the end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--scale", type=float, default=1.0)
    arguments = parser.parse_args()
    if unknown := set(arguments.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    table = Table("fault", "times", "good", "detail", box=None, padding=(0, 2))
    for column in (1, 2):
        table.columns[column].justify = "right"
    bad = 0
    for row in rows(arguments.parts or PARTS, arguments.scale):
        bad += row.good != row.times
        cells = (row.fault, f"{row.times:,}", f"{row.good:,}", row.detail)
        print("  ".join(cells), file=sys.stderr, flush=True)
        table.add_row(*cells)
    Console(width=160).print(table)
    print("every fault ended as it should" if not bad else f"{bad} FAULTS ENDED OTHERWISE")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
