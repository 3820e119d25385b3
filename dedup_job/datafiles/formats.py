"""Which format a name stands for, how it is compressed, and what every format has."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol, cast

from dedup_job.documents import Refusal
from dedup_job.errors import UsageError
from dedup_job.messages import Message

JSON_LINES, CSV, PARQUET = "JSON lines", "CSV", "Parquet"
_SUFFIXES = {
    **dict.fromkeys((".jsonl", ".ndjson"), JSON_LINES),
    **dict.fromkeys((".csv", ".tsv"), CSV),
    ".parquet": PARQUET,
}
_COMPRESSED = (".gz", ".zst")
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


class Rows(Protocol):
    """Some rows of a file, one after the other."""

    def __len__(self) -> int:
        """Return the number of rows."""

    @property
    def numbers(self) -> Sequence[int]:
        """The number of each row: of a JSON line its line, else without a header."""

    def contents(self) -> list[Content]:
        """Return the text of each row, or why it has none."""

    def others(self) -> list[dict[str, Any]]:
        """Return the other fields of each row by name, once its text was asked for."""


class Reader(Protocol):
    """Reads a file. Raises UsageError where it is not of its format, or lacks the field."""

    @property
    def expected(self) -> int | None:
        """About how many rows there are; None where only reading them could tell."""

    def pages(self) -> Iterator[Rows]:
        """Yield all rows, some thousand at a time."""


class Writer(Protocol):
    """Writes rows that the reader of the same format gave."""

    def write(self, rows: Any, kept: Sequence[int], texts: Mapping[int, str]) -> None:
        """Write those of the rows that are kept; texts: the new ones, by row."""

    def close(self) -> None:
        """Write what is left; the stream stays open."""


class Named(NamedTuple):
    """A file by its name: format, compression ("", ".gz" or ".zst"), and the suffix between."""

    path: Path
    format: str
    compression: str
    suffix: str


def named(path: Path) -> Named:
    """Return what the name of a file says; UsageError where it names no format."""
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    compression = suffixes.pop() if suffixes and suffixes[-1] in _COMPRESSED else ""
    suffix = suffixes[-1] if suffixes else ""
    format_ = _SUFFIXES.get(suffix)
    if format_ is None or (compression and format_ == PARQUET):
        raise UsageError(
            Message(
                "{file} names no format. Expected the end .jsonl, .csv or .tsv, each also with .gz "
                "or .zst behind it, or .parquet.",
                file=path,
            )
        )
    if (format_ == PARQUET or compression == ".zst") and find_spec("pyarrow") is None:
        raise UsageError(Message("{file} needs pyarrow: pip install 'dedup-job[files]'", file=path))
    return Named(path, format_, compression, suffix)


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


def unpacked(stream: BinaryIO, compression: str) -> BinaryIO:
    """Return what reads a stream that is compressed so."""
    if compression == ".gz":
        return cast("BinaryIO", gzip.GzipFile(fileobj=stream, mode="rb"))
    if compression == ".zst":
        import pyarrow as pa  # here: it takes half a second, and few files need it

        return io.BufferedReader(cast("Any", pa.CompressedInputStream(stream, "zstd")))
    return stream


def packed(stream: BinaryIO, compression: str) -> BinaryIO:
    """Return what compresses into a stream; it is to be closed, which leaves the stream open."""
    if compression == ".gz":  # without a time, so that equal files are equal bytes
        return cast("BinaryIO", gzip.GzipFile("", "wb", _LEVEL, stream, mtime=0))
    if compression == ".zst":
        import pyarrow as pa

        return cast("BinaryIO", pa.CompressedOutputStream(_StaysOpen(stream), "zstd"))
    return cast("BinaryIO", _StaysOpen(stream))


class _StaysOpen:
    """A stream that outlives who writes to it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.write, self.flush, self.tell = stream.write, stream.flush, stream.tell
        self.closed = False

    def writable(self) -> bool:
        return True

    def readable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False

    def close(self) -> None:
        self.closed = True
