"""Which of two documents is the better copy: ranks, byte strings that are compared byte by byte.

A rank is the values of the rules one after the other, then the `_id`. Values have the order in
which the server sorts them: numbers of all types by value, then text, ObjectIds, false and true,
dates, timestamps. A value that is missing, null or of another type comes before all others,
whichever way a rule sorts; `highest` takes numbers alone. Of equal documents the one with the lower
`_id` is the better one.
"""

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
from bson import CodecOptions, DatetimeMS, Decimal128, ObjectId, Timestamp
from bson.codec_options import DatetimeConversion
from bson.raw_bson import RawBSONDocument
from numpy.typing import NDArray

from dedup_job.columns import Documents
from dedup_job.messages import Message
from dedup_job.native.bytes_column import TextColumn

_MISSING, _NUMBER, _TEXT, _OBJECT_ID, _BOOL, _DATE, _TIMESTAMP = (bytes((k,)) for k in range(7))
_NAN, _BELOW_ZERO, _ZERO, _ABOVE_ZERO = (bytes((k,)) for k in range(4))
_EXPONENT, _LENGTH = struct.Struct(">H"), struct.Struct(">I")
_BIAS = 1 << 15  # of exponents, far beyond those of BSON; an infinite number has one as large
_REVERSED = bytes(range(255, -1, -1))
_END, _ESCAPED = b"\0", b"\0\xff"
_VALUES: CodecOptions[RawBSONDocument] = CodecOptions(
    document_class=RawBSONDocument,
    unicode_decode_error_handler="replace",
    datetime_conversion=DatetimeConversion.DATETIME_MS,
)
_EXPECTED = Message(
    "first, richest, longest, newest:FIELD, highest:FIELD, oldest:FIELD or order:FIELD=A,B,..."
)


class By(StrEnum):
    """What a rule looks at, and which value is the better one."""

    FIRST = "first"
    NEWEST = "newest"
    HIGHEST = "highest"
    OLDEST = "oldest"
    LONGEST = "longest"
    RICHEST = "richest"
    ORDER = "order"


_OF_A_FIELD = (By.NEWEST, By.HIGHEST, By.OLDEST, By.ORDER)


class Rule(NamedTuple):
    """A rule as it is written: `newest:updated`, `order:source=official,books`."""

    by: By
    path: tuple[str, ...] = ()
    values: tuple[str, ...] = ()

    def __str__(self) -> str:
        field = f":{'.'.join(self.path)}" if self.path else ""
        return f"{self.by}{field}" + (f"={','.join(self.values)}" if self.values else "")


def parsed(written: str) -> Rule:
    """Return the rule that is written so; ValueError says what is wrong."""
    name, colon, rest = written.partition(":")
    field, equals, ordered = rest.partition("=")
    values = {"rule": written, "rules": _EXPECTED}
    if name not in list(By):
        raise ValueError(Message("{rule!r} is no rule; expected {rules}", **values))
    by = By(name)
    listed = tuple(value.strip() for value in ordered.split(","))
    fits = bool(field) == (by in _OF_A_FIELD) and bool(equals) == (by is By.ORDER)
    if not fits or (colon and not field) or (equals and "" in listed):
        raise ValueError(
            Message("{rule!r} is not as that rule is written; expected {rules}", **values)
        )
    return Rule(by, tuple(field.split(".")) if field else (), listed if equals else ())


Richness = Callable[[TextColumn], NDArray[np.uint32]]
"""Returns how rich each of n texts is, uint32 (n, k): the first column that differs decides."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Makes ranks by rules, the first one first; richness: what the rule `richest` asks."""

    rules: Sequence[Rule]
    richness: Richness

    def ranks(self, documents: Documents) -> list[bytes]:
        """Return the ranks of those documents that have a text, a cleaned one."""
        return [b"".join(parts) for parts in self._parts(documents, slice(None))]

    def rule(self, better: Documents, row: int, worse: Documents, other: int) -> str:
        """Return the rule by which one text is the better copy; row, other: rows of the texts."""
        (one,) = self._parts(better, slice(row, row + 1))
        (two,) = self._parts(worse, slice(other, other + 1))
        differ = (str(rule) for rule, a, b in zip(self.rules, one, two, strict=False) if a != b)
        return next(differ, str(By.FIRST))

    def _parts(self, documents: Documents, some: slice) -> list[tuple[bytes, ...]]:
        raws, texts = documents.raw.take(documents.rows[some]).list(), documents.texts.take(some)
        columns = [self._column(rule, raws, texts) for rule in self.rules]
        ids = [_value(_found(raw, ("_id",))).translate(_REVERSED) for raw in raws]
        return [*zip(*columns, ids, strict=True)]

    def _column(self, rule: Rule, raws: Sequence[bytes], texts: TextColumn) -> list[bytes]:
        if rule.by is By.RICHEST:
            rich = self.richness(texts).astype(">u4")
            return [row.tobytes() for row in rich]
        if rule.by is By.LONGEST:
            return [*map(_LENGTH.pack, texts.lengths.tolist())]
        return [_of_field(rule, _found(raw, rule.path)) for raw in raws]


def _found(raw: bytes, path: Sequence[str]) -> Any:
    value: Any = RawBSONDocument(raw, _VALUES)
    for name in path:
        value = value.get(name) if isinstance(value, RawBSONDocument) else None
    return value


def _of_field(rule: Rule, found: Any) -> bytes:
    if rule.by is By.ORDER:
        better = [*rule.values, found].index(found)
        return _LENGTH.pack(1 + len(rule.values) - better if isinstance(found, str) else 0)
    value = _value(found)
    if rule.by is By.HIGHEST and not value.startswith(_NUMBER):
        return _MISSING  # a note such as "n/a" is no score
    if rule.by is By.OLDEST and value != _MISSING:
        return _NUMBER + value.translate(_REVERSED)
    return value


def _value(value: Any) -> bytes:
    match value:
        case bool():
            return _BOOL + bytes([value])
        case int() | float():
            return _NUMBER + _number(Decimal(value))
        case Decimal128():
            return _NUMBER + _number(value.to_decimal())
        case str():
            return _TEXT + value.encode().replace(_END, _ESCAPED) + _END
        case ObjectId():
            return _OBJECT_ID + value.binary
        case DatetimeMS():
            return _DATE + struct.pack(">Q", int(value) + (1 << 63))
        case Timestamp():
            return _TIMESTAMP + struct.pack(">II", value.time, value.inc)
    return _MISSING


def _number(number: Decimal) -> bytes:
    """Return a number as sign, exponent and digits, of which each is above the end of a shorter."""
    if number.is_nan() or not number:
        return _NAN if number.is_nan() else _ZERO
    exponent = _BIAS - 1 if number.is_infinite() else number.adjusted()
    digits = bytes(digit + 1 for digit in number.as_tuple().digits).rstrip(b"\1")
    value = _ABOVE_ZERO + _EXPONENT.pack(_BIAS + exponent) + digits + _END
    return value if number > 0 else _BELOW_ZERO + value[1:].translate(_REVERSED)
