"""Files of rows: JSON lines and CSV, read and written; a kept row stays but for its text."""

import csv
import gzip
import io
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from json.encoder import encode_basestring
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, NoReturn, TypeVar, cast

from dedup_job.documents import Quarantined, Reason, Refusal, Skipped
from dedup_job.files import open_regular
from dedup_job.messages import Message, UsageError, joined
from dedup_job.native.bytes_column import BREAK
from dedup_job.printing import brief, on_one_line
from dedup_job.text_fields import TextFields, text_fields, with_texts

T = TypeVar("T")
JSON_LINES, CSV = "JSON lines", "CSV"
_SUFFIXES = {
    **dict.fromkeys((".jsonl", ".ndjson"), JSON_LINES),
    **dict.fromkeys((".csv", ".tsv"), CSV),
}
_COMPRESSED = ".gz"
_LEVEL = 6  # of gzip
ROWS, BYTES = 2000, 8 << 20
"""Of a page: rows at most, and about so many bytes."""
LONGEST = 64 << 20
"""Bytes of a line, characters of a field."""

BOM = b"\xef\xbb\xbf"
"""The byte order mark that some programs write before UTF-8; such as Excel need it."""
NOT_UTF8 = Message("the text is not UTF-8")

Content = str | Refusal
"""A text, with a break between its parts, or why there is none."""


class Named(NamedTuple):
    """A file by its name: format, compression ("" or ".gz"), and the suffix between."""

    path: Path
    format: str
    compression: str
    suffix: str


def named(path: Path) -> Named:
    """Return a file with the format of its name; UsageError if it names none."""
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    compression = suffixes.pop() if suffixes and suffixes[-1] == _COMPRESSED else ""
    suffix = suffixes[-1] if suffixes else ""
    format_ = _SUFFIXES.get(suffix)
    if format_ is None:
        raise UsageError(
            "{file} names no format. Expected the end .jsonl, .csv or .tsv, each also with .gz "
            "behind it.",
            file=path,
        )
    return Named(path, format_, compression, suffix)


def _paged(rows: Iterable[tuple[int, T, int]]) -> Iterator[tuple[list[int], list[T]]]:
    numbers, page, size = list[int](), list[T](), 0
    for number, row, own in rows:
        numbers.append(number)
        page.append(row)
        size += own
        if len(page) == ROWS or size > BYTES:
            yield numbers, page
            numbers, page, size = [], [], 0
    if page:
        yield numbers, page


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def packed(stream: BinaryIO, mode: str, compression: str) -> BinaryIO:
    """Return a stream that compresses into this one, or reads from it; its end leaves this open."""
    # without a time, so that equal files are equal bytes
    form = gzip.GzipFile("", mode, _LEVEL, stream, mtime=0) if compression else stream
    return cast("BinaryIO", form)


_SAMPLE = 1 << 20  # bytes
_SPACE = " \t\r\n\ufeff"  # a byte order mark may be before an object
_PEEKED = 4096  # bytes
_BLANK = BOM + b" \t\r\n"
_DECODER = json.JSONDecoder()


@dataclass(slots=True)
class Lines:
    """Lines of a file that are not blank, with their numbers, and the fields of their text.

    objects: the lines' values, once the texts were asked for.
    """

    numbers: Sequence[int]
    lines: Sequence[bytes]
    fields: TextFields
    objects: Sequence[dict[str, Any]] = ()

    def contents(self) -> list[Content]:
        """Return the text of each line, or why it has none."""
        values = [_value(line) for line in self.lines]
        self.objects = [value if isinstance(value, dict) else {} for value in values]
        return [
            _content(value, line, self.fields) if isinstance(value, dict) else value
            for value, line in zip(values, self.lines, strict=True)
        ]

    def kept(self, rows: Sequence[int], texts: Mapping[int, str]) -> bytes:
        """Return some lines as they are but for new texts, by row."""
        lines = (
            self._with_parts(row, texts[row].split(BREAK)) if row in texts else self.lines[row]
            for row in rows
        )
        return b"".join(line if line.endswith(b"\n") else line + b"\n" for line in lines)

    def _with_parts(self, row: int, parts: Sequence[str]) -> bytes:
        # in arrays and objects texts stay as they are
        line, left, value = self.lines[row].decode(), iter(parts), self.objects[row]
        for number, old in self.fields.values(value):
            new = with_texts(old, left)
            line = with_text(line, self.fields.paths[number], new) if type(old) is str else line
        return line.encode()

    def others(self) -> list[dict[str, Any]]:
        """Return the other fields of each line by name, those that are objects whole."""
        compared = {path[0] for path in self.fields.paths}
        return [{k: v for k, v in one.items() if k not in compared} for one in self.objects]


