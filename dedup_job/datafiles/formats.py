"""Readers of JSON lines and CSV, whose pages also return kept rows as bytes for the output."""

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
from dedup_job.text_fields import TextFields, text_field_summary, with_texts

T = TypeVar("T")
JSON_LINES, CSV = "JSON lines", "CSV"
_FORMATS = {".jsonl": JSON_LINES, ".ndjson": JSON_LINES, ".csv": CSV, ".tsv": CSV}
_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_COMPRESSED = ".gz"
_LEVEL = 6  # of gzip
_PAGE_ROWS, _PAGE_BYTES = 2000, 8 << 20  # the most rows; bytes after which a page ends
_LONGEST = 64 << 20  # bytes of a line, characters of a field
_BOM = b"\xef\xbb\xbf"  # byte order mark of UTF-8, which programs such as Excel need
_NOT_UTF8 = Message("the text is not UTF-8")

Content = str | Refusal
"""A text, with BREAK between its parts, or the reason why there is none."""


class DataFile(NamedTuple):
    """A file, its format, JSON_LINES or CSV, compression, "" or ".gz", and suffix, as ".tsv"."""

    path: Path
    format: str
    compression: str
    suffix: str


def data_file(path: Path) -> DataFile:
    """Return a file with the format and compression of its name; UsageError if unknown."""
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    compression = suffixes.pop() if suffixes and suffixes[-1] == _COMPRESSED else ""
    suffix = suffixes[-1] if suffixes else ""
    if suffix not in _FORMATS:
        raise UsageError(
            "{file} names no format. Expected the end .jsonl, .csv or .tsv, each also with .gz "
            "behind it.",
            file=path,
        )
    return DataFile(path, _FORMATS[suffix], compression, suffix)


def _paged(rows: Iterable[tuple[int, T, int]]) -> Iterator[tuple[list[int], list[T]]]:
    numbers, page, size = list[int](), list[T](), 0
    for number, row, row_size in rows:
        numbers.append(number)
        page.append(row)
        size += row_size
        if len(page) == _PAGE_ROWS or size > _PAGE_BYTES:
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


def gzip_stream(stream: BinaryIO, mode: str, compression: str) -> BinaryIO:
    """Return a gzip stream over this one, or this one if `compression` is "".

    mode: "rb" or "wb". Closing the gzip stream leaves this one open.
    """
    # no time of change: equal content gives equal bytes
    form = gzip.GzipFile("", mode, _LEVEL, stream, mtime=0) if compression else stream
    return cast("BinaryIO", form)


_SAMPLE = 1 << 20  # bytes
_SPACE = " \t\r\n\ufeff"  # a byte order mark may precede an object
_PEEKED = 4096  # bytes
_BLANK = _BOM + b" \t\r\n"
_DECODER = json.JSONDecoder()


@dataclass(slots=True)
class Lines:
    """A page of JSON lines: numbers in the file, bytes, values, and the fields with the text."""

    numbers: Sequence[int]
    lines: Sequence[bytes]
    values: Sequence[dict[str, Any] | Quarantined]
    fields: TextFields

    @property
    def objects(self) -> list[dict[str, Any]]:
        """The values, {} for a line that is no object."""
        return [value if isinstance(value, dict) else {} for value in self.values]

    def contents(self) -> list[Content]:
        """Return the text of each line, or the reason why it has none."""
        return [
            _content(value, line, self.fields) if isinstance(value, dict) else value
            for value, line in zip(self.values, self.lines, strict=True)
        ]

    def row_bytes(self, rows: Sequence[int], texts: Mapping[int, str]) -> bytes:
        """Return the bytes of some rows of the page; texts: new ones, by row."""
        lines = (
            self._with_parts(row, texts[row].split(BREAK)) if row in texts else self.lines[row]
            for row in rows
        )
        return b"".join(line if line.endswith(b"\n") else line + b"\n" for line in lines)

    def _with_parts(self, row: int, parts: Sequence[str]) -> bytes:
        # texts in arrays and objects are not replaced
        line, texts = self.lines[row].decode(), iter(parts)
        value = cast("dict[str, Any]", self.values[row])  # it has a text
        for number, old in self.fields.values(value):
            new = with_texts(old, texts)
            line = with_text(line, self.fields.paths[number], new) if type(old) is str else line
        return line.encode()

    def other_fields(self) -> list[dict[str, Any]]:
        """Return the fields of each line that hold no text, by their top-level name."""
        compared = {path[0] for path in self.fields.paths}
        return [{k: v for k, v in one.items() if k not in compared} for one in self.objects]


