"""A file as the source of a run, with the reader and the writer of its format."""

from __future__ import annotations

import os
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import contextmanager
from functools import partial
from typing import BinaryIO

import numpy as np

from dedup_job.columns import Documents, Holding
from dedup_job.datafiles.delimited import DelimitedReader, DelimitedWriter, Records
from dedup_job.datafiles.formats import CSV, Content, Make, Named, Writer, packed
from dedup_job.datafiles.json_lines import JsonLinesReader, JsonLinesWriter, Lines
from dedup_job.documents import longest_before, too_long_before
from dedup_job.errors import UsageError
from dedup_job.files import open_regular
from dedup_job.native.bytes_column import elements_of, no_strings
from dedup_job.native.code_points import pack
from dedup_job.native.parts import has_breaks


@contextmanager
def reading(file: Named, field: str) -> Iterator[tuple[Reader, Make]]:
    """Open a file; yield what reads it, and what makes a writer of rows like its own.

    field: names the text, of JSON lines by dotted paths. UsageError says why not.
    """
    name = str(file.path)
    try:
        stream = open_regular(file.path)
    except OSError as e:
        raise UsageError("{file} cannot be read: {why}.", file=name, why=e.strerror) from e
    with stream:
        try:
            size = None if file.compression else os.fstat(stream.fileno()).st_size
            yield _opened(file, packed(stream, "rb", file.compression), name, field, size)
        except (OSError, EOFError, zlib.error) as e:
            if getattr(e, "errno", None) is not None:
                raise
            raise UsageError("{file} is damaged: {why}", file=name, why=str(e)) from e


def _opened(
    file: Named, stream: BinaryIO, name: str, field: str, size: int | None
) -> tuple[Reader, Make]:
    if file.format == CSV:
        records = DelimitedReader(stream, name, field, file.suffix)

        def make(out: BinaryIO) -> Writer:
            return DelimitedWriter(out, records.names, file.suffix, bom=records.bom)

        return records, make
    lines = JsonLinesReader(stream, name, field, size)
    return lines, partial(JsonLinesWriter, bom=lines.bom)


Reader = DelimitedReader | JsonLinesReader
Rows = Records | Lines
_KEY = np.dtype(">i8")  # of row numbers: their bytes have the same order


def number_of(key: bytes) -> int:
    """Return the number of the row with a key."""
    return int.from_bytes(key, "big")


class FileSource:
    """Gives the rows of a file; those on their way are held for who writes them."""

    known = 0
    bookmark = None

    def __init__(self, reader: Reader, most: int) -> None:
        """Take what reads the file; most: characters of a cleaned text."""
        self._reader, self._most = reader, most
        self.changed: Mapping[str, Set[bytes]] = {}
        self.tells = True
        self.under_way: deque[Rows] = deque()

    def mark(self, since: object) -> None:
        """Remember nothing: a file has no changes."""

    @property
    def undecided(self) -> int | None:
        """About how many rows there are."""
        return self._reader.expected

    def trust(self, index: Callable[[], Holding | None]) -> None:
        """Do nothing: no row is looked up."""

    def pages(self, limit: int | None) -> Iterator[Documents]:  # noqa: ARG002
        """Yield all rows as documents, in order, with their numbers as keys."""
        for rows in self._reader.pages():
            self.under_way.append(rows)
            yield _documents(rows, self._most)


def _documents(page: Rows, most: int) -> Documents:
    contents = [_content(content, most) for content in page.contents()]
    texts = {row: text for row, text in enumerate(contents) if isinstance(text, str)}
    n, packed = len(contents), pack([*texts.values()])
    return Documents(
        raw=no_strings(n),
        keys=elements_of(np.array(page.numbers, dtype=_KEY)),
        text_at=np.zeros(n, dtype=np.int64),
        as_read=np.ones(n, dtype=np.bool_),
        rows=np.array([*texts], dtype=np.int64),
        texts=packed,
        cut=np.zeros(len(texts), dtype=np.int64),
        refusals={row: why for row, why in enumerate(contents) if not isinstance(why, str)},
        id_of=number_of,
        marked=packed if has_breaks(packed) else None,
    )


def _content(content: Content, most: int) -> Content:
    if isinstance(content, str) and len(content) > longest_before(most):
        return too_long_before(len(content), most)
    return content
