"""Source and target of a run without a database: files of rows, JSON lines or CSV."""

import json
import os
import tempfile
import threading
from array import array
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from typing import IO, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from dedup_job.columns import Batch, Decisions, Documents, NumberedTexts
from dedup_job.datafiles.formats import DataFile, Reader, Rows, gzip_stream
from dedup_job.documents import (
    Decision,
    Document,
    Duplicate,
    Quarantined,
    Reason,
    Skipped,
    raw_or_refusal,
)
from dedup_job.files import writing_whole
from dedup_job.job import Source, Target
from dedup_job.messages import UsageError
from dedup_job.native.bytes_column import BytesColumn, TextColumn, elements_of, has_breaks, pack
from dedup_job.printing import escaped_json
from dedup_job.runs.run_record import Run

_KEY = np.dtype(">i8")  # of row numbers: the order of the bytes is that of the numbers


def number_of(key: bytes) -> int:
    """Return the row number of a key."""
    return int.from_bytes(key, "big")


class FileSource(Source):
    """The rows of a file. under_way: the pages that were read and are not written yet."""

    def __init__(self, reader: Reader, most: int) -> None:
        """Take the reader of the file; most: characters of a cleaned text."""
        self.reader, self._most = reader, most
        self.under_way: deque[Rows] = deque()

    @property
    def undecided_count(self) -> int | None:
        """The estimated number of rows, None if unknown."""
        return self.reader.expected

    def pages(self, limit: int | None) -> Iterator[Documents]:  # noqa: ARG002
        """Yield all rows as documents, in order, with their numbers as keys."""
        for rows in self.reader.pages():
            self.under_way.append(rows)
            keys = elements_of(np.array(rows.numbers, dtype=_KEY)).list()
            contents = zip(keys, rows.contents(), strict=True)
            listed = [
                Document(None, k, b"", raw_or_refusal(one, self._most)) for k, one in contents
            ]
            documents = Documents.of(listed, number_of)
            marked = documents.texts if has_breaks(documents.texts) else None
            yield replace(documents, marked=marked)


_IDS = ("_id", "id")  # the fields that may hold a row's own id, the likelier first
_Known = tuple[dict[str, Any], dict[str, int]]


class _Discarded(Exception):
    pass


