"""CSV and TSV: a header, then records; fields of a kept record keep their values."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Protocol

from dedup_job.datafiles.formats import Content
from dedup_job.documents import Quarantined, Reason, Skipped
from dedup_job.errors import UsageError

_ROWS = 2000
_LONGEST = 64 << 20  # characters of a field
_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_BYTES_AS_THEY_ARE = "surrogateescape"


class _Records(Protocol):
    def writerows(self, rows: Any, /) -> Any: ...


@dataclass(frozen=True, slots=True)
class Records:
    """Records of a file with their numbers, and the column that holds the text."""

    numbers: Sequence[int]
    records: Sequence[list[str]]
    column: int

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.numbers)

    def contents(self) -> list[Content]:
        """Return the text of each record, or why it has none."""
        return [self._content(record) for record in self.records]

    def _content(self, record: list[str]) -> Content:
        if len(record) <= self.column:
            return Skipped(Reason.MISSING)
        text = record[self.column]
        try:
            text.encode()
        except UnicodeEncodeError:
            return Quarantined(Reason.UNDECODABLE, "the text is not UTF-8")
        return text


class DelimitedReader:
    """Reads records of a stream, the first of which names the columns."""

    expected: int | None = None

    def __init__(self, stream: BinaryIO, name: str, field: str, suffix: str) -> None:
        """Read the header; UsageError where no column has the name of the field."""
        self._name = name
        csv.field_size_limit(_LONGEST)  # the module has no other way; its own limit is 128 KiB
        text = io.TextIOWrapper(stream, "utf-8-sig", _BYTES_AS_THEY_ARE, newline="")
        self._records = csv.reader(text, delimiter=_DELIMITERS[suffix])
        self.header = next(self._read(), [])
        if self.header.count(field) != 1:
            how = "has no column" if field not in self.header else "has more than one column"
            raise UsageError(
                f"{name} {how} {field!r}; its header names {', '.join(self.header) or 'none'}. "
                "Name the column that holds the text with --field."
            )
        self._column = self.header.index(field)

    def pages(self) -> Iterator[Records]:
        """Yield all records; blank lines are none."""
        numbers = itertools.count(1)
        rest = (record for record in self._read() if record)
        while records := list(itertools.islice(rest, _ROWS)):
            yield Records(list(itertools.islice(numbers, len(records))), records, self._column)

    def _read(self) -> Iterator[list[str]]:
        try:
            yield from self._records
        except csv.Error as e:
            raise UsageError(
                f"{self._name} is not CSV at line {self._records.line_num:,}: {e}."
            ) from e


class DelimitedWriter:
    """Writes a header and records to a stream."""

    def __init__(self, stream: BinaryIO, header: Sequence[str], suffix: str) -> None:
        self._text = io.TextIOWrapper(stream, "utf-8", _BYTES_AS_THEY_ARE, newline="")
        self._writer: _Records = csv.writer(
            self._text, delimiter=_DELIMITERS[suffix], lineterminator="\n"
        )
        self._writer.writerows([header])

    def write(self, rows: Records, kept: Sequence[int], texts: Mapping[int, str]) -> None:
        """Write the records that are kept, with new texts."""
        for row, text in texts.items():
            rows.records[row][rows.column] = text
        self._writer.writerows(rows.records[row] for row in kept)

    def close(self) -> None:
        """Write what is left."""
        self._text.flush()
        self._text.detach()
