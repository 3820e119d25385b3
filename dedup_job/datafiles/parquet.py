"""Parquet, by pyarrow: all columns keep their types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from dedup_job.datafiles.formats import BYTES, NOT_UTF8, ROWS, Content, fields_in
from dedup_job.documents import Quarantined, Reason
from dedup_job.errors import UsageError
from dedup_job.messages import Message
from dedup_job.native.parts import BREAK
from dedup_job.text_fields import TextFields, with_texts

_GROUP_ROWS, _GROUP_BYTES = 100_000, 64 << 20  # of a row group


@dataclass(frozen=True, slots=True)
class Records:
    """Rows of a file with their numbers, and the columns that hold the text."""

    numbers: Sequence[int]
    batch: Any
    columns: Sequence[int]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.numbers)

    def contents(self) -> list[Content]:
        """Return the text of each row, or why it has none."""
        names = [str(column) for column in self.columns]
        try:
            columns = [self.batch.column(column).to_pylist() for column in self.columns]
        except UnicodeDecodeError:
            columns = [[*map(_content, self.batch.column(column))] for column in self.columns]
        fields = TextFields([[name] for name in names])
        rows = (dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))
        return [
            next((v for v in row.values() if isinstance(v, Quarantined)), None)
            or fields.content(row)
            for row in rows
        ]

    def others(self) -> list[dict[str, Any]]:
        """Return the other fields of each row by name, but for arrays without text."""
        some = [
            n
            for n, field in enumerate(self.batch.schema)
            if n not in self.columns and (not pa.types.is_nested(field.type) or _worded(field.type))
        ]
        try:
            rows: list[dict[str, Any]] = self.batch.select(some).to_pylist()
        except UnicodeDecodeError:
            return [{} for _ in self.numbers]
        return rows


class ParquetReader:
    """Reads row groups of a file, piece by piece."""

    def __init__(self, stream: BinaryIO, name: str, field: str) -> None:
        """Read the schema; UsageError where a name of a field is not that of a column of text."""
        self._name = name
        try:
            self._file = pq.ParquetFile(stream)
        except pa.ArrowException as e:
            raise UsageError(Message("{file} is not Parquet: {why}", file=name, why=str(e))) from e
        self.schema = self._file.schema_arrow
        self.names: Sequence[str] = self.schema.names
        fields = fields_in(field, self.names)
        self._columns = [self._column(one) for one in fields]

    def _column(self, field: str) -> int:
        """Return the number of a column of text."""
        column: int = self.schema.get_field_index(field)
        if column < 0:
            raise UsageError(
                Message(
                    "{file} has no column {field!r}, or several; there are: {names}. Name the "
                    "column that holds the text with --field, several with commas.",
                    file=self._name,
                    field=field,
                    names=", ".join(self.names),
                )
            )
        self.schema = _with_room(self.schema, column)
        kind = self.schema.field(column).type
        if not _worded(kind):
            raise UsageError(
                Message(
                    "the column {field!r} of {file} holds {kind}, expected text.",
                    field=field,
                    file=self._name,
                    kind=kind,
                )
            )
        return column

    @property
    def expected(self) -> int:
        """How many rows there are."""
        return int(self._file.metadata.num_rows)

    def pages(self) -> Iterator[Records]:
        """Yield all rows."""
        first = 1
        try:
            for batch in self._file.iter_batches(ROWS):
                rows = max(len(batch) * BYTES // max(batch.nbytes, BYTES), 1)
                for start in range(0, len(batch), rows):
                    part = batch.slice(start, rows).cast(self.schema)
                    yield Records(range(first, first + len(part)), part, self._columns)
                    first += len(part)
        except (pa.ArrowException, OSError) as e:
            raise UsageError(
                Message(
                    "{file} is damaged behind row {row:,}: {why}",
                    file=self._name,
                    row=first - 1,
                    why=str(e),
                )
            ) from e


class ParquetWriter:
    """Writes rows in groups as large as is usual."""

    def __init__(self, stream: BinaryIO, schema: Any) -> None:
        self._writer = pq.ParquetWriter(stream, schema)
        self._schema = schema
        self._waiting: list[Any] = []
        self._rows = self._bytes = 0

    def write(self, rows: Records, kept: Sequence[int], texts: Mapping[int, str]) -> None:
        """Write the rows that are kept, with new texts."""
        batch, parts = rows.batch, {row: iter(text.split(BREAK)) for row, text in texts.items()}
        for number in rows.columns if texts else ():
            field = self._schema.field(number)
            values = batch.column(number).to_pylist()
            for row, own in parts.items():
                values[row] = with_texts(values[row], own)
            if not pa.types.is_nested(field.type):  # in arrays and objects texts stay as they are
                column = pa.array(values, pa.large_string()).cast(field.type)
                batch = batch.set_column(number, field, column)
        taken = _taken(batch, kept)
        self._waiting.append(taken)
        self._rows += len(kept)
        self._bytes += taken.nbytes
        if self._rows >= _GROUP_ROWS or self._bytes >= _GROUP_BYTES:
            self._flush()

    def _flush(self) -> None:
        self._writer.write_table(pa.Table.from_batches(self._waiting, self._schema))
        self._waiting, self._rows, self._bytes = [], 0, 0

    def close(self) -> None:
        """Write what is left and the footer."""
        if self._rows:
            self._flush()
        self._writer.close()


def _content(value: Any) -> Any:
    try:
        return value.as_py()
    except UnicodeDecodeError:
        return Quarantined(Reason.UNDECODABLE, NOT_UTF8)


def _worded(kind: Any) -> bool:
    """Tell whether a type holds texts: itself, in arrays, or in objects."""
    types = pa.types
    if types.is_dictionary(kind) or types.is_list(kind) or types.is_large_list(kind):
        return _worded(kind.value_type)
    if types.is_struct(kind):
        return any(_worded(field.type) for field in kind)
    return bool(types.is_string(kind) or types.is_large_string(kind))


def _with_room(schema: Any, at: int) -> Any:
    """Return a schema with room for as many values of the text as it takes, if numbered."""
    field = schema.field(at)
    if not pa.types.is_dictionary(field.type):
        return schema
    kind = pa.dictionary(pa.int32(), field.type.value_type, field.type.ordered)
    return schema.set(at, field.with_type(kind))


def _taken(batch: Any, rows: Sequence[int]) -> Any:
    """Return some rows."""
    try:
        return batch.take(pa.array(rows, pa.int64()))
    except pa.ArrowNotImplementedError:  # of a type that it does not take, slices are
        return pa.concat_batches([batch.slice(0, 0), *(batch.slice(row, 1) for row in rows)])
