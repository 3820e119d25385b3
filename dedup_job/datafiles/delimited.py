"""CSV and TSV: a header, then records; fields of a kept record keep their values."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, NoReturn, Protocol

from dedup_job.datafiles.formats import BYTES, LONGEST, ROWS, Content, is_unicode
from dedup_job.documents import Quarantined, Reason, Skipped
from dedup_job.errors import UsageError
from dedup_job.messages import Message, joined
from dedup_job.printing import on_one_line

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_BYTES_AS_THEY_ARE = "surrogateescape"
_MOST_SHOWN = 200  # characters of the header in a message


_ADVICE = Message(
    "Name the one column that holds the text with --field; columns are divided by commas, in .tsv "
    "by tabs."
)


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
        if not is_unicode(text):
            return Quarantined(Reason.UNDECODABLE, Message("the text is not UTF-8"))
        return text


class DelimitedReader:
    """Reads a header, which names the columns, and records."""

    expected: int | None = None

    def __init__(self, stream: BinaryIO, name: str, field: str, suffix: str) -> None:
        """Read the header; UsageError where no column has the name of the field."""
        self._name = name
        csv.field_size_limit(LONGEST)  # the module has no other way; its own limit is 128 KiB
        self._text = io.TextIOWrapper(stream, "utf-8-sig", _BYTES_AS_THEY_ARE, newline="")
        self._records = csv.reader(self._lines(), delimiter=_DELIMITERS[suffix], strict=True)
        self.header = next((record for record in self._read() if record), [])
        if self.header.count(field) != 1:
            self._refuse(field)
        self._column = self.header.index(field)

    def _refuse(self, field: str) -> NoReturn:
        """Say why there is no column of that name."""
        names = ", ".join(self.header)
        if not is_unicode(names):
            raise UsageError(Message("{file} is not UTF-8. Save it as UTF-8.", file=self._name))
        told = {"file": self._name, "field": field, "names": _shown(names) or Message("none")}
        wrong = Message("{file} has no column {field!r}; its header names {names}.", **told)
        if field in self.header:
            wrong = Message(
                "{file} has more than one column {field!r}; its header names {names}.", **told
            )
        raise UsageError(joined([wrong, _ADVICE]))

    def _lines(self) -> Iterator[str]:
        """Yield lines; UsageError for one that is too long for any file of this kind."""
        number = 0
        while line := self._text.readline(LONGEST):
            number += 1
            if len(line) == LONGEST and not line.endswith("\n"):
                raise UsageError(
                    Message(
                        "{file}: line {line:,} is longer than {most} million characters. Is it "
                        "CSV?",
                        file=self._name,
                        line=number,
                        most=LONGEST >> 20,
                    )
                )
            yield line

    def pages(self) -> Iterator[Records]:
        """Yield all records; blank lines are none."""
        number, records, size = 1, list[list[str]](), 0
        for record in self._read():
            if not record:
                continue
            records.append(record)
            size += sum(map(len, record))
            if len(records) == ROWS or size > BYTES:
                yield Records(range(number, number + len(records)), records, self._column)
                number, records, size = number + len(records), [], 0
        if records:
            yield Records(range(number, number + len(records)), records, self._column)

    def _read(self) -> Iterator[list[str]]:
        try:
            yield from self._records
        except csv.Error as e:
            raise UsageError(
                Message(
                    "{file} is not CSV at line {line:,}: {why}. A field with a quotation mark "
                    'stands within such marks, and the mark twice: "a ""b"" c".',
                    file=self._name,
                    line=self._records.line_num,
                    why=str(e),
                )
            ) from e


class DelimitedWriter:
    """Writes a header and records to a stream."""

    def __init__(self, stream: BinaryIO, header: Sequence[str], suffix: str) -> None:
        self._text = io.TextIOWrapper(stream, "utf-8", _BYTES_AS_THEY_ARE, newline="")
        self._writer: _Records = csv.writer(
            self._text,
            delimiter=_DELIMITERS[suffix],
            lineterminator="\r\n",  # it quotes these
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


def _shown(names: str) -> str:
    """Return the names of columns as a message has them."""
    return on_one_line(names if len(names) <= _MOST_SHOWN else f"{names[:_MOST_SHOWN]}...")