class JsonLinesReader:
    """Reads JSON lines. head: bytes before the first row; expected: estimated number of rows."""

    def __init__(self, stream: Any, name: str, field: str, size: int | None) -> None:
        """Take a buffered stream, its name, field and size, if known; UsageError: a JSON array."""
        self._stream, self._name, self._fields = stream, name, TextFields.of(field)
        begins: bytes = stream.peek(_PEEKED)
        self.head = _BOM if begins.startswith(_BOM) and begins.strip(_BLANK) else b""
        if begins.lstrip(_BLANK).startswith(b"["):
            raise UsageError(
                "{file} is a JSON array, not JSON lines. Write each object on a line of its "
                "own, without commas behind it: jq -c '.[]' does so.",
                file=name,
            )
        self.expected: int | None = None
        if size is not None:
            begin = stream.read(_SAMPLE)
            stream.seek(0)
            self.expected = begin.count(b"\n") * size // max(len(begin), 1)

    def pages(self) -> Iterator[Lines]:
        """Yield all lines but blank ones; UsageError if no row of the first page has a field."""
        for index, (numbers, lines) in enumerate(_paged(self._read())):
            page = Lines(numbers, lines, [*map(_value, lines)], self._fields)
            if index == 0:
                self._check(page)
            yield page

    def _read(self) -> Iterator[tuple[int, bytes, int]]:
        lines = iter(lambda: self._stream.readline(_LONGEST + 1), b"")
        for number, line in enumerate(lines, 1):
            if number == 1:
                line = line.removeprefix(self.head)
            if len(line) > _LONGEST:
                raise UsageError(
                    "{file}: line {line:,} is longer than {most} MiB. Is each object on a line "
                    "of its own?",
                    file=self._name,
                    line=number,
                    most=_LONGEST >> 20,
                )
            if line.strip(_BLANK):
                yield number, line, len(line)

    def _check(self, page: Lines) -> None:
        objects = page.objects
        absent = {path[0] for path in self._fields.paths}.difference(*objects)
        if absent and any(objects):
            raise UsageError(
                "none of the first {number:,} rows has the field {field!r}. {found} Name one "
                "with --field.",
                number=len(page.numbers),
                field=min(absent),
                found=text_field_summary(objects),
            )


def _value(line: bytes) -> dict[str, Any] | Quarantined:
    try:
        value = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return Quarantined(Reason.UNDECODABLE, _NOT_UTF8)
    except (ValueError, RecursionError) as e:
        return Quarantined(Reason.UNDECODABLE, Message("the line is not JSON: {why}", why=str(e)))
    if not isinstance(value, dict):
        return Quarantined(Reason.UNDECODABLE, Message("the line holds no object"))
    return value


def _content(value: dict[str, Any], line: bytes, fields: TextFields) -> Content:
    content = fields.content(value)
    if isinstance(content, str) and b"\\u" in line and not _is_unicode(content):
        detail = Message("a text in it holds half of a surrogate pair")
        return Quarantined(Reason.UNDECODABLE, detail)
    return content


def with_text(line: str, path: Sequence[str], text: str) -> str:
    """Return a JSON object with another text at a path and all other characters unchanged.

    Of a repeated name the last one counts, as in `json`. ValueError if there is no such path.
    """
    begin = _skip_space(line, 0)
    for name in path:
        begin = _start_of_value(line, begin, name)
    end = _DECODER.raw_decode(line, begin)[1]
    return line[:begin] + encode_basestring(text) + line[end:]


def _start_of_value(line: str, at: int, name: str) -> int:
    if line[at] != "{":
        raise ValueError("no object")
    start, at = -1, _skip_space(line, at + 1)
    while line[at] == '"':
        key, at = _DECODER.raw_decode(line, at)
        at = _skip_space(line, _skip_space(line, at) + 1)  # after the colon
        if key == name:
            start = at
        at = _skip_space(line, _DECODER.raw_decode(line, at)[1])
        if line[at] == ",":
            at = _skip_space(line, at + 1)
    if start < 0:
        raise ValueError(f"no {name}")
    return start


def _skip_space(line: str, at: int) -> int:
    while line[at] in _SPACE:
        at += 1
    return at


_BYTES_AS_THEY_ARE = "surrogateescape"
_MOST_SHOWN = 200  # characters of the header in a message


_ADVICE = Message(
    "Name the column that holds the text with --field, several with commas; columns are divided by "
    "commas, in .tsv by tabs."
)


