"""Ids and filters as people write and read them: extended JSON.

`bson.json_util` reads and writes it. Around it stands what that would lose: a name that stands
twice in an object, as it keeps the last; an ObjectId as its digits alone; ids that are not
UTF-8; a UUID, which it writes as base64.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from bson import Binary, Int64, ObjectId, json_util
from bson.codec_options import DatetimeConversion
from bson.errors import BSONError
from bson.json_util import JSONMode, JSONOptions

from dedup_job.messages import Message
from dedup_job.mongo.bson import edit as bson_edit
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


def parsed(text: str, options: JSONOptions = json_util.DEFAULT_JSON_OPTIONS) -> Any:
    """Return the value; ValueError says where it is wrong."""

    def read(pairs: list[tuple[str, Any]]) -> Any:  # json_util.loads keeps the last of two names
        return json_util.object_pairs_hook(_without_repeats(pairs), options)

    try:
        value = json.loads(text, object_pairs_hook=read)
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
    return value


def _without_repeats(pairs: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Refuse a name that stands twice in an object, with ValueError: only the last would count."""
    seen = set[str]()
    for name, _ in pairs:
        if name in seen:
            raise ValueError(Message("the name {name!r} stands twice in one object", name=name))
        seen.add(name)
    return pairs


_OBJECT_ID = re.compile(r"""(?:ObjectId\(["']?)?([0-9a-fA-F]{24})(?:["']?\))?""")
_HUGE, _BEGINS = 4096, 40  # bytes of an _id, characters shown of a larger one
_UUID_SUBTYPE, _UUID_BYTES = 4, 16
_HEAD, _OBJECT_ID_KIND = 5, 0x07  # bytes before the value of an _id; a BSON type
_INTS = {0x10: struct.Struct("<i"), 0x12: struct.Struct("<q")}
_FORMS = tuple(
    JSONOptions(json_mode=mode, datetime_conversion=DatetimeConversion.DATETIME_AUTO)
    for mode in (JSONMode.RELAXED, JSONMode.CANONICAL)
)


def shown(key: bytes) -> str:
    """Return the `_id` that a key stands for so that `readings` yields it first.

    A huge one is named by how it begins, and by its size.
    """
    key = bson_edit.own_key(key)
    if len(key) > _HUGE:
        begins = bson_edit.fields({"_id": str(_value(key))[:_BEGINS]})
        return f"{shown(begins)}… ({len(key):,} bytes)"
    if key[0] == _OBJECT_ID_KIND:  # most are of these kinds, and lists are long
        return key[_HEAD:].hex()
    if (number := _INTS.get(key[0])) is not None:
        return str(number.unpack_from(key, _HEAD)[0])
    return shown_value(_value(key))


def shown_value(value: Any) -> str:
    """Return an `_id` that a ledger row or a kept document names, in the same form."""
    if isinstance(value, ObjectId):
        return str(value)
    with suppress(*MALFORMED):  # keys may look like extended JSON
        for options in _FORMS:
            text = _json(value, options)
            if _comparable(next(readings(text))) == _comparable(value):
                return text
    return _json(Binary(_key(value), bson_edit.KEY_SUBTYPE), _FORMS[0])


def unmistakable(key: bytes) -> str:
    """Return an `_id` whole, in a form that nobody would give a string: `17` may be one, too."""
    if key[0] == _OBJECT_ID_KIND:
        return f'{{"$oid":"{key[_HEAD:].hex()}"}}'
    value = _value(key)
    if value is None or isinstance(value, bool):  # extended JSON has no longer form of these
        return _json(Binary(key, bson_edit.KEY_SUBTYPE), _FORMS[0])
    return _json(value, _FORMS[1]) if isinstance(value, int | float) else shown_value(value)


def readings(written: str) -> Iterator[Any]:
    """Yield the ids that a person may mean, the likeliest first, each once.

    24 hexadecimal digits are an ObjectId; then what extended JSON makes of it, a number among
    others; then the string as it stands, unless it is the `unmistakable` form of another id. An id
    that no value stands for is one that was made `storable`.
    """
    values: list[Any] = []
    if match := _OBJECT_ID.fullmatch(written):
        values.append(ObjectId(match[1]))
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
            if written.startswith(("{", '"')) and written == unmistakable(bson_edit.stored(value)):
                return  # as a command prints it: nothing else is meant


def _value(key: bytes) -> Any:
    try:
        return bson_edit.storable(key)
    except BSONError:
        return Binary(key, bson_edit.KEY_SUBTYPE)


def _key(value: Any) -> bytes:
    return bson_edit.fields({"_id": value})


def _stands_for_an_id(value: Any) -> bool:
    """Tell whether a server takes the value for an `_id`, and what passes for its bytes is one."""
    if isinstance(value, dict) and next(iter(value), "").startswith("$"):
        return False
    if not isinstance(value, Binary) or value.subtype != bson_edit.KEY_SUBTYPE:
        return True
    try:
        return bson_edit.id_element(bson_edit.document(value)) == bytes(value)
    except (ValueError, LookupError, struct.error):
        return False


def _json(value: Any, options: JSONOptions) -> str:
    text = json_util.dumps(
        _mapped(value, _with_uuid), json_options=options, ensure_ascii=False, separators=(",", ":")
    )
    return escaped_json(text)


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, dict):
        return {name: _mapped(part, change) for name, part in value.items()}
    if isinstance(value, list):
        return [_mapped(part, change) for part in value]
    return change(value)


def _with_uuid(value: Any) -> Any:
    """Return a UUID as `{"$uuid": ...}`, which people recognize; json_util writes base64."""
    if isinstance(value, Binary) and (value.subtype, len(value)) == (_UUID_SUBTYPE, _UUID_BYTES):
        return {"$uuid": str(value.as_uuid())}
    return value


def _comparable(value: Any) -> bytes:
    """Return the bytes of an id; its 64-bit integers are the same id as those of any size."""
    return _key(_mapped(value, lambda part: int(part) if isinstance(part, Int64) else part))
