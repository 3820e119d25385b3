"""JSON lines: an object on each; a line that is kept stays as it is, but for its text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring
from typing import Any, BinaryIO

from dedup_job.datafiles.formats import BYTES, LONGEST, ROWS, Content, is_unicode
from dedup_job.documents import Quarantined, Reason, Skipped
from dedup_job.errors import UsageError
from dedup_job.messages import Message
from dedup_job.text_fields import TextFields

_SAMPLE = 1 << 20  # bytes
_SPACE = " \t\r\n"
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of a file that are not blank, with their numbers, and where the text lies in each."""

    numbers: Sequence[int]
    lines: Sequence[bytes]
    path: Sequence[str]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.numbers)

    def contents(self) -> list[Content]:
        """Return the text of each line, or why it has none."""
        return [_content(line, self.path) for line in self.lines]


class JsonLinesReader:
    """Reads lines of a stream."""

    def __init__(self, stream: BinaryIO, name: str, field: str, size: int | None) -> None:
        """Take the path of the text, dotted; size: bytes of the stream, None where not known."""
        if (fields := TextFields.of(field)).several:
            raise UsageError(
                Message(
                    "--field {field} names several fields, and rows of a file are compared by one. "
                    "Join them in a field of their own, or import the file and use `dedup run`.",
                    field=field,
                )
            )
        self._stream, self._name, self._path = stream, name, fields.one
        self._lines = 0
        self.expected: int | None = None  # about, by the mean length of the first lines
        if size is not None:
            begin = stream.read(_SAMPLE)
            stream.seek(0)
            self.expected = begin.count(b"\n") * size // max(len(begin), 1)

    def pages(self) -> Iterator[Lines]:
        """Yield all lines."""
        numbers, lines, size = list[int](), list[bytes](), 0
        while line := self._stream.readline(LONGEST + 1):
            self._lines += 1
            if len(line) > LONGEST:
                raise UsageError(
                    Message(
                        "{file}: line {line:,} is longer than {most} MiB. Is each object on a line "
                        "of its own?",
                        file=self._name,
                        line=self._lines,
                        most=LONGEST >> 20,
                    )
                )
            if line.isspace():
                continue
            numbers.append(self._lines)
            lines.append(line)
            size += len(line)
            if len(lines) == ROWS or size > BYTES:
                yield Lines(numbers, lines, self._path)
                numbers, lines, size = [], [], 0
        if lines:
            yield Lines(numbers, lines, self._path)


class JsonLinesWriter:
    """Writes lines to a stream."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def write(self, rows: Lines, kept: Sequence[int], texts: Mapping[int, str]) -> None:
        """Write the lines that are kept, with new texts."""
        for row in kept:
            line = rows.lines[row]
            if (text := texts.get(row)) is not None:
                line = with_text(line.decode("utf-8-sig"), rows.path, text).encode()
            self._stream.write(line if line.endswith(b"\n") else line + b"\n")

    def close(self) -> None:
        """Nothing is left."""


def _content(line: bytes, path: Sequence[str]) -> Content:
    try:
        value: Any = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError) as e:
        return Quarantined(Reason.UNDECODABLE, Message("the line is not JSON: {why}", why=str(e)))
    if not isinstance(value, dict):
        return Quarantined(Reason.UNDECODABLE, Message("the line holds no object"))
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    if value is None:
        return Skipped(Reason.MISSING)
    if not isinstance(value, str):
        return Skipped(Reason.NOT_TEXT)
    if b"\\u" in line and not is_unicode(value):
        return Quarantined(
            Reason.UNDECODABLE, Message("a text in it holds half of a surrogate pair")
        )
    return value


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
    """Return where the value of a name begins in the object that begins at a place."""
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
