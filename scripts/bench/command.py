"""Command lines of the scripts, and files of JSON lines."""

import argparse
import gzip
import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"


def parser_of(doc: str | None) -> argparse.ArgumentParser:
    """Return a parser whose help is the docstring of a script."""
    return argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def count(text: str) -> int:
    """Return the integer of a text such as 5000 or 2e7."""
    return int(float(text))


def environment_of(assignments: list[str]) -> dict[str, str]:
    """Return NAME=VALUE assignments as a dict."""
    return dict(assignment.split("=", 1) for assignment in assignments)


def records_of(file: Path) -> list[dict[str, Any]]:
    """Return the records of a file of JSON lines, compressed or not."""
    opened = gzip.open if file.suffix == ".gz" else open
    with opened(file, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def texts_of(file: Path, field: str = "text") -> list[str]:
    """Return the texts of a field of a file."""
    return [r[field] for r in records_of(file) if isinstance(r.get(field), str)]
