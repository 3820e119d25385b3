"""Parquet, by pyarrow: all columns keep their types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from dedup_job.datafiles.formats import Content
from dedup_job.documents import Reason, Skipped
from dedup_job.errors import UsageError

_ROWS = 2000
_GROUP = 100_000  # rows of a row group


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
        missing = Skipped(Reason.MISSING)
        texts = self.batch.column(self.column).to_pylist()
        return [missing if text is None else text for text in texts]


class ParquetReader:
    """Reads row groups of a file, piece by piece."""

    def __init__(self, stream: BinaryIO, name: str, field: str) -> None:
        """Read the schema; UsageError where no column of text has the name of the field."""
        self._name = name
        try:
            self._file = pq.ParquetFile(stream)
        except pa.ArrowException as e:
            raise UsageError(f"{name} is not Parquet: {e}") from e
        self.schema: Any = self._file.schema_arrow
        self._column = self.schema.get_field_index(field)
        if self._column < 0:
            raise UsageError(
                f"{name} has no column {field!r}, or several; there are: "
                f"{', '.join(self.schema.names)}. Name the column that holds the text with --field."
            )
        kind = self.schema.field(self._column).type
        plain = kind.value_type if pa.types.is_dictionary(kind) else kind
        if not (pa.types.is_string(plain) or pa.types.is_large_string(plain)):
            raise UsageError(f"the column {field!r} of {name} holds {kind}, expected text.")

    @property
    def expected(self) -> int:
        """How many rows there are."""
        return int(self._file.metadata.num_rows)

    def pages(self) -> Iterator[Records]:
        """Yield all rows."""
        first = 1
        try:
            for batch in self._file.iter_batches(_ROWS):
                yield Records(range(first, first + len(batch)), batch, self._column)
                first += len(batch)
        except (pa.ArrowException, OSError) as e:
            raise UsageError(f"{self._name} is damaged behind row {first - 1:,}: {e}") from e


class ParquetWriter:
    """Writes rows in groups as large as is usual."""

    def __init__(self, stream: BinaryIO, schema: Any) -> None:
        self._writer = pq.ParquetWriter(stream, schema)
        self._schema = schema
        self._waiting: list[Any] = []
        self._rows = 0

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
        self._waiting.append(batch.take(pa.array(kept, pa.int64())))
        self._rows += len(kept)
        if self._rows >= _GROUP:
            self._flush()

    def _flush(self) -> None:
        self._writer.write_table(pa.Table.from_batches(self._waiting, self._schema))
        self._waiting, self._rows = [], 0

    def close(self) -> None:
        """Write what is left and the footer."""
        if self._rows:
            self._flush()
        self._writer.close()


def of_texts(names: Sequence[str]) -> Any:
    """Return the schema of columns of text."""
    return pa.schema([(name, pa.large_string()) for name in names])


def made(schema: Any, rows: Sequence[Sequence[str | None]]) -> Records:
    """Return rows that no file gave, a value for each column."""
    columns = [*map(list, zip(*rows, strict=True))]
    return Records(range(len(rows)), pa.record_batch(columns, schema=schema), 0)
