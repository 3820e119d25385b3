"""Which format a name stands for, how it is compressed, and what every format has."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol, TypeVar, cast

from dedup_job.documents import Refusal
from dedup_job.errors import UsageError
from dedup_job.messages import Message

T = TypeVar("T")
JSON_LINES, CSV = "JSON lines", "CSV"
_SUFFIXES = {
    **dict.fromkeys((".jsonl", ".ndjson"), JSON_LINES),
    **dict.fromkeys((".csv", ".tsv"), CSV),
}
_COMPRESSED = ".gz"
_LEVEL = 6  # of gzip
ROWS, BYTES = 2000, 8 << 20
"""Of a page: rows at most, and about so many bytes."""
LONGEST = 64 << 20
"""Bytes of a line, characters of a field."""

BOM = b"\xef\xbb\xbf"
"""The byte order mark that some programs write before UTF-8; such as Excel need it."""
NOT_UTF8 = Message("the text is not UTF-8")

Content = str | Refusal
"""A text, with a break between its parts, or why there is none."""


class Writer(Protocol):
    """Writes rows that the reader of the same format gave."""

    def write(self, rows: Any, kept: Sequence[int], texts: Mapping[int, str]) -> None:
        """Write those of the rows that are kept; texts: the new ones, by row."""

    def close(self) -> None:
        """Write what is left; the stream stays open."""


class Named(NamedTuple):
    """A file by its name: format, compression ("" or ".gz"), and the suffix between."""

    path: Path
    format: str
    compression: str
    suffix: str


def named(path: Path) -> Named:
    """Return what the name of a file says; UsageError where it names no format."""
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    compression = suffixes.pop() if suffixes and suffixes[-1] == _COMPRESSED else ""
    suffix = suffixes[-1] if suffixes else ""
    format_ = _SUFFIXES.get(suffix)
    if format_ is None:
        raise UsageError(
            "{file} names no format. Expected the end .jsonl, .csv or .tsv, each also with .gz "
            "behind it.",
            file=path,
        )
    return Named(path, format_, compression, suffix)


def paged(rows: Iterable[tuple[int, T, int]]) -> Iterator[tuple[list[int], list[T]]]:
    """Yield rows in pages: their numbers, and the rows; each comes with its number and size."""
    numbers, page, size = list[int](), list[T](), 0
    for number, row, own in rows:
        numbers.append(number)
        page.append(row)
        size += own
        if len(page) == ROWS or size > BYTES:
            yield numbers, page
            numbers, page, size = [], [], 0
    if page:
        yield numbers, page


def fields_in(field: str, names: Sequence[str]) -> list[str]:
    """Return the columns that --field names: one, which may have a comma itself, or several."""
    return [field] if field in names else field.split(",")


def is_unicode(text: str) -> bool:
    """Tell whether a text can be written as UTF-8: it has no half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def packed(stream: BinaryIO, mode: str, compression: str) -> BinaryIO:
    """Return a stream that compresses into this one, or reads from it; its end leaves this open."""
    # without a time, so that equal files are equal bytes
    form = gzip.GzipFile("", mode, _LEVEL, stream, mtime=0) if compression else stream
    return cast("BinaryIO", form)
