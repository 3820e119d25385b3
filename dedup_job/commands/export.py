"""The documents of a target as rows of a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import bson
from bson import ObjectId

from dedup_job.commands.opened import opened
from dedup_job.datafiles.by_format import made_rows
from dedup_job.datafiles.delimited import FORMULAS, has_formula
from dedup_job.datafiles.formats import CSV, JSON_LINES, named, packed
from dedup_job.errors import UsageError
from dedup_job.files import nothing_written, writing_whole
from dedup_job.messages import Message
from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.bson.extended_json import as_line
from dedup_job.mongo.reading import ID_PAGE, majority, pages
from dedup_job.runs.progress import QUIET, Progress
from dedup_job.settings import Settings

_OWN = "dedup"  # the field that a run adds


def export_target(
    settings: Settings,
    target: str,
    out: Path,
    columns: Sequence[str] = (),
    progress: Progress = QUIET,
    warn: Callable[[str], None] = lambda _: None,
) -> int:
    """Write the kept documents of a target to a file, in `_id` order; return how many.

    JSON lines hold whole documents without the field `dedup`, in relaxed extended JSON, as
    mongoimport reads them. CSV and Parquet hold `_id`, the text and the columns, dotted paths, all
    as text: what is no text is JSON, what is absent is empty. The file is written whole or not at
    all. warn: takes a message about cells that pass for formulas. Raises UsageError where names do
    not fit, DedupError where the file cannot be written.
    """
    out = Path(out)
    file = named(out)
    whole = file.format == JSON_LINES
    if columns and whole:
        raise UsageError(
            Message("--columns: {out} is JSON lines, which hold whole documents.", out=out)
        )
    if any("" in name.split(".") for name in columns):
        given = ", ".join(columns)
        raise UsageError(Message("--columns: {given} hold a name that is empty.", given=given))
    count, risky = 0, False
    with opened(settings, target, progress) as on:
        names = ("_id", *on.target.rows.texts.dotted, *columns)
        if len({*names}) < len(names):
            given = ", ".join(names)
            raise UsageError(Message("--columns: {given} hold a column twice.", given=given))
        progress.total(on.target.documents.estimated_document_count(), Message("exporting"))
        with nothing_written(f"{out}"), writing_whole(out) as own:
            stream = packed(own, file.compression)
            writer, made = made_rows(file, stream, names)
            documents = majority(on.target.documents)
            for page in pages(documents, ID_PAGE, None, None, on.target.retry):
                decoded = (bson.decode(row.raw, bson_edit.LENIENT) for row in page)
                values = [_values(one, names, whole=whole) for one in decoded]
                risky |= file.format == CSV and any(map(has_formula, values))
                rows = made(values)
                writer.write(rows, range(len(page)), {})
                count += len(page)
                progress.advance(count)
            writer.close()
            stream.close()
    if risky:
        warn(FORMULAS)
    return count


def _values(
    document: Mapping[str, Any], names: Sequence[str], *, whole: bool
) -> str | list[str | None]:
    if whole:
        return as_line({name: value for name, value in document.items() if name != _OWN})
    return [_text(document, name.split(".")) for name in names]


def _text(value: Any, path: Sequence[str]) -> str | None:
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    if value is None or isinstance(value, str):
        return value
    return str(value) if isinstance(value, ObjectId) else as_line(value)
