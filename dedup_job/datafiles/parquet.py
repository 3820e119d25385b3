"""Parquet, by pyarrow: all columns keep their types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from dedup_job.datafiles.formats import BYTES, ROWS, Content
from dedup_job.documents import Quarantined, Reason, Skipped
from dedup_job.errors import UsageError
from dedup_job.messages import Message

_GROUP_ROWS, _GROUP_BYTES = 100_000, 64 << 20  # of a row group


@dataclass(frozen=True, slots=True)
class Records:
    """Rows of a file with their numbers, and the column that holds the text."""

    numbers: Sequence[int]
    batch: Any
    column: int

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.numbers)

    def contents(self) -> list[Content]:
        """Return the text of each row, or why it has none."""
        missing, column = Skipped(Reason.MISSING), self.batch.column(self.column)
        try:
            texts = column.to_pylist()
        except UnicodeDecodeError:
            return [_content(value) for value in column]
        return [missing if text is None else text for text in texts]


class ParquetReader:
    """Reads row groups of a file, piece by piece."""

    def __init__(self, stream: BinaryIO, name: str, field: str) -> None:
        """Read the schema; UsageError where no column of text has the name of the field."""
        self._name = name
        try:
            self._file = pq.ParquetFile(stream)
        except pa.ArrowException as e:
            raise UsageError(Message("{file} is not Parquet: {why}", file=name, why=str(e))) from e
        self.schema = _with_room(self._file.schema_arrow, field)
        self._column = self.schema.get_field_index(field)
        if self._column < 0:
            raise UsageError(
                Message(
                    "{file} has no column {field!r}, or several; there are: {names}. Name the one "
                    "column that holds the text with --field.",
                    file=name,
                    field=field,
                    names=", ".join(self.schema.names),
                )
            )
        kind = self.schema.field(self._column).type
        plain = kind.value_type if pa.types.is_dictionary(kind) else kind
        if not (pa.types.is_string(plain) or pa.types.is_large_string(plain)):
            raise UsageError(
                Message(
                    "the column {field!r} of {file} holds {kind}, expected text.",
                    field=field,
                    file=name,
                    kind=kind,
                )
            )

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
                    yield Records(range(first, first + len(part)), part, self._column)
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
        batch = rows.batch
        if texts:
            field = self._schema.field(rows.column)
            values = batch.column(rows.column).to_pylist()
            for row, text in texts.items():
                values[row] = text
            column = pa.array(values, pa.large_string()).cast(field.type)
            batch = batch.set_column(rows.column, field, column)
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


def _content(value: Any) -> Content:
    try:
        text = value.as_py()
    except UnicodeDecodeError:
        return Quarantined(Reason.UNDECODABLE, Message("the text is not UTF-8"))
    return Skipped(Reason.MISSING) if text is None else text


def _with_room(schema: Any, name: str) -> Any:
    """Return a schema with room for as many values of the text as it takes, if numbered."""
    at = schema.get_field_index(name)
    if at < 0 or not pa.types.is_dictionary(schema.field(at).type):
        return schema
    field = schema.field(at)
    kind = pa.dictionary(pa.int32(), field.type.value_type, field.type.ordered)
    return schema.set(at, field.with_type(kind))


def _taken(batch: Any, rows: Sequence[int]) -> Any:
    """Return some rows."""
    try:
        return batch.take(pa.array(rows, pa.int64()))
    except pa.ArrowNotImplementedError:  # of a type that it does not take, slices are
        return pa.concat_batches([batch.slice(0, 0), *(batch.slice(row, 1) for row in rows)])


def of_texts(names: Sequence[str]) -> Any:
    """Return the schema of columns of text."""
    return pa.schema([(name, pa.large_string()) for name in names])


def made(schema: Any, rows: Sequence[Sequence[str | None]]) -> Records:
    """Return rows that no file gave, a value for each column."""
    columns = [*map(list, zip(*rows, strict=True))]
    return Records(range(len(rows)), pa.record_batch(columns, schema=schema), 0)