class JsonLinesReader:
    """Reads lines of a stream. head: what is before the first row: a byte order mark, or b""."""

    def __init__(self, stream: Any, name: str, field: str, size: int | None) -> None:
        """Take the fields of the text; size: bytes of the stream, None where not known."""
        self._stream, self._name, self._fields = stream, name, TextFields.of(field)
        self._lines, self._is_checked = 0, False
        begins: bytes = stream.peek(_PEEKED)
        self.head = BOM if begins.startswith(BOM) and begins.strip(_BLANK) else b""
        if begins.lstrip(_BLANK).startswith(b"["):
            raise UsageError(
                "{file} is a JSON array, not JSON lines. Write each object on a line of its "
                "own, without commas behind it: jq -c '.[]' does so.",
                file=name,
            )
        self.expected: int | None = None  # about, by the mean length of the first lines
        if size is not None:
            begin = stream.read(_SAMPLE)
            stream.seek(0)
            self.expected = begin.count(b"\n") * size // max(len(begin), 1)

    def pages(self) -> Iterator[Lines]:
        """Yield all lines."""
        for numbers, lines in _paged(self._read()):
            page = Lines(numbers, lines, self._fields)
            if not self._is_checked:
                self._check(page)
            yield page

    def _read(self) -> Iterator[tuple[int, bytes, int]]:
        while line := self._stream.readline(LONGEST + 1):
            self._lines += 1
            if self._lines == 1:
                line = line.removeprefix(self.head)
            if len(line) > LONGEST:
                raise UsageError(
                    "{file}: line {line:,} is longer than {most} MiB. Is each object on a line "
                    "of its own?",
                    file=self._name,
                    line=self._lines,
                    most=LONGEST >> 20,
                )
            if line.strip(_BLANK):
                yield self._lines, line, len(line)

    def _check(self, page: Lines) -> None:
        self._is_checked = bool(page.contents())
        absent = {path[0] for path in self._fields.paths}.difference(*page.objects)
        if absent and any(page.objects):
            raise UsageError(
                "none of the first {number:,} rows has the field {field!r}. {found} Name one "
                "with --field.",
                number=len(page.numbers),
                field=min(absent),
                found=text_fields(page.objects),
            )


def _value(line: bytes) -> dict[str, Any] | Quarantined:
    try:
        value = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return Quarantined(Reason.UNDECODABLE, NOT_UTF8)
    except (ValueError, RecursionError) as e:
        return Quarantined(Reason.UNDECODABLE, Message("the line is not JSON: {why}", why=str(e)))
    if not isinstance(value, dict):
        return Quarantined(Reason.UNDECODABLE, Message("the line holds no object"))
    return value


def _content(value: dict[str, Any], line: bytes, fields: TextFields) -> Content:
    parts = fields.parts(value)
    if isinstance(parts, Skipped):
        return parts
    if b"\\u" in line and not all(map(_is_unicode, parts)):
        return Quarantined(
            Reason.UNDECODABLE, Message("a text in it holds half of a surrogate pair")
        )
    return BREAK.join(parts)


def with_text(line: str, path: Sequence[str], text: str) -> str:
    """Return an object in JSON with another text at a path, and all other characters as they are.

    Of a name that occurs twice the last one counts, as for the reader. ValueError where there is
    no such path.
    """
    begin = _skip(line, 0)
    for name in path:
        begin = _value_of(line, begin, name)
    end = _DECODER.raw_decode(line, begin)[1]
    return line[:begin] + encode_basestring(text) + line[end:]


def _value_of(line: str, at: int, name: str) -> int:
    if line[at] != "{":
        raise ValueError("no object")
    found, at = -1, _skip(line, at + 1)
    while line[at] == '"':
        key, at = _DECODER.raw_decode(line, at)
        at = _skip(line, _skip(line, at) + 1)  # behind the colon
        if key == name:
            found = at
        at = _skip(line, _DECODER.raw_decode(line, at)[1])
        if line[at] == ",":
            at = _skip(line, at + 1)
    if found < 0:
        raise ValueError(f"no {name}")
    return found


