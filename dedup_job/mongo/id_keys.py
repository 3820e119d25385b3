"""Keys, the raw `_id` fields of documents: compared as a server does, and as people write them.

`bson.json_util` reads and writes extended JSON. Around it stands what that would lose: a name that
stands twice in an object, as it keeps the last; an ObjectId as its digits alone; ids that are not
UTF-8; a UUID, which it writes as base64.
"""

import json
import re
import struct
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from decimal import Context, Decimal
from functools import lru_cache
from typing import Any

import bson
import numpy as np
from bson import Binary, Decimal128, ObjectId, json_util
from bson.codec_options import DatetimeConversion
from bson.errors import BSONError
from bson.json_util import JSONMode, JSONOptions
from bson.raw_bson import RawBSONDocument
from numpy.typing import NDArray

from dedup_job.messages import Message
from dedup_job.mongo.raw_bson import (
    ARRAY,
    DOCUMENT,
    LENIENT,
    STRING,
    Element,
    document,
    elements,
    fields,
    renamed,
)
from dedup_job.native.bytes_column import BytesColumn, joined, strings_of
from dedup_job.printing import escaped_json

MALFORMED = (  # what json_util and bson raise for a value that they do not take
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    RecursionError,
    BSONError,
)
_OBJECT_ID = re.compile(r"""(?:ObjectId\(["']?)?([0-9a-fA-F]{24})(?:["']?\))?""")
_HUGE, _BEGINS = 4096, 40  # bytes of an _id, characters shown of a larger one
_UUID_SUBTYPE, _UUID_BYTES = 4, 16
_HEAD, _OBJECT_ID_KIND = 5, 0x07  # bytes before the value of an _id; a BSON type
_INTS = (0x10, 0x12)
_FORMS = tuple(
    JSONOptions(json_mode=mode, datetime_conversion=DatetimeConversion.DATETIME_AUTO)
    for mode in (JSONMode.RELAXED, JSONMode.CANONICAL)
)
KEY_SUBTYPE = 0xD1  # of binary data: the bytes of an _id that BSON values cannot stand for
_OWN = b"_id\0"  # in a key, behind its kind
_DOUBLE, _SYMBOL, _DECIMAL = 0x01, 0x0E, 0x13
_BY_VALUE = frozenset((_DOUBLE, DOCUMENT, ARRAY, _SYMBOL, _DECIMAL, *_INTS))
_EXACT = Context(prec=1100)  # digits, more than any double has


def parsed(text: str, options: JSONOptions = json_util.DEFAULT_JSON_OPTIONS) -> Any:
    """Return the value; ValueError says where it is wrong."""

    def read(pairs: list[tuple[str, Any]]) -> Any:  # json_util.loads keeps the last of two names
        for name, count in Counter(name for name, _ in pairs).items():
            if count > 1:
                raise ValueError(Message("the name {name!r} stands twice in one object", name=name))
        return json_util.object_pairs_hook(pairs, options)

    try:
        return json.loads(text, object_pairs_hook=read)
    except json.JSONDecodeError as e:
        raise ValueError(
            Message(
                "not valid extended JSON at character {at}: {why}; names and texts need double "
                'quotes, e.g. {{"lang": "zh"}}',
                at=e.pos + 1,
                why=e.msg,
            )
        ) from e
    except MALFORMED as e:
        why = next((part for part in e.args if isinstance(part, Message)), str(e))
        raise ValueError(Message("not valid extended JSON: {why}", why=why)) from e


def shown(key: bytes) -> str:
    """Return the `_id` of a key so that `readings` yields it first; the beginning of a huge one."""
    key = own_key(key)
    if len(key) > _HUGE:
        begins = fields({"_id": str(storable(key))[:_BEGINS]})
        return f"{shown(begins)}… ({len(key):,} bytes)"
    if key[0] == _OBJECT_ID_KIND:  # most are of these kinds, and lists are long
        return key[_HEAD:].hex()
    if key[0] in _INTS:
        return str(int.from_bytes(key[_HEAD:], "little", signed=True))
    return shown_value(storable(key))


