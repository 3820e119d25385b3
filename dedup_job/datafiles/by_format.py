"""What reads a file, and what writes one, by its format."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import BinaryIO

from dedup_job.datafiles.delimited import DelimitedReader, DelimitedWriter
from dedup_job.datafiles.formats import CSV, Named, Writer, unpacked
from dedup_job.datafiles.json_lines import JsonLinesReader, JsonLinesWriter
from dedup_job.datafiles.source import Reader
from dedup_job.datafiles.target import Make
from dedup_job.errors import UsageError
from dedup_job.files import open_regular
from dedup_job.messages import Message


@contextmanager
def reading(file: Named, field: str) -> Iterator[tuple[Reader, Make]]:
    """Open a file; yield what reads it, and what makes a writer of rows like its own.

    field: names the text, of JSON lines by dotted paths. UsageError says why not.
    """
    name = str(file.path)
    try:
        stream = open_regular(file.path)
    except OSError as e:
        why = e.strerror
        raise UsageError("{file} cannot be read: {why}.", file=name, why=why) from e
    with stream:
        try:
            size = None if file.compression else os.fstat(stream.fileno()).st_size
            yield _opened(file, unpacked(stream, file.compression), name, field, size)
        except (OSError, EOFError, zlib.error) as e:
            if getattr(e, "errno", None) is not None:
                raise
            why = str(e)  # of what unpacks it
            raise UsageError("{file} is damaged: {why}", file=name, why=why) from e


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