class FileTarget(Target):
    """The output and the ledger of a run; both appear when all rows are decided, or neither."""

    def __init__(
        self, out: DataFile, ledger: DataFile | None, source: FileSource, *, cleaned: bool
    ) -> None:
        """Take the files and the source of the rows; cleaned: kept rows hold the cleaned texts."""
        self._cleaned = cleaned
        self._out, self._ledger, self._source = out, ledger, source
        self._rows: BinaryIO | None = None  # of the ledger
        self._done = False
        self._unread = ""  # the detail of the first quarantined row
        self.differing: Counter[str] = Counter()
        """By field, the number of dropped rows with another value there than the kept row."""

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Open temporary files; at the end rename them, or delete them if the run did not finish.

        The ledger is renamed first, so at no time is a row in neither file.
        """
        with suppress(_Discarded), ExitStack() as stack:
            folder = self._out.path.resolve().parent
            self._texts, self._other_fields = (
                _TextsFile(stack.enter_context(tempfile.TemporaryFile(dir=folder, buffering=0)))
                for _ in range(2)
            )
            whole, self._kept = _opened(stack, self._out)
            files = [(self._out, whole, self._kept)]
            if self._ledger is not None:
                whole, self._rows = _opened(stack, self._ledger)
                files.append((self._ledger, whole, self._rows))
            self._kept.write(self._source.reader.head)
            yield
            if not self._done:
                raise _Discarded
            for file, whole, stream in files:
                _end(file, whole, stream)

    def texts_of(self, keys: BytesColumn) -> NumberedTexts:
        """Return the cleaned texts of kept rows by their keys."""
        numbers = np.array([number_of(key) for key in keys.list()], dtype=np.int64)
        return self._texts.get(numbers)

    def write(self, batch: Batch, decisions: Decisions, *_: object) -> None:
        """Write the kept rows of a batch to the output, and a ledger line for each other row."""
        rows, documents = self._source.under_way.popleft(), batch.documents
        kept, numbers = decisions.kept, np.array(rows.numbers, dtype=np.int64)
        where = np.flatnonzero(kept)
        positions = np.searchsorted(documents.rows, where)  # of their texts
        self._texts.add(numbers[where], documents.texts.take(positions))
        is_new = ~documents.as_read[where] & self._cleaned
        changed = zip(where[is_new].tolist(), positions[is_new].tolist(), strict=True)
        marked = documents.texts if documents.marked is None else documents.marked
        new = {row: marked.text(position) for row, position in changed}
        fields = [*map(_known, rows.other_fields())]
        self._other_fields.add(
            numbers[where], pack([json.dumps(fields[row], default=str) for row in where.tolist()])
        )
        self._kept.write(rows.row_bytes(where.tolist(), new))
        for row in np.flatnonzero(~kept).tolist():
            line = self._line(rows.numbers[row], decisions[row], fields[row])
            if self._rows is not None:
                text = json.dumps(line, ensure_ascii=False, default=str)
                self._rows.write(escaped_json(text).encode() + b"\n")

    def _line(self, number: int, decision: Decision, fields: _Known) -> dict[str, Any]:
        own_ids, hashes = fields
        line = {"row": number, **own_ids, **_reasons(decision)}
        if isinstance(decision, Duplicate):
            stored = self._other_fields.get(np.array([line["of"]])).texts.text(0)
            kept_ids, kept = json.loads(stored)
            self.differing.update(n for n in hashes | kept if hashes.get(n) != kept.get(n))
            line |= {"of_id": next(iter(kept_ids.values()))} if kept_ids else {}
        elif line["reason"] == Reason.UNDECODABLE:
            self._unread = self._unread or line["detail"]
        return line

    def finish(self, report: Run, *_: object, **__: object) -> None:
        """Accept the files if all rows are decided.

        Raises UsageError if more than half of the rows are unreadable, or none is kept.
        """
        if not report.checkpoint.finished:
            return
        counts, out = report.counts, self._out.path
        unread = counts.reasons.get(Reason.UNDECODABLE, 0)
        if 2 * unread > counts.scanned:
            raise UsageError(
                "{unread:,} of {rows:,} rows cannot be read: {why}. Save it as UTF-8, of JSON "
                "each object on a line of its own. Nothing was written.",
                unread=unread,
                rows=counts.scanned,
                why=self._unread,
            )
        if not counts.kept and (counts.scanned or (out.is_file() and out.stat().st_size)):
            raise UsageError(
                "of {rows:,} rows none has a text that could be kept. Name its field with "
                "--field. Nothing was written.",
                rows=counts.scanned,
            )
        self._done = True


def _opened(stack: ExitStack, file: DataFile) -> tuple[BinaryIO, BinaryIO]:
    whole = stack.enter_context(writing_whole(file.path))
    return whole, gzip_stream(whole, "wb", file.compression)


def _end(file: DataFile, whole: BinaryIO, stream: BinaryIO) -> None:
    try:
        if stream is not whole:
            stream.close()
        whole.flush()
        os.fsync(whole.fileno())
    except OSError as e:
        e.filename = str(file.path)
        raise


def _known(fields: Mapping[str, Any]) -> _Known:
    filled = {name: value for name, value in fields.items() if value not in (None, "")}
    own_ids = {name: filled.pop(name) for name in _IDS if name in filled}
    return own_ids, {name: hash(repr(value)) for name, value in filled.items()}


def _reasons(decision: Decision) -> Mapping[str, Any]:
    if isinstance(decision, Duplicate):
        pair = decision.pair
        differences = [one.as_row() for one in pair.differences]
        some = {"differences": differences, "richer": pair.richer, "left_out": pair.left_out}
        return {
            "decision": "duplicate",
            "of": number_of(pair.of),
            "distance": pair.distance,
            "similarity": pair.similarity,
            **({} if pair.probability is None else {"probability": pair.probability}),
            "found_by": pair.found_by,
            "reason": str(decision.reason),
            **{name: value for name, value in some.items() if value},
        }
    assert isinstance(decision, Skipped | Quarantined)
    name, none = type(decision).__name__.lower(), ("of", "distance", "similarity", "found_by")
    row = {"decision": name, **dict.fromkeys(none), "reason": str(decision.reason)}
    return row | ({"detail": decision.detail} if isinstance(decision, Quarantined) else {})


class _TextsFile:
    """A file of texts by row number; one thread adds, in ascending order, others read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._numbers, self._ends = array("q"), array("q")
        self._size = 0
        self._lock = threading.Lock()

    def add(self, numbers: NDArray[np.int64], texts: TextColumn) -> None:
        encoded = texts.utf8()
        whole, written = encoded.data.data, 0
        while written < len(whole):
            written += self._file.write(whole[written:])
        with self._lock:
            self._numbers.frombytes(numbers.tobytes())
            self._ends.frombytes((self._size + np.cumsum(encoded.lengths)).tobytes())
            self._size += len(whole)

    def get(self, numbers: NDArray[np.int64]) -> NumberedTexts:
        """Return the texts of rows by their position in `numbers`, without unknown ones."""
        with self._lock:
            rows, spans = self._spans(numbers)
        handle = self._file.fileno()
        texts = [os.pread(handle, end - start, start).decode() for start, end in spans]
        return NumberedTexts.of(dict(zip(rows, texts, strict=True)))

    def _spans(self, numbers: NDArray[np.int64]) -> tuple[list[int], list[tuple[int, int]]]:
        if not self._numbers:
            return [], []
        added, ends = np.frombuffer(self._numbers, np.int64), np.frombuffer(self._ends, np.int64)
        slots = np.minimum(np.searchsorted(added, numbers), len(added) - 1)
        rows = np.flatnonzero(added[slots] == numbers)
        last = ends[slots[rows]]
        first = np.where(slots[rows] > 0, ends[slots[rows] - 1], 0)
        return rows.tolist(), [*zip(first.tolist(), last.tolist(), strict=True)]