def shown_value(value: Any) -> str:
    """Return an `_id` that a ledger row or a kept document names, in the same form."""
    if isinstance(value, ObjectId):
        return str(value)
    with suppress(*MALFORMED):  # keys may look like extended JSON
        for options in _FORMS:
            text = _json(value, options)
            if comparable(_key(next(readings(text)))) == comparable(_key(value)):
                return text
    return _json(Binary(_key(value), KEY_SUBTYPE), _FORMS[0])


def unmistakable(key: bytes) -> str:
    """Return an `_id` whole, in a form that nobody would give a string: `17` may be one, too."""
    if key[0] == _OBJECT_ID_KIND:
        return f'{{"$oid":"{key[_HEAD:].hex()}"}}'
    value = storable(key)
    if value is None or isinstance(value, bool):  # extended JSON has no longer form of these
        return _json(Binary(key, KEY_SUBTYPE), _FORMS[0])
    return _json(value, _FORMS[1]) if isinstance(value, int | float) else shown_value(value)


def readings(written: str) -> Iterator[Any]:
    """Yield the ids that a person may mean, the likeliest first, each once.

    24 hexadecimal digits are an ObjectId; then extended JSON, as numbers are; then the string
    itself, unless it is the `unmistakable` form of another id. Ids without a value are as made
    `storable`.
    """
    match = _OBJECT_ID.fullmatch(written)
    values: list[Any] = [ObjectId(match[1])] if match else []
    with suppress(ValueError):
        values.append(parsed(written, _FORMS[0]))
    values.append(written)
    seen = set()
    for value in values:
        try:
            key = _key(value)
        except MALFORMED:
            continue  # no server holds such an id
        if key not in seen and _stands_for_an_id(value):
            seen.add(key)
            yield value
            if written.startswith(("{", '"')) and written == unmistakable(stored(value)):
                return  # as a command prints it: nothing else is meant


def _key(value: Any) -> bytes:
    return fields({"_id": value})


def _stands_for_an_id(value: Any) -> bool:
    """Tell whether a server takes the value for an `_id`, and what passes for its bytes is one."""
    if isinstance(value, dict) and next(iter(value), "").startswith("$"):
        return False
    if not isinstance(value, Binary) or value.subtype != KEY_SUBTYPE:
        return True
    try:
        return id_element(document(value)) == bytes(value)
    except (ValueError, LookupError, struct.error):
        return False


def _json(value: Any, options: JSONOptions) -> str:
    text = json_util.dumps(
        _with_uuids(value), json_options=options, ensure_ascii=False, separators=(",", ":")
    )
    return escaped_json(text)


