"""Ids compared as the server compares them: by value, whatever the type of a number.

To a server 5 as int32, int64, double and decimal is one `_id`, also inside a document. Two
elements are the same id exactly if their `comparable` bytes are equal.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterable
from decimal import Context, Decimal

from bson import Decimal128

from dedup_job.mongo.bson import edit as bson_edit

_DOUBLE, _STRING, _DOCUMENT, _ARRAY = 0x01, 0x02, 0x03, 0x04
_SYMBOL, _INT32, _INT64, _DECIMAL = 0x0E, 0x10, 0x12, 0x13
_INTS = {_INT32: struct.Struct("<i"), _INT64: struct.Struct("<q")}
_FLOAT = struct.Struct("<d")
_BY_VALUE = frozenset((_DOUBLE, _DOCUMENT, _ARRAY, _SYMBOL, _INT32, _INT64, _DECIMAL))
_EXACT = Context(prec=1100)  # digits, more than any double has


def comparable(key: bytes) -> bytes:
    """Return bytes that are equal for elements that the server takes for the same value."""
    kind = key[0]
    if kind not in _BY_VALUE:
        return key
    value = key.index(0, 1) + 1
    head, rest = key[1:value], key[value:]
    if kind == _SYMBOL:
        return bytes([_STRING]) + head + rest
    if kind in (_DOCUMENT, _ARRAY):
        inner = (rest[e.start : e.end] for e in bson_edit.elements(rest))
        return bytes([kind]) + head + bson_edit.document(*map(comparable, inner))
    return bytes([_DOUBLE]) + head + _number(kind, rest)


def as_asked(keys: Collection[bytes], there: Iterable[bytes]) -> dict[bytes, bytes]:
    """Return, by each id of `there`, that one of `keys` which is the same; others are left out."""
    asked, found = set(keys), list(there)
    same = {key: key for key in found if key in asked}
    if len(same) < len(found):  # mostly they have the same bytes
        values = {comparable(key): key for key in asked.difference(same)}
        for key in found:
            if key not in same and (one := values.get(comparable(key))) is not None:
                same[key] = one
    return same


def _number(kind: int, value: bytes) -> bytes:
    """Return a number in decimal digits, without trailing zeros."""
    if kind in _INTS:
        number = Decimal(_INTS[kind].unpack(value)[0])
    elif kind == _DOUBLE:
        number = Decimal(_FLOAT.unpack(value)[0])
    else:
        number = Decimal128.from_bid(value).to_decimal()
    if number.is_nan():
        return b"nan"
    return str(_EXACT.normalize(number)).encode() if number else b"0"  # which has a sign
