"""CSV and TSV: a header, then records; fields of a kept record keep their values."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, NoReturn

from dedup_job.datafiles.formats import (
    BOM,
    LONGEST,
    NOT_UTF8,
    Content,
    Writer,
    fields_in,
    is_unicode,
    paged,
)
from dedup_job.documents import Quarantined, Reason, Skipped
from dedup_job.errors import UsageError
from dedup_job.messages import Message, joined
from dedup_job.native.parts import BREAK
from dedup_job.printing import on_one_line

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_BYTES_AS_THEY_ARE = "surrogateescape"
_MOST_SHOWN = 200  # characters of the header in a message


_ADVICE = Message(
    "Name the column that holds the text with --field, several with commas; columns are divided by "
    "commas, in .tsv by tabs."
)


@dataclass(frozen=True, slots=True)
class Records:
    """Records of a file with their numbers; their header, and the columns that hold the text."""

    numbers: Sequence[int]
    records: Sequence[list[str]]
    header: Sequence[str]
    columns: Sequence[int]

    def __len__(self) -> int:
        return len(self.numbers)

    def contents(self) -> Iterator[Content]:
        """Yield the text of each record, or why it has none."""
        for record in self.records:
            parts = [record[column] for column in self.columns if column < len(record)]
            if not all(map(is_unicode, parts)):
                yield Quarantined(Reason.UNDECODABLE, NOT_UTF8)
            else:
                yield BREAK.join(parts) if parts else Skipped(Reason.MISSING)

    def others(self) -> list[dict[str, Any]]:
        """Return the other fields of each record by name."""
        names = [(n, name) for n, name in enumerate(self.header) if n not in self.columns]
        return [{name: r[n] for n, name in names if n < len(r)} for r in self.records]


class DelimitedReader:
    """Reads a header, which names the columns, and records. bom: whether a mark is before it."""

    expected: int | None = None

    def __init__(self, stream: Any, name: str, field: str, suffix: str) -> None:
        """Read the header; UsageError where a name of a field is not that of one column."""
        self._name, self._suffix = name, suffix
        csv.field_size_limit(LONGEST)  # the module has no other way; its own limit is 128 KiB
        self.bom: bool = stream.peek(len(BOM)).startswith(BOM)
        self._text = io.TextIOWrapper(stream, "utf-8-sig", _BYTES_AS_THEY_ARE, newline="")
        self._records = csv.reader(self._lines(), delimiter=_DELIMITERS[suffix], strict=True)
        self.names = next((record for record in self._read() if record), [])
        fields = fields_in(field, self.names)
        for one in fields:
            if self.names.count(one) != 1:
                self._refuse(one)
        self._columns = [*map(self.names.index, fields)]

    def _refuse(self, field: str) -> NoReturn:
        names = ", ".join(self.names)
        if not is_unicode(names):
            raise UsageError("{file} is not UTF-8. Save it as UTF-8.", file=self._name)
        shown = on_one_line(names if len(names) <= _MOST_SHOWN else f"{names[:_MOST_SHOWN]}...")
        told = {"file": self._name, "field": field, "names": shown or Message("none")}
        wrong = Message("{file} has no column {field!r}; its header names {names}.", **told)
        if field in self.names:
            wrong = Message(
                "{file} has more than one column {field!r}; its header names {names}.", **told
            )
        raise UsageError(joined([wrong, _ADVICE]))

    def _lines(self) -> Iterator[str]:
        number = 0
        while line := self._text.readline(LONGEST):
            number += 1
            if len(line) == LONGEST and not line.endswith("\n"):
                raise UsageError(
                    "{file}: line {line:,} is longer than {most} million characters. Is it CSV?",
                    file=self._name,
                    line=number,
                    most=LONGEST >> 20,
                )
            yield line

    def writer(self, stream: BinaryIO) -> Writer:
        """Return a writer of such records, behind the same header."""
        return DelimitedWriter(stream, self.names, self._suffix, bom=self.bom)

    def pages(self) -> Iterator[Records]:
        """Yield all records; blank lines are none."""
        records = ((record, sum(map(len, record))) for record in self._read() if record)
        for numbers, page in paged((number, *one) for number, one in enumerate(records, 1)):
            yield Records(numbers, page, self.names, self._columns)

    def _read(self) -> Iterator[list[str]]:
        try:
            yield from self._records
        except csv.Error as e:
            raise UsageError(
                "{file} is not CSV at line {line:,}: {why}. A field with a quotation mark "
                'stands within such marks, and the mark twice: "a ""b"" c".',
                file=self._name,
                line=self._records.line_num,
                why=str(e),
            ) from e


class DelimitedWriter:
    """Writes a header and records to a stream."""

    def __init__(
        self, stream: BinaryIO, header: Sequence[str], suffix: str, *, bom: bool = False
    ) -> None:
        encoding = "utf-8-sig" if bom else "utf-8"
        self._text = io.TextIOWrapper(stream, encoding, _BYTES_AS_THEY_ARE, newline="")
        self._writer: Any = csv.writer(
            self._text,
            delimiter=_DELIMITERS[suffix],
            lineterminator="\r\n",  # it quotes these
        )
        self._writer.writerows([header])

    def write(self, rows: Records, kept: Sequence[int], texts: Mapping[int, str]) -> None:
        """Write the records that are kept, with new texts."""
        for row, text in texts.items():
            record = rows.records[row]
            there = (column for column in rows.columns if column < len(record))
            for column, part in zip(there, text.split(BREAK), strict=True):
                record[column] = part
        self._writer.writerows(rows.records[row] for row in kept)

    def close(self) -> None:
        """Write what is left."""
        self._text.flush()
        self._text.detach()
