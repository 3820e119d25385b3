"""What the scripts share: command lines, files of JSON lines."""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from timeit import timeit
from typing import Any

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"


def parser_of(doc: str | None) -> argparse.ArgumentParser:
    """Return a parser whose help is the docstring of a script."""
    return argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def count(text: str) -> int:
    """Read a number such as 5000 or 2e7."""
    return int(float(text))


def environment_of(assignments: list[str]) -> dict[str, str]:
    """Return the assignments of --with."""
    return dict(assignment.split("=", 1) for assignment in assignments)


def records_of(file: Path) -> list[dict[str, Any]]:
    """Return the records of a file of JSON lines, compressed or not."""
    opened = gzip.open if file.suffix == ".gz" else open
    with opened(file, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def texts_of(file: Path, field: str = "text") -> list[str]:
    """Return the texts of a field of a file."""
    return [r[field] for r in records_of(file) if isinstance(r.get(field), str)]


def seconds_of(work: Callable[[], Any]) -> float:
    """Return the seconds of one call."""
    return timeit(work, number=1)