def _skip(line: str, at: int) -> int:
    while line[at] in _SPACE:
        at += 1
    return at


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
    delimiter: str

    def contents(self) -> Iterator[Content]:
        """Yield the text of each record, or why it has none."""
        for record in self.records:
            parts = [record[column] for column in self.columns if column < len(record)]
            if not all(map(_is_unicode, parts)):
                yield Quarantined(Reason.UNDECODABLE, NOT_UTF8)
            else:
                yield BREAK.join(parts) if parts else Skipped(Reason.MISSING)

    def kept(self, rows: Sequence[int], texts: Mapping[int, str]) -> bytes:
        """Return some records, with new texts by row."""
        for row, text in texts.items():
            record = self.records[row]
            there = (column for column in self.columns if column < len(record))
            for column, part in zip(there, text.split(BREAK), strict=True):
                record[column] = part
        return _as_csv([self.records[row] for row in rows], self.delimiter)

    def others(self) -> list[dict[str, Any]]:
        """Return the other fields of each record by name."""
        names = [(n, name) for n, name in enumerate(self.header) if n not in self.columns]
        return [{name: r[n] for n, name in names if n < len(r)} for r in self.records]


def _as_csv(records: Sequence[Sequence[str]], delimiter: str) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter).writerows(records)
    return text.getvalue().encode(errors=_BYTES_AS_THEY_ARE)


class DelimitedReader:
    """Reads a header, which names the columns, and records. head: the header as it is written."""

    expected: int | None = None

    def __init__(self, stream: Any, name: str, field: str, suffix: str) -> None:
        """Read the header; UsageError where a name of a field is not that of one column."""
        self._name, self._delimiter = name, _DELIMITERS[suffix]
        csv.field_size_limit(LONGEST)  # the module has no other way; its own limit is 128 KiB
        mark = BOM if stream.peek(len(BOM)).startswith(BOM) else b""
        self._text = io.TextIOWrapper(stream, "utf-8-sig", _BYTES_AS_THEY_ARE, newline="")
        self._records = csv.reader(self._lines(), delimiter=self._delimiter, strict=True)
        self.names = next((record for record in self._read() if record), [])
        self.head = mark + _as_csv([self.names], self._delimiter)
        fields = [field] if field in self.names else field.split(",")  # it may have a comma itself
        for one in fields:
            if self.names.count(one) != 1:
                self._refuse(one)
        self._columns = [*map(self.names.index, fields)]

    def _refuse(self, field: str) -> NoReturn:
        names = ", ".join(self.names)
        if not _is_unicode(names):
            raise UsageError("{file} is not UTF-8. Save it as UTF-8.", file=self._name)
        shown = on_one_line(brief(names, _MOST_SHOWN))
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

    def pages(self) -> Iterator[Records]:
        """Yield all records; blank lines are none."""
        records = ((record, sum(map(len, record))) for record in self._read() if record)
        for numbers, page in _paged((number, *one) for number, one in enumerate(records, 1)):
            yield Records(numbers, page, self.names, self._columns, self._delimiter)

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


Reader = DelimitedReader | JsonLinesReader
Rows = Records | Lines


@contextmanager
def reading(file: Named, field: str) -> Iterator[Reader]:
    """Open a file; yield its reader. field: of the text, as --field. UsageError says why not."""
    name = str(file.path)
    try:
        stream = open_regular(file.path)
    except OSError as e:
        raise UsageError("{file} cannot be read: {why}.", file=name, why=e.strerror) from e
    with stream:
        try:
            unpacked = packed(stream, "rb", file.compression)
            if file.format == CSV:
                yield DelimitedReader(unpacked, name, field, file.suffix)
            else:
                size = None if file.compression else os.fstat(stream.fileno()).st_size
                yield JsonLinesReader(unpacked, name, field, size)
        except (OSError, EOFError, zlib.error) as e:
            if getattr(e, "errno", None) is not None:
                raise
            raise UsageError("{file} is damaged: {why}", file=name, why=str(e)) from e
