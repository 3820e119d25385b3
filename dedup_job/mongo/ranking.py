"""Which of two documents is the better copy: ranks, byte strings that are compared byte by byte.

A rank is the values of the rules one after the other, then the `_id`. Values have the order in
which the server sorts them: numbers of all types by value, then text, ObjectIds, false and true,
dates, timestamps. A value that is missing, null or of another type comes before all others,
whichever way a rule sorts; `highest` takes numbers alone. Of equal documents the one with the lower
`_id` is the better one.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import repeat
from typing import NamedTuple

import numpy as np
from bson import Decimal128
from numpy.typing import NDArray

from dedup_job.columns import Documents
from dedup_job.messages import Message
from dedup_job.mongo import id_keys, raw_bson
from dedup_job.mongo.raw_bson import Element
from dedup_job.native.texts import TextColumn

_MISSING, _NUMBER, _TEXT, _OBJECT_ID, _BOOL, _DATE, _TIMESTAMP = (bytes((k,)) for k in range(7))
_INTEGERS = {0x10: struct.Struct("<i"), 0x12: struct.Struct("<q"), 0x09: struct.Struct("<q")}
_DOUBLE, _ORDERED, _LENGTH = struct.Struct("<d"), struct.Struct(">Q"), struct.Struct(">I")
_SIGN, _ALL = 1 << 63, (1 << 64) - 1
_REVERSED = bytes(range(255, -1, -1))
_END, _ESCAPED = b"\0", b"\0\xff"
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
    field, equals, values = rest.partition("=")
    if name not in list(By):
        said = Message("{rule!r} is no rule; expected {rules}", rule=written, rules=_EXPECTED)
        raise ValueError(said)
    by = By(name)
    listed = tuple(value.strip() for value in values.split(","))
    fits = bool(field) == (by in _OF_A_FIELD) and bool(equals) == (by is By.ORDER)
    if not fits or (colon and not field) or (equals and "" in listed):
        raise ValueError(
            Message(
                "{rule!r} is not as that rule is written; expected {rules}",
                rule=written,
                rules=_EXPECTED,
            )
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
        raws, lengths = documents.raw.take(documents.rows).list(), documents.texts.lengths.tolist()
        return [b"".join(parts) for parts in self._parts(raws, lengths, documents.texts)]

    def rule(self, better: Documents, row: int, worse: Documents, other: int) -> str:
        """Return the rule by which one text is the better copy; row, other: rows of the texts."""
        one, two = (
            self._parts(
                [documents.raw.at(int(documents.rows[place]))],
                [int(documents.texts.lengths[place])],
                documents.texts.take(slice(place, place + 1)),
            )[0]
            for documents, place in ((better, row), (worse, other))
        )
        differ = (str(rule) for rule, a, b in zip(self.rules, one, two, strict=False) if a != b)
        return next(differ, str(By.FIRST))

    def _parts(
        self, raws: Sequence[bytes], lengths: Sequence[int], texts: TextColumn
    ) -> list[tuple[bytes, ...]]:
        columns = [self._column(rule, raws, lengths, texts) for rule in self.rules]
        ids = [_value(id_keys.id_place(raw), raw).translate(_REVERSED) for raw in raws]
        return [*zip(*columns, ids, strict=True)]

    def _column(
        self, rule: Rule, raws: Sequence[bytes], lengths: Sequence[int], texts: TextColumn
    ) -> list[bytes]:
        if rule.by is By.RICHEST:
            rich = self.richness(texts).astype(">u4")
            return [row.tobytes() for row in rich]
        if rule.by is By.LONGEST:
            return [*map(_LENGTH.pack, lengths)]
        return [*map(_BY[rule.by], repeat(rule), raws)]


def _of_field(rule: Rule, raw: bytes) -> bytes:
    return _value(_found(raw, rule.path), raw)


def _highest(rule: Rule, raw: bytes) -> bytes:
    value = _of_field(rule, raw)
    return value if value.startswith(_NUMBER) else _MISSING  # a note such as "n/a" is no score


def _oldest(rule: Rule, raw: bytes) -> bytes:
    value = _of_field(rule, raw)
    return value if value == _MISSING else _NUMBER + value.translate(_REVERSED)


def _in_order(rule: Rule, raw: bytes) -> bytes:
    element = _found(raw, rule.path)
    if element is None or element.kind != 0x02:
        return _LENGTH.pack(0)
    text = raw[element.value + 4 : element.end - 1].decode("utf-8", "replace")
    known = rule.values.index(text) if text in rule.values else len(rule.values)
    return _LENGTH.pack(1 + len(rule.values) - known)


_BY: dict[By, Callable[[Rule, bytes], bytes]] = {
    By.FIRST: lambda _rule, _raw: b"",
    By.NEWEST: _of_field,
    By.HIGHEST: _highest,
    By.OLDEST: _oldest,
    By.ORDER: _in_order,
}


def _found(raw: bytes, path: Sequence[str]) -> Element | None:
    start, end = 0, None
    element = None
    for name in path:
        if element is not None:
            if element.kind != raw_bson.DOCUMENT:
                return None
            start, end = element.value, element.end
        element = raw_bson.find(raw, name.encode(), start, end)
        if element is None:
            return None
    return element


def _value(element: Element | None, raw: bytes) -> bytes:
    if element is None:
        return _MISSING
    at, kind = element.value, element.kind
    if kind == 0x01:
        return _NUMBER + _number(_DOUBLE.unpack_from(raw, at)[0])
    if kind in _INTEGERS:
        number = _INTEGERS[kind].unpack_from(raw, at)[0]
        return _DATE + _integer(number) if kind == 0x09 else _NUMBER + _number(number)
    if kind == 0x13:
        return _NUMBER + _decimal(Decimal128.from_bid(raw[at : at + 16]))
    if kind in (0x02, 0x0E):
        return _TEXT + raw[at + 4 : element.end - 1].replace(_END, _ESCAPED) + _END
    if kind == 0x07:
        return _OBJECT_ID + raw[at : at + 12]
    if kind == 0x08:
        return _BOOL + raw[at : at + 1]
    if kind == 0x11:
        return _TIMESTAMP + raw[at : at + 8][::-1]
    return _MISSING


def _integer(number: int) -> bytes:
    return _ORDERED.pack(number + _SIGN)


def _number(number: float) -> bytes:
    """Return a number: as a double, then what that lacks of it. NaN comes first."""
    if math.isnan(number):
        return _ORDERED.pack(0) + _integer(0)
    double = float(number)
    rest = 0 if math.isinf(double) else int(number - int(double)) if isinstance(number, int) else 0
    return _double(double) + _integer(rest)


def _double(double: float) -> bytes:
    bits = int.from_bytes(struct.pack(">d", double + 0.0), "big")  # one zero
    return _ORDERED.pack(~bits & _ALL if bits & _SIGN else bits | _SIGN)


def _decimal(decimal: Decimal128) -> bytes:
    value = decimal.to_decimal()
    if value.is_nan():
        return _number(math.nan)
    double = float(value)
    if math.isinf(double) or value.is_infinite():
        return _double(double) + _integer(0)
    # two decimals next to one double tie; one and a double do not
    beside = (value > type(value)(double)) - (value < type(value)(double))
    return _double(double) + _integer(beside)