def _with_uuids(value: Any) -> Any:
    """Return each UUID as `{"$uuid": ...}`, which people recognize; json_util writes base64."""
    if isinstance(value, dict):
        return {name: _with_uuids(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_with_uuids(part) for part in value]
    if isinstance(value, Binary) and (value.subtype, len(value)) == (_UUID_SUBTYPE, _UUID_BYTES):
        return {"$uuid": str(value.as_uuid())}
    return value


def id_place(raw: bytes) -> Element:
    """Return the `_id` field; ValueError for a document that has none, or not all of it."""
    for element in elements(raw):  # a server stores _id first
        if element.name == b"_id":
            if element.end >= len(raw):
                raise ValueError("the _id ends outside of its document")
            return element
    raise ValueError("the document has no _id")


def id_element(raw: bytes) -> bytes:
    """Return the bytes of the `_id` field, equal in all copies; ValueError if there is none."""
    element = id_place(raw)
    return raw[element.start : element.end]


def id_value(key: bytes) -> Any:
    """Decode the `_id` from its field's bytes; text that is not UTF-8 is replaced."""
    return bson.decode(document(own_key(key)), codec_options=LENIENT)["_id"]


def own_key(key: bytes) -> bytes:
    """Return the `_id` field of a key, which may be that of a document of another collection."""
    return key if key.startswith(_OWN, 1) else renamed(key, b"_id")


def place_of(key: bytes) -> str:
    """Return the other collection that a key names instead of `_id`, "" where it names none."""
    return "" if key.startswith(_OWN, 1) else key[1 : key.index(0, 1)].decode(errors="replace")


def named_key(raw: bytes, of: bytes = b"of", place: bytes = b"against") -> bytes:
    """Return the key of the document that the fields `of` and `place` name, b"" if they do not."""
    found = {element.name: element for element in elements(raw) if element.name in (of, place)}
    if (own := found.get(of)) is None:
        return b""
    name, other = b"_id", found.get(place)
    if other is not None and other.kind == STRING:
        given = raw[other.value + 4 : other.end - 1]
        name = given if b"." in given and b"\0" not in given else name
    return renamed(raw[own.start : own.end], name)


def are_own(keys: BytesColumn) -> NDArray[np.bool_]:
    """Tell which of n keys name no other collection, bool (n,)."""
    places = keys.starts[:, np.newaxis] + np.arange(1, 1 + len(_OWN))
    same: NDArray[np.bool_] = (keys.data[places] == np.frombuffer(_OWN, np.uint8)).all(axis=1)
    return same


def storable(element: bytes) -> Any:
    """Return the `_id` as a value that gives the same bytes when it is read back."""
    with suppress(BSONError):
        value = id_value(element)
        if fields({"_id": value}) == element and getattr(value, "subtype", 0) != KEY_SUBTYPE:
            return value
    return Binary(element, KEY_SUBTYPE)


def stored(value: Any) -> bytes:
    """Return the field that was made storable."""
    if isinstance(value, Binary) and value.subtype == KEY_SUBTYPE:
        return bytes(value)
    return fields({"_id": value})


def among(keys: Sequence[bytes] | BytesColumn) -> RawBSONDocument:
    """Return the filter for these ids as they are, text that is not UTF-8 as well."""
    given = strings_of(keys)
    kinds = given.between(0, np.ones_like(given.lengths))
    values = given.between(_HEAD, given.lengths)
    array = joined([kinds, _numbers(len(given.lengths)), values])
    one_of = document(bytes([ARRAY]) + b"$in\0" + document(array.data.tobytes()))
    return RawBSONDocument(document(bytes([DOCUMENT]) + b"_id\0" + one_of))


@lru_cache(maxsize=4)
def _numbers(count: int) -> BytesColumn:
    return strings_of([b"%d\0" % number for number in range(count)])


def equal_to(key: bytes, field: str = "_id") -> RawBSONDocument:
    """Return the filter for a field with what the server takes for this id: 5 is 5.0, too."""
    same = document(renamed(key, b"$eq"))
    return RawBSONDocument(document(bytes([DOCUMENT]) + field.encode() + b"\0" + same))


def comparable(key: bytes) -> bytes:
    """Return bytes that are equal for what the server takes for one `_id`: 5 is 5.0, too."""
    kind = key[0]
    if kind not in _BY_VALUE:
        return key
    value = key.index(0, 1) + 1
    head, rest = key[1:value], key[value:]
    if kind == _SYMBOL:
        return bytes([STRING]) + head + rest
    if kind in (DOCUMENT, ARRAY):
        inner = (rest[e.start : e.end] for e in elements(rest))
        return bytes([kind]) + head + document(*map(comparable, inner))
    return bytes([_DOUBLE]) + head + _number(id_value(key))


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


def _number(value: Any) -> bytes:
    number = value.to_decimal() if isinstance(value, Decimal128) else Decimal(value)
    if number.is_nan():
        return b"nan"
    return str(_EXACT.normalize(number)).encode() if number else b"0"  # which has a sign
