"""What the scripts share: command lines, sections of a script, files of JSON lines."""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from timeit import timeit
from typing import Any

import psutil

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"
Section = Callable[[argparse.Namespace], int | None]


def parser_of(doc: str | None) -> argparse.ArgumentParser:
    """Return a parser whose help is the docstring of a script."""
    return argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def count(text: str) -> int:
    """Read a number such as 5000 or 2e7."""
    return int(float(text))


def counts(text: str) -> list[int]:
    """Read numbers with commas between."""
    return [count(part) for part in text.split(",")]


def environment_of(assignments: list[str]) -> dict[str, str]:
    """Return what --with gave."""
    return dict(assignment.split("=", 1) for assignment in assignments)


def run_sections(parser: argparse.ArgumentParser, *sections: Section) -> int:
    """Run the sections chosen, all where none is; return 1 where one found something wrong."""
    for section in sections:
        parser.add_argument(f"--{section.__name__}", action="store_true", help=section.__doc__)
    arguments = parser.parse_args()
    chosen = [section for section in sections if getattr(arguments, section.__name__)]
    bad = 0
    for section in chosen or sections:
        print(f"\n## {section.__name__} (load {psutil.getloadavg()[0]:.1f})", flush=True)
        bad += section(arguments) or 0
    return int(bad > 0)


def records_of(file: Path) -> list[dict[str, Any]]:
    """Return the records of a file of JSON lines, compressed or not."""
    opened = gzip.open if file.suffix == ".gz" else open
    with opened(file, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def texts_of(file: Path, *fields: str) -> list[str]:
    """Return the texts of a file: the fields, by default `text`, one after the other."""
    found = records_of(file)
    return [
        r[field] for field in fields or ("text",) for r in found if isinstance(r.get(field), str)
    ]


def seconds_of(work: Callable[[], Any]) -> float:
    """Return the seconds of one call."""
    return timeit(work, number=1)
