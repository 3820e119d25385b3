"""Documents that are hard to copy, as raw BSON, each with the outcome that is due."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import bson
from bson import (
    Binary,
    Code,
    DatetimeMS,
    Decimal128,
    Int64,
    MaxKey,
    MinKey,
    ObjectId,
    Regex,
    Timestamp,
)
from bson.codec_options import DatetimeConversion
from bson.raw_bson import RawBSONDocument

from dedup_job.mongo.raw_bson import fields, join_fields

MAX_CHARS = 20_000  # source.max_chars of these runs: longer texts can be planted by the hundred
FULL = 16 * 1024 * 1024
UNDECODABLE, TOO_LARGE = "undecodable", "too_large"
NOT_TEXT, MISSING, EMPTY, KEPT = "not_text", "missing", "empty", "kept"
_ANY_DATE = bson.CodecOptions(datetime_conversion=DatetimeConversion.DATETIME_AUTO)
_FAR_DATE = struct.pack("<q", 2**60)
_MARK = fields({"dedup": {"fingerprint": Int64(1), "run": 99}})


@dataclass(frozen=True, slots=True)
class BadDocument:
    """A kind of documents that are hard to copy.

    rest: makes the fields except `_id` of a number; becomes: the reason in the ledger, or kept;
    key: makes a bad field `_id`; rare: so large that only a few are planted.
    """

    name: str
    becomes: str
    rest: Callable[[int], bytes]
    key: Callable[[int], bytes] | None = None
    rare: bool = False


def text_of(number):
    rng = random.Random(number)
    return "".join(chr(rng.randrange(0x4E00, 0x9FA5)) for _ in range(40))


def element(kind, name, value):
    return bytes([kind]) + (name if isinstance(name, bytes) else name.encode()) + b"\0" + value


def string(value):
    """Return the value of a string field with these bytes, UTF-8 or not."""
    return struct.pack("<i", len(value) + 1) + value + b"\0"


def not_utf_8(id_):
    return RawBSONDocument(join_fields(fields({"_id": id_}), element(2, "text", string(b"ab\xff"))))


def _good(number):
    return fields({"text": text_of(number)})


def _as_text(value):
    return lambda _: fields({"text": value})


def _raw_text(kind, value):
    return lambda _: element(kind, "text", value)


def _beside(*more):
    return lambda number: _good(number) + b"".join(more)


def _nested(depth, inner):
    for _ in range(depth):
        inner = element(3, "n", join_fields(inner))
    return inner


def _id(kind, before):
    """Return a maker of fields `_id` with a string of some bytes and the number."""
    return lambda i: element(kind, "_id", string(before + str(i).encode()))


def _full(number):
    """Return fields that leave 20 bytes and an `_id` free in a document of the largest size."""
    text = _good(number)
    blob = b"\0" * (FULL - len(text) - len(fields({"blob": b""})) - 50)
    return text + fields({"blob": blob})


_BAD = element(2, "x", string(b"\xff"))
_POINTER = string(b"db.c")
_UNDECODABLE = {
    "text not UTF-8": _raw_text(2, string(b"ab\xff\xfe")),
    "text cut within a character": _raw_text(2, string("题目".encode()[:-1])),
    "text with a lone surrogate": _raw_text(2, string(b"a\xed\xa0\x80b")),
    "text with an overlong NUL": _raw_text(2, string(b"a\xc0\x80b")),
    "text beyond Unicode": _raw_text(2, string(b"a\xf4\x90\x80\x80")),
    "another field not UTF-8": _beside(_BAD),
    "a name not UTF-8": _beside(element(10, b"\xff\xfe", b"")),
    "deep within not UTF-8": _beside(_nested(50, _BAD)),
    "text twice": lambda i: fields({"text": 5}) + _good(i),
    "text twice, then null": lambda i: _good(i) + fields({"text": None}),
    "binary of two lengths": _beside(element(5, "b", struct.pack("<iBi", 8, 2, 3) + b"abcd")),
}
_BAD_IDS = {
    "_id not UTF-8": _id(2, b"\xff"),
    "_id low and not UTF-8": _id(2, b"\x80"),
    "_id not UTF-8 within": lambda i: element(
        3, "_id", join_fields(element(2, "a", string(b"\xff" + str(i).encode())))
    ),
}
_NOT_TEXT = [
    7, 7.5, float("nan"), Int64(2**62), True, [7], {"n": 7}, ["a", b"7"], b"bytes",
    Binary(b"123", 4), datetime(2026, 1, 2, tzinfo=UTC), ObjectId(b"a" * 12), Code("f()"),
    Code("f()", {"a": 1}), Regex("^a", "i"), Decimal128("NaN"), MinKey(), MaxKey(),
    Timestamp(1, 2),
]  # fmt: skip
_MISSING = {
    "no text": lambda i: fields({"other": i}),
    "no field at all": lambda _: b"",
    "text null": _as_text(None),
    "text undefined": _raw_text(6, b""),
}
_EMPTY = (
    "", " \u3000\n\t\r", "\u200b\ufeff", "<p>&nbsp;</p>", "<!-- x -->", "<p><br/></p>" * 50,
    "<script>var a = 1;</script>", "<style>p{color:red}</style>", "<b>" * (MAX_CHARS // 2),
)  # fmt: skip
_ODD_BUT_GOOD = {
    "a date after 9999": _beside(element(9, "d", _FAR_DATE)),
    "a date before 1": _beside(element(9, "d", struct.pack("<q", -(2**60)))),
    "nested 150 deep": _beside(_nested(150, fields({"x": 1}))),
    "NaN decimals": _beside(fields({"a": Decimal128("NaN"), "b": Decimal128("-Infinity")})),
    "a field dedup": _beside(_MARK),
    "a field dedup twice": _beside(2 * _MARK),
    "keys twice": _beside(fields({"a": 1}) + fields({"a": "b"}) + fields({"a": None})),
    "odd references": _beside(fields({"a": {"$ref": 5, "$id": 1, "$db": 7}, "b": {"$ref": "c"}})),
    "odd names": _beside(fields({"": 1, "a.b": 2, "$set": 3, "_": 4, "text.x": 5})),
    "odd types": _beside(fields({"a": Code("f()", {"x": MinKey()}), "b": Regex("(", "imsx")})),
    "undefined and a symbol": _beside(element(6, "u", b"") + element(14, "s", string(b"sym"))),
    "a UUID too short": _beside(fields({"u": Binary(b"123", 4), "m": Binary(b"x", 200)})),
    "ten thousand nulls": _beside(fields({"a": [None] * 10_000})),
    "two thousand fields": _beside(fields({f"f{i}": i for i in range(2000)})),
    "NUL in the text": lambda i: fields({"text": "\0" + text_of(i) + "\0"}),
    "text a symbol": lambda i: element(14, "text", string(text_of(i).encode())),
}
_ODD_IDS = {
    "a date after 9999": lambda i: element(9, "_id", struct.pack("<q", 2**60 + i)),
    "a key twice": lambda i: element(3, "_id", join_fields(fields({"a": 1}), fields({"a": i}))),
    "a DBPointer": lambda i: element(12, "_id", _POINTER + struct.pack(">Q", i) + b"tail"),
}
_LONG = "长" * (MAX_CHARS + 1)
KINDS = (
    *(BadDocument(name, UNDECODABLE, rest) for name, rest in _UNDECODABLE.items()),
    *(BadDocument(name, UNDECODABLE, _good, key) for name, key in _BAD_IDS.items()),
    *(BadDocument(f"a {type(v)}: {str(v)[:20]}", NOT_TEXT, _as_text(v)) for v in _NOT_TEXT),
    BadDocument("text a DBPointer", NOT_TEXT, _raw_text(0x0C, _POINTER + b"a" * 12)),
    *(BadDocument(name, MISSING, rest) for name, rest in _MISSING.items()),
    *(BadDocument(f"text empty: {value[:12]!r}", EMPTY, _as_text(value)) for value in _EMPTY),
    BadDocument("text above max_chars", TOO_LARGE, _as_text(_LONG)),
    BadDocument("no room for the fields added", TOO_LARGE, _full, rare=True),
    *(BadDocument(name, KEPT, rest) for name, rest in _ODD_BUT_GOOD.items()),
    *(BadDocument(f"_id {name}", KEPT, _good, key) for name, key in _ODD_IDS.items()),
)
SINGLE_IDS = (
    None, True, False, MinKey(), MaxKey(), float("nan"), float("inf"), float("-inf"), "", b"", {},
    Decimal128("1E+6000"),
)  # fmt: skip


def mixed_id(number, salt=0):
    """Return an `_id` of one of a dozen types, the same for the same number and salt."""
    if salt == 0 and number < len(SINGLE_IDS):
        return SINGLE_IDS[number]
    rng = random.Random(number * 31 + salt)
    several = (
        lambda: 10 * number + salt,
        lambda: 10 * number + 5 + salt / 16,
        lambda: f"{rng.getrandbits(40):x}-{number}-{salt}",
        lambda: ObjectId(rng.randbytes(8) + struct.pack(">HH", number & 0xFFFF, salt)),
        lambda: datetime(2000, 1, 1, tzinfo=UTC) + timedelta(seconds=number, milliseconds=salt),
        lambda: Binary(rng.randbytes(16), 4),
        lambda: {"a": number, "b": [salt, "x"]},
        lambda: Int64(2**40 + 16 * number + salt),
        lambda: Decimal128(f"{number}.{salt:02}25"),
        lambda: Timestamp(1000 + number, salt + 1),
        lambda: DatetimeMS(-(10**12) - 16 * number - salt),
        lambda: f"题{number}-{salt}",
    )
    return several[number % len(several)]()


def planted(count):
    """Yield `count` raw documents, each with its kind and the text to be kept."""
    common = [kind for kind in KINDS if not kind.rare]
    rare = [kind for kind in KINDS if kind.rare for _ in range(3)]
    kinds = [*rare, *(common[i % len(common)] for i in range(count - len(rare)))]
    for number, kind in enumerate(kinds):
        key = kind.key(number) if kind.key else fields({"_id": mixed_id(number, 3)})
        raw = join_fields(key, kind.rest(number))
        yield raw, kind, _text(kind, number) if kind.becomes == KEPT else None


def _text(kind, number):
    """Return the text of a document of this kind, as the driver decodes it."""
    return str(bson.decode(join_fields(kind.rest(number)), _ANY_DATE)["text"])


def decodes(raw):
    """Return whether the driver can decode a document; most of the bad ones it cannot."""
    try:
        bson.decode(raw, _ANY_DATE)
    except (bson.errors.BSONError, ValueError, OverflowError):
        return False
    return True
