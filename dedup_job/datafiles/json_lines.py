"""JSON lines: an object on each; a line that is kept stays as it is, but for its text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring
from typing import Any, BinaryIO

from dedup_job.datafiles.formats import BOM, LONGEST, NOT_UTF8, Content, Writer, is_unicode, paged
from dedup_job.documents import Quarantined, Reason, Skipped
from dedup_job.errors import UsageError
from dedup_job.messages import Message
from dedup_job.native.parts import BREAK
from dedup_job.text_fields import TextFields, text_fields, with_texts

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

    def __len__(self) -> int:
        return len(self.numbers)

    def contents(self) -> list[Content]:
        """Return the text of each line, or why it has none."""
        values = [_value(line) for line in self.lines]
        self.objects = [value if isinstance(value, dict) else {} for value in values]
        return [
            _content(value, line, self.fields) if isinstance(value, dict) else value
            for value, line in zip(values, self.lines, strict=True)
        ]

    def with_parts(self, row: int, parts: Sequence[str]) -> bytes:
        """Return a line with other texts; in arrays and objects they stay as they are."""
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
    """Reads lines of a stream. bom: whether a byte order mark is before the first."""

    def __init__(self, stream: Any, name: str, field: str, size: int | None) -> None:
        """Take the fields of the text; size: bytes of the stream, None where not known."""
        self._stream, self._name, self._fields = stream, name, TextFields.of(field)
        self._lines, self._is_checked = 0, False
        begins: bytes = stream.peek(_PEEKED)
        self.bom = begins.startswith(BOM)
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

    def writer(self, stream: BinaryIO) -> Writer:
        """Return a writer of such lines."""
        return JsonLinesWriter(stream, bom=self.bom)

    def pages(self) -> Iterator[Lines]:
        """Yield all lines."""
        for numbers, lines in paged(self._read()):
            page = Lines(numbers, lines, self._fields)
            if not self._is_checked:
                self._check(page)
            yield page

    def _read(self) -> Iterator[tuple[int, bytes, int]]:
        while line := self._stream.readline(LONGEST + 1):
            self._lines += 1
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
                number=len(page),
                field=min(absent),
                found=text_fields(page.objects),
            )


class JsonLinesWriter:
    """Writes lines to a stream; bom: with a byte order mark before the first."""

    def __init__(self, stream: BinaryIO, *, bom: bool = False) -> None:
        self._stream, self._bom = stream, bom

    def write(self, rows: Lines, kept: Sequence[int], texts: Mapping[int, str]) -> None:
        """Write the lines that are kept, with new texts."""
        for row in kept:
            line = rows.lines[row]
            if (text := texts.get(row)) is not None:
                line = rows.with_parts(row, text.split(BREAK))
            if self._bom:  # else it went with a first line that is not kept
                line, self._bom = BOM + line.removeprefix(BOM), False
            self._stream.write(line if line.endswith(b"\n") else line + b"\n")

    def close(self) -> None:
        """Nothing is left."""


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
    if b"\\u" in line and not all(map(is_unicode, parts)):
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
