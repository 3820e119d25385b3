"""A file as the source of a run."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Set

import numpy as np

from dedup_job.columns import Documents, Holding
from dedup_job.datafiles.delimited import DelimitedReader, Records
from dedup_job.datafiles.formats import Content
from dedup_job.datafiles.json_lines import JsonLinesReader, Lines
from dedup_job.documents import longest_before, too_long_before
from dedup_job.native.bytes_column import elements_of, no_strings
from dedup_job.native.code_points import pack
from dedup_job.native.parts import has_breaks

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