@dataclass(frozen=True, slots=True)
class Records:
    """A page of CSV records: numbers in the file, values; columns: indices of those with text."""

    numbers: Sequence[int]
    records: Sequence[list[str]]
    header: Sequence[str]
    columns: Sequence[int]
    delimiter: str

    def contents(self) -> Iterator[Content]:
        """Yield the text of each record, or the reason why it has none."""
        for record in self.records:
            parts = [record[column] for column in self.columns if column < len(record)]
            if not all(map(_is_unicode, parts)):
                yield Quarantined(Reason.UNDECODABLE, _NOT_UTF8)
            else:
                yield BREAK.join(parts) if parts else Skipped(Reason.MISSING)

    def row_bytes(self, rows: Sequence[int], texts: Mapping[int, str]) -> bytes:
        """Return the bytes of some rows of the page; texts: new ones, by row."""
        for row, text in texts.items():
            record = self.records[row]
            columns = (column for column in self.columns if column < len(record))
            for column, part in zip(columns, text.split(BREAK), strict=True):
                record[column] = part
        return _as_csv([self.records[row] for row in rows], self.delimiter)

    def other_fields(self) -> list[dict[str, Any]]:
        """Return the fields of each record that hold no text, by name."""
        names = [(n, name) for n, name in enumerate(self.header) if n not in self.columns]
        return [{name: r[n] for n, name in names if n < len(r)} for r in self.records]


def _as_csv(records: Sequence[Sequence[str]], delimiter: str) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter).writerows(records)
    return text.getvalue().encode(errors=_BYTES_AS_THEY_ARE)


class DelimitedReader:
    """Reads CSV: a header, which names the columns, and records. head: bytes of the header."""

    expected: int | None = None

    def __init__(self, stream: Any, name: str, field: str, suffix: str) -> None:
        """Read the header of a stream; UsageError unless each name in `field` is one column's."""
        self._name, self._delimiter = name, _DELIMITERS[suffix]
        csv.field_size_limit(_LONGEST)  # global; the default is 128 KiB
        mark = _BOM if stream.peek(len(_BOM)).startswith(_BOM) else b""
        self._text = io.TextIOWrapper(stream, "utf-8-sig", _BYTES_AS_THEY_ARE, newline="")
        self._records = csv.reader(self._lines(), delimiter=self._delimiter, strict=True)
        self.names = next((record for record in self._read() if record), [])
        self.head = mark + _as_csv([self.names], self._delimiter)
        fields = [field] if field in self.names else field.split(",")  # a name may have a comma
        for one in fields:
            if self.names.count(one) != 1:
                self._refuse(one)
        self._columns = [*map(self.names.index, fields)]

    def _refuse(self, field: str) -> NoReturn:
        names = ", ".join(self.names)
        if not _is_unicode(names):
            raise UsageError("{file} is not UTF-8. Save it as UTF-8.", file=self._name)
        shown = on_one_line(brief(names, _MOST_SHOWN))
        values = {"file": self._name, "field": field, "names": shown or Message("none")}
        problem = Message("{file} has no column {field!r}; its header names {names}.", **values)
        if field in self.names:
            problem = Message(
                "{file} has more than one column {field!r}; its header names {names}.", **values
            )
        raise UsageError(joined([problem, _ADVICE]))

    def _lines(self) -> Iterator[str]:
        for number, line in enumerate(iter(lambda: self._text.readline(_LONGEST), ""), 1):
            if len(line) == _LONGEST and not line.endswith("\n"):
                raise UsageError(
                    "{file}: line {line:,} is longer than {most} million characters. Is it CSV?",
                    file=self._name,
                    line=number,
                    most=_LONGEST >> 20,
                )
            yield line

    def pages(self) -> Iterator[Records]:
        """Yield all records, without blank lines; UsageError if it is not CSV."""
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
def reading(file: DataFile, field: str) -> Iterator[Reader]:
    """Yield the reader of a file; UsageError if it is unreadable, damaged or has no such field."""
    name = str(file.path)
    try:
        stream = open_regular(file.path)
    except OSError as e:
        raise UsageError("{file} cannot be read: {why}.", file=name, why=e.strerror) from e
    with stream:
        try:
            unpacked = gzip_stream(stream, "rb", file.compression)
            if file.format == CSV:
                yield DelimitedReader(unpacked, name, field, file.suffix)
            else:
                size = None if file.compression else os.fstat(stream.fileno()).st_size
                yield JsonLinesReader(unpacked, name, field, size)
        except (OSError, EOFError, zlib.error) as e:
            if getattr(e, "errno", None) is not None:
                raise
            raise UsageError("{file} is damaged: {why}", file=name, why=str(e)) from e
