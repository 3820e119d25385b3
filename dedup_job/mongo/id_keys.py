"""Keys, the raw `_id` fields of documents: compared as a server does, and as people write them.

`bson.json_util` reads and writes extended JSON. Added here: repeated names in an object are
refused; an ObjectId may be its digits alone; ids need not be UTF-8; UUIDs are not written as
base64.
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
from dedup_job.mongo import raw_bson
from dedup_job.native.bytes_column import BytesColumn, concat_rowwise_bytes, strings_of
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
KEY_SUBTYPE = 0xD1  # of binary data: the bytes of an _id that no BSON value represents
_OWN = b"_id\0"  # in a key, behind its kind
_DOUBLE, _SYMBOL, _DECIMAL = 0x01, 0x0E, 0x13
_BY_VALUE = frozenset((_DOUBLE, raw_bson.DOCUMENT, raw_bson.ARRAY, _SYMBOL, _DECIMAL, *_INTS))
_EXACT = Context(prec=1100)  # digits, more than any double has


def parsed(text: str, options: JSONOptions = json_util.DEFAULT_JSON_OPTIONS) -> Any:
    """Parse extended JSON; ValueError names the fault and its position."""

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
    """Return a key as text for people, cut if huge; its first reading is the same `_id`."""
    key = own_key(key)
    if len(key) > _HUGE:
        begins = raw_bson.fields({"_id": str(lossless_value(key))[:_BEGINS]})
        return f"{shown(begins)}… ({len(key):,} bytes)"
    if key[0] == _OBJECT_ID_KIND:  # most are of these kinds, and lists are long
        return key[_HEAD:].hex()
    if key[0] in _INTS:
        return str(int.from_bytes(key[_HEAD:], "little", signed=True))
    return shown_value(lossless_value(key))


def shown_value(value: Any) -> str:
    """Format the value of an `_id` as `shown` does, uncut."""
    if isinstance(value, ObjectId):
        return str(value)
    key = raw_bson.fields({"_id": value})
    with suppress(*MALFORMED):  # keys may look like extended JSON
        for options in _FORMS:
            text = _json(value, options)
            if equality_key(raw_bson.fields({"_id": next(readings(text))})) == equality_key(key):
                return text
    return _json(Binary(key, KEY_SUBTYPE), _FORMS[0])


def unmistakable(key: bytes) -> str:
    """Format a key in a form that is read as this `_id` only: `17` might be a string, too."""
    if key[0] == _OBJECT_ID_KIND:
        return f'{{"$oid":"{key[_HEAD:].hex()}"}}'
    value = lossless_value(key)
    if value is None or isinstance(value, bool):  # extended JSON has no longer form of these
        return _json(Binary(key, KEY_SUBTYPE), _FORMS[0])
    return _json(value, _FORMS[1]) if isinstance(value, int | float) else shown_value(value)


def readings(written: str) -> Iterator[Any]:
    """Yield the values that a written `_id` may mean, the likeliest first, each once.

    24 hexadecimal digits are an ObjectId; then extended JSON, as numbers are; then the string
    itself, unless it is the `unmistakable` form of another id. Ids that no BSON value represents
    are as made by `lossless_value`.
    """
    match = _OBJECT_ID.fullmatch(written)
    values: list[Any] = [ObjectId(match[1])] if match else []
    with suppress(ValueError):
        values.append(parsed(written, _FORMS[0]))
    values.append(written)
    keys = set()
    for value in values:
        try:
            key = raw_bson.fields({"_id": value})
        except MALFORMED:
            continue  # no server holds such an id
        if key not in keys and _is_id(value):
            keys.add(key)
            yield value
            if written.startswith(("{", '"')) and written == unmistakable(key_from_value(value)):
                return  # as a command prints it


def _is_id(value: Any) -> bool:
    if not isinstance(value, Binary) or value.subtype != KEY_SUBTYPE:
        return not (isinstance(value, dict) and next(iter(value), "").startswith("$"))
    with suppress(ValueError, LookupError, struct.error):
        return id_key_in(raw_bson.join_fields(value)) == bytes(value)
    return False


def _json(value: Any, options: JSONOptions) -> str:
    text = json_util.dumps(
        _with_uuids(value), json_options=options, ensure_ascii=False, separators=(",", ":")
    )
    return escaped_json(text)


def _with_uuids(value: Any) -> Any:
    # people recognize {"$uuid": ...}; json_util writes base64
    if isinstance(value, dict):
        return {name: _with_uuids(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_with_uuids(part) for part in value]
    if isinstance(value, Binary) and (value.subtype, len(value)) == (_UUID_SUBTYPE, _UUID_BYTES):
        return {"$uuid": str(value.as_uuid())}
    return value


def find_id_field(raw: bytes) -> raw_bson.Element:
    """Return the `_id` field; ValueError for a document without one, or with a cut one."""
    for element in raw_bson.elements(raw):  # a server stores _id first
        if element.name == b"_id":
            if element.end >= len(raw):
                raise ValueError("the _id ends outside of its document")
            return element
    raise ValueError("the document has no _id")


def id_key_in(raw: bytes) -> bytes:
    """Return the key of a raw document, the bytes of its `_id` field; ValueError if it has none."""
    element = find_id_field(raw)
    return raw[element.start : element.end]


def id_value(key: bytes) -> Any:
    """Decode the `_id` of a key; text that is not UTF-8 gets replacement characters."""
    return bson.decode(raw_bson.join_fields(own_key(key)), codec_options=raw_bson.LENIENT)["_id"]


def own_key(key: bytes) -> bytes:
    """Return a key as the raw field `_id`: keys of another collection have its name instead."""
    return key if key.startswith(_OWN, 1) else raw_bson.renamed(key, b"_id")


def reference_name(key: bytes) -> str:
    """Return the other collection that a document key names, "" if it names none."""
    return "" if key.startswith(_OWN, 1) else key[1 : key.index(0, 1)].decode(errors="replace")


def named_key(raw: bytes, id_field: bytes = b"of", collection: bytes = b"against") -> bytes:
    """Return the key of the document that two fields of a row name, b"" if they name none."""
    found = {e.name: e for e in raw_bson.elements(raw) if e.name in (id_field, collection)}
    if (own := found.get(id_field)) is None:
        return b""
    name, element = b"_id", found.get(collection)
    if element is not None and element.kind == raw_bson.STRING:
        written = raw[element.value + 4 : element.end - 1]
        name = written if b"." in written and b"\0" not in written else name
    return raw_bson.renamed(raw[own.start : own.end], name)


def are_own(keys: BytesColumn) -> NDArray[np.bool_]:
    """Return whether each of n keys names no other collection, bool (n,)."""
    offsets = keys.starts[:, np.newaxis] + np.arange(1, 1 + len(_OWN))
    same: NDArray[np.bool_] = (keys.data[offsets] == np.frombuffer(_OWN, np.uint8)).all(axis=1)
    return same


def lossless_value(element: bytes) -> Any:
    """Decode a key to a value that `key_from_value` encodes to the same bytes."""
    with suppress(BSONError):
        value = id_value(element)
        if (
            raw_bson.fields({"_id": value}) == element
            and getattr(value, "subtype", 0) != KEY_SUBTYPE
        ):
            return value
    return Binary(element, KEY_SUBTYPE)


def key_from_value(value: Any) -> bytes:
    """Return the key of a value made by `lossless_value`, or of any `_id`."""
    if isinstance(value, Binary) and value.subtype == KEY_SUBTYPE:
        return bytes(value)
    return raw_bson.fields({"_id": value})


def id_filter(keys: Sequence[bytes] | BytesColumn) -> RawBSONDocument:
    """Return the filter for documents with these keys, also ones that are not UTF-8."""
    column = strings_of(keys)
    kinds = column.between(0, np.ones_like(column.lengths))
    values = column.between(_HEAD, column.lengths)
    array = concat_rowwise_bytes([kinds, _numbers(len(column.lengths)), values])
    one_of = raw_bson.join_fields(
        bytes([raw_bson.ARRAY]) + b"$in\0" + raw_bson.join_fields(array.data.tobytes())
    )
    return RawBSONDocument(raw_bson.join_fields(bytes([raw_bson.DOCUMENT]) + b"_id\0" + one_of))


@lru_cache(maxsize=4)
def _numbers(count: int) -> BytesColumn:
    return strings_of([b"%d\0" % number for number in range(count)])


def equal_to(key: bytes, field: str = "_id") -> RawBSONDocument:
    """Return the filter for a field that equals this id on the server, as 5 equals 5.0."""
    same = raw_bson.join_fields(raw_bson.renamed(key, b"$eq"))
    return RawBSONDocument(
        raw_bson.join_fields(bytes([raw_bson.DOCUMENT]) + field.encode() + b"\0" + same)
    )


def equality_key(key: bytes) -> bytes:
    """Return bytes that are equal for keys that are one `_id` on the server, as 5 and 5.0."""
    kind = key[0]
    if kind not in _BY_VALUE:
        return key
    value = key.index(0, 1) + 1
    head, rest = key[1:value], key[value:]
    if kind == _SYMBOL:
        return bytes([raw_bson.STRING]) + head + rest
    if kind in (raw_bson.DOCUMENT, raw_bson.ARRAY):
        inner = (rest[e.start : e.end] for e in raw_bson.elements(rest))
        return bytes([kind]) + head + raw_bson.join_fields(*map(equality_key, inner))
    return bytes([_DOUBLE]) + head + _number(id_value(key))


def as_asked(keys: Collection[bytes], ids: Iterable[bytes]) -> dict[bytes, bytes]:
    """Map each of `ids` to the one of `keys` that is the same `_id`; others are omitted."""
    requested, found = set(keys), list(ids)
    same = {key: key for key in found if key in requested}
    if len(same) < len(found):  # mostly they have the same bytes
        values = {equality_key(key): key for key in requested.difference(same)}
        named = ((key, values.get(equality_key(key))) for key in found if key not in same)
        same |= {key: one for key, one in named if one is not None}
    return same


def _number(value: Any) -> bytes:
    number = value.to_decimal() if isinstance(value, Decimal128) else Decimal(value)
    if number.is_nan():
        return b"nan"
    return str(_EXACT.normalize(number)).encode() if number else b"0"  # which has a sign
