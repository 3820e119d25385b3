"""A file as the source of a run, with the reader and the writer of its format."""

from __future__ import annotations

import os
import zlib
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from dedup_job.columns import Documents
from dedup_job.datafiles.delimited import DelimitedReader, Records
from dedup_job.datafiles.formats import CSV, Named, packed
from dedup_job.datafiles.json_lines import JsonLinesReader, Lines
from dedup_job.documents import longest_before, too_long_before
from dedup_job.errors import UsageError
from dedup_job.files import open_regular
from dedup_job.job.protocols import Source
from dedup_job.native.bytes_column import elements_of, no_strings
from dedup_job.native.code_points import pack
from dedup_job.native.parts import has_breaks


@contextmanager
def reading(file: Named, field: str) -> Iterator[Reader]:
    """Open a file; yield its reader. field: of the text, as --field. UsageError says why not."""
    name = str(file.path)
    try:
        stream = open_regular(file.path)
    except OSError as e:
        raise UsageError("{file} cannot be read: {why}.", file=name, why=e.strerror) from e
    with stream:
        try:
            unpacked = packed(stream, "rb", file.compression)
            if file.format == CSV:
                yield DelimitedReader(unpacked, name, field, file.suffix)
            else:
                size = None if file.compression else os.fstat(stream.fileno()).st_size
                yield JsonLinesReader(unpacked, name, field, size)
        except (OSError, EOFError, zlib.error) as e:
            if getattr(e, "errno", None) is not None:
                raise
            raise UsageError("{file} is damaged: {why}", file=name, why=str(e)) from e


Reader = DelimitedReader | JsonLinesReader
Rows = Records | Lines
_KEY = np.dtype(">i8")  # of row numbers: their bytes have the same order


def number_of(key: bytes) -> int:
    """Return the number of the row with a key."""
    return int.from_bytes(key, "big")


class FileSource(Source):
    """Gives the rows of a file; those on their way are held for the writer."""

    def __init__(self, reader: Reader, most: int) -> None:
        """Take what reads the file; most: characters of a cleaned text."""
        self.reader, self._most = reader, most
        self.under_way: deque[Rows] = deque()

    @property
    def undecided(self) -> int | None:
        """About how many rows there are."""
        return self.reader.expected

    def pages(self, limit: int | None) -> Iterator[Documents]:  # noqa: ARG002
        """Yield all rows as documents, in order, with their numbers as keys."""
        for rows in self.reader.pages():
            self.under_way.append(rows)
            yield _documents(rows, self._most)


def _documents(page: Rows, most: int) -> Documents:
    contents, longest = [*page.contents()], longest_before(most)
    for row, content in enumerate(contents):
        if isinstance(content, str) and len(content) > longest:
            contents[row] = too_long_before(len(content), most)
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
