"""JSON lines: an object on each; a line that is kept stays as it is, but for its text."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from json.encoder import encode_basestring
from typing import Any, BinaryIO

from dedup_job.datafiles.formats import (
    BOM,
    BYTES,
    LONGEST,
    NOT_UTF8,
    ROWS,
    Content,
    is_unicode,
    not_utf8,
)
from dedup_job.documents import Quarantined, Reason, Skipped
from dedup_job.errors import UsageError
from dedup_job.messages import Message
from dedup_job.native.parts import BREAK
from dedup_job.text_fields import OWN_ID, TextFields

_SAMPLE = 1 << 20  # bytes
_SPACE = " \t\r\n\ufeff"  # a byte order mark may be before an object
_PEEKED = 4096  # bytes
_BLANK = BOM + b" \t\r\n"
_DECODER = json.JSONDecoder()


@dataclass(slots=True)
class Lines:
    """Lines of a file that are not blank, with their numbers, and the fields of their text.

    lacks: names on the way to these that no line had so far. objects: the lines' values, once the
    texts were asked for.
    """

    numbers: Sequence[int]
    lines: Sequence[bytes]
    fields: TextFields
    lacks: set[str] = field(default_factory=set)
    objects: Sequence[dict[str, Any]] = ()

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.numbers)

    def contents(self) -> list[Content]:
        """Return the text of each line, or why it has none."""
        values = [_value(line) for line in self.lines]
        self.objects = [value if isinstance(value, dict) else {} for value in values]
        for value in self.objects if self.lacks else ():
            self.lacks.difference_update(value)
        return [
            _content(value, line, self.fields) if isinstance(value, dict) else value
            for value, line in zip(values, self.lines, strict=True)
        ]

    def others(self) -> list[dict[str, Any]]:
        """Return the other fields of each line by name, those that are objects whole."""
        compared = {path[0] for path in self.fields.paths}
        return [{k: v for k, v in one.items() if k not in compared} for one in self.objects]


class JsonLinesReader:
    """Reads lines of a stream. bom: whether a byte order mark is before the first."""

    def __init__(self, stream: Any, name: str, field: str, size: int | None) -> None:
        """Take the fields of the text; size: bytes of the stream, None where not known."""
        self._stream, self._name, self._fields = stream, name, TextFields.of(field)
        self._lacks = {path[0] for path in self._fields.paths}
        self._lines = 0
        begins: bytes = stream.peek(_PEEKED)
        self._check(begins.lstrip(_BLANK))
        self.bom = begins.startswith(BOM)
        self.expected: int | None = None  # about, by the mean length of the first lines
        if size is not None:
            begin = stream.read(_SAMPLE)
            stream.seek(0)
            self.expected = begin.count(b"\n") * size // max(len(begin), 1)

    @property
    def lacks(self) -> Sequence[str]:
        """The names on the way to the text that no line had so far."""
        return sorted(self._lacks)

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
            if not line.strip(_BLANK):
                continue
            numbers.append(self._lines)
            lines.append(line)
            size += len(line)
            if len(lines) == ROWS or size > BYTES:
                yield Lines(numbers, lines, self._fields, self._lacks)
                numbers, lines, size = [], [], 0
        if lines:
            yield Lines(numbers, lines, self._fields, self._lacks)

    def _check(self, begins: bytes) -> None:
        """Refuse a file that begins like something else, with UsageError."""
        if b"\0" in begins[:2] or begins.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise not_utf8(self._name)
        if begins.startswith(b"["):
            raise UsageError(
                Message(
                    "{file} is a JSON array, not JSON lines. Write each object on a line of its "
                    "own, without commas behind it: jq -c '.[]' does so.",
                    file=self._name,
                )
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
                parts = iter(text.split(BREAK))
                line = with_texts(line.decode(), rows.fields.paths, parts).encode()
            if self._bom:  # else it went with a first line that is not kept
                line, self._bom = BOM + line.removeprefix(BOM), False
            self._stream.write(line if line.endswith(b"\n") else line + b"\n")

    def close(self) -> None:
        """Nothing is left."""


def _value(line: bytes) -> dict[str, Any] | Quarantined:
    """Return the object of a line, or why it has none."""
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


def with_texts(line: str, paths: Sequence[Sequence[str]], texts: Iterator[str]) -> str:
    """Return an object in JSON with other texts at some paths, all other characters as they are.

    Of an array or an object each part of the text is replaced, see `text_fields`. Of a name that
    occurs twice the last one counts, as for the reader; a path that leads nowhere has no text.
    """
    new = list[tuple[int, int, str]]()  # from where to where, and what stands there then
    for path in paths:
        at = _skip(line, 0)
        for name in path:
            at = _members(line, at).get(name, -1) if at >= 0 and line[at] == "{" else -1
        if at >= 0:
            parts = [*_parts(line, at)]
            new += [(*place, next(texts)) for place in parts]
    for begin, end, text in sorted(new, reverse=True):
        if line[begin] == '"':  # a number stays as it is written
            line = line[:begin] + encode_basestring(text) + line[end:]
    return line


def _parts(line: str, at: int) -> Iterator[tuple[int, int]]:
    """Yield where each part of the text begins and ends in the value at a place."""
    if line[at] in "{[":
        for name, place in _members(line, at).items():
            if name != OWN_ID:
                yield from _parts(line, place)
    elif line[at] not in "tfn":  # true, false, null
        yield at, _DECODER.raw_decode(line, at)[1]


def _members(line: str, at: int) -> dict[str | int, int]:
    """Return where each value begins in the object or array at a place, by name or number."""
    found: dict[str | int, int] = {}
    is_object, at = line[at] == "{", _skip(line, at + 1)
    while line[at] not in "}]":
        key: str | int = len(found)
        if is_object:
            key, at = _DECODER.raw_decode(line, at)
            at = _skip(line, _skip(line, at) + 1)  # behind the colon
        found[key] = at
        at = _skip(line, _DECODER.raw_decode(line, at)[1])
        if line[at] == ",":
            at = _skip(line, at + 1)
    return found


def _skip(line: str, at: int) -> int:
    while line[at] in _SPACE:
        at += 1
    return at
