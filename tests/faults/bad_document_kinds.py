"""Documents that are hard to copy, as raw BSON, each with the outcome that is due."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

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

from dedup_job.mongo.bson.edit import document, fields

MAX_CHARS = 20_000  # source.max_chars of these runs: longer texts can be planted by the hundred
FULL = 16 * 1024 * 1024
UNDECODABLE, TOO_LARGE = "undecodable", "too_large"
NOT_TEXT, MISSING, EMPTY, KEPT = "not_text", "missing", "empty", "kept"
_ANY_DATE: bson.CodecOptions[dict[str, Any]] = bson.CodecOptions(
    datetime_conversion=DatetimeConversion.DATETIME_AUTO
)
_FAR_DATE = struct.pack("<q", 2**60)


@dataclass(frozen=True, slots=True)
class BadDocument:
    """A kind. rest: its fields but `_id`, of a number; becomes: the reason in the ledger, or kept.

    key: the field `_id` where that is what is bad; rare: so large that there are only a few.
    """

    name: str
    becomes: str
    rest: Callable[[int], bytes]
    key: Callable[[int], bytes] | None = None
    rare: bool = False


def text_of(number: int) -> str:
    """Return a text of its own, that resembles no other."""
    rng = random.Random(number)
    return "".join(chr(rng.randrange(0x4E00, 0x9FA5)) for _ in range(40))


def element(kind: int, name: str | bytes, value: bytes) -> bytes:
    """Return a raw field."""
    return bytes([kind]) + (name if isinstance(name, bytes) else name.encode()) + b"\0" + value


def string(value: bytes) -> bytes:
    """Return the value of a string field, whatever its bytes are."""
    return struct.pack("<i", len(value) + 1) + value + b"\0"


def not_utf_8(id_: int) -> RawBSONDocument:
    """Return a document whose text is not UTF-8."""
    return RawBSONDocument(document(fields({"_id": id_}), element(2, "text", string(b"ab\xff"))))


def _good(number: int) -> bytes:
    return fields({"text": text_of(number)})


def _as_text(value: Any) -> Callable[[int], bytes]:
    return lambda _: fields({"text": value})


def _raw_text(kind: int, value: bytes) -> Callable[[int], bytes]:
    return lambda _: element(kind, "text", value)


def _beside(*more: bytes) -> Callable[[int], bytes]:
    return lambda number: _good(number) + b"".join(more)


def _nested(depth: int, inner: bytes) -> bytes:
    for _ in range(depth):
        inner = element(3, "n", document(inner))
    return inner


def _undecodable() -> Iterator[BadDocument]:
    for name, value in {
        "text not UTF-8": b"ab\xff\xfe",
        "text cut within a character": "题目".encode()[:-1],
        "text with a lone surrogate": b"a\xed\xa0\x80b",
        "text with an overlong NUL": b"a\xc0\x80b",
        "text beyond Unicode": b"a\xf4\x90\x80\x80",
    }.items():
        yield BadDocument(name, UNDECODABLE, _raw_text(2, string(value)))
    bad = element(2, "x", string(b"\xff"))
    yield BadDocument("another field not UTF-8", UNDECODABLE, _beside(bad))
    yield BadDocument("a name not UTF-8", UNDECODABLE, _beside(element(10, b"\xff\xfe", b"")))
    yield BadDocument("deep within not UTF-8", UNDECODABLE, _beside(_nested(50, bad)))
    yield BadDocument("a date after 9999", KEPT, _beside(element(9, "d", _FAR_DATE)))
    early = struct.pack("<q", -(2**60))
    yield BadDocument("a date before 1", KEPT, _beside(element(9, "d", early)))
    twice = lambda i: fields({"text": 5}) + _good(i)  # noqa: E731
    yield BadDocument("text twice", UNDECODABLE, twice)
    yield BadDocument(
        "binary of two lengths", UNDECODABLE, _beside(element(5, "b", _two_lengths()))
    )
    for name, kind, start in (("_id not UTF-8", 2, b"\xff"), ("_id low and not UTF-8", 2, b"\x80")):
        yield BadDocument(name, UNDECODABLE, _good, _bad_id(kind, start))
    within = b"\xff"
    yield BadDocument(
        "_id not UTF-8 within",
        UNDECODABLE,
        _good,
        lambda i: element(3, "_id", document(element(2, "a", string(within + str(i).encode())))),
    )
    yield BadDocument(
        "_id a date after 9999",
        KEPT,
        _good,
        lambda i: element(9, "_id", struct.pack("<q", 2**60 + i)),
    )


def _two_lengths() -> bytes:
    return struct.pack("<iBi", 8, 2, 3) + b"abcd"


def _bad_id(kind: int, start: bytes) -> Callable[[int], bytes]:
    return lambda i: element(kind, "_id", string(start + str(i).encode()))


def _not_text() -> Iterator[BadDocument]:
    values: list[Any] = [
        7, 7.5, float("nan"), Int64(2**62), True, [7], {"n": 7}, ["a", b"7"], b"bytes",
        Binary(b"123", 4), datetime(2026, 1, 2, tzinfo=UTC), ObjectId(b"a" * 12), Code("f()"),
        Code("f()", {"a": 1}), Regex("^a", "i"), Decimal128("NaN"), MinKey(), MaxKey(),
        Timestamp(1, 2),
    ]  # fmt: skip
    for value in values:
        name = f"text a {type(value).__name__}: {str(value)[:20]}"
        yield BadDocument(name, NOT_TEXT, _as_text(value))
    pointer = string(b"db.c") + b"a" * 12
    yield BadDocument("text a DBPointer", NOT_TEXT, _raw_text(0x0C, pointer))


def _nothing() -> Iterator[BadDocument]:
    yield BadDocument("no text", MISSING, lambda i: fields({"other": i}))
    yield BadDocument("no field at all", MISSING, lambda _: b"")
    yield BadDocument("text null", MISSING, _as_text(None))
    yield BadDocument("text undefined", MISSING, _raw_text(6, b""))
    for value in (
        "", " \u3000\n\t\r", "\u200b\ufeff", "<p>&nbsp;</p>", "<!-- x -->", "<p><br/></p>" * 50,
        "<script>var a = 1;</script>", "<style>p{color:red}</style>",
    ):  # fmt: skip
        yield BadDocument(f"text empty: {value[:12]!r}", EMPTY, _as_text(value))


def _large() -> Iterator[BadDocument]:
    long = "长" * (MAX_CHARS + 1)
    yield BadDocument("text above max_chars", TOO_LARGE, _as_text(long))
    yield BadDocument("markup above max_chars", EMPTY, _as_text("<b>" * (MAX_CHARS // 2)))
    yield BadDocument("no room for the fields added", TOO_LARGE, _full, rare=True)


def _full(number: int) -> bytes:
    """Return a text and so much besides that 20 bytes and the room for an `_id` are left."""
    text = _good(number)
    blob = b"\0" * (FULL - len(text) - len(fields({"blob": b""})) - 50)
    return text + fields({"blob": blob})


def _odd_but_good() -> Iterator[BadDocument]:
    odd: dict[str, bytes] = {
        "nested 150 deep": _nested(150, fields({"x": 1})),
        "NaN decimals": fields({"a": Decimal128("NaN"), "b": Decimal128("-Infinity")}),
        "a field dedup": fields({"dedup": {"fingerprint": Int64(1), "run": 99}}),
        "a field dedup twice": 2 * fields({"dedup": {"fingerprint": Int64(1), "run": 99}}),
        "keys twice": fields({"a": 1}) + fields({"a": "b"}) + fields({"a": None}),
        "odd references": fields({"a": {"$ref": 5, "$id": 1, "$db": 7}, "b": {"$ref": "c"}}),
        "odd names": fields({"": 1, "a.b": 2, "$set": 3, "_": 4, "text.x": 5}),
        "odd types": fields({"a": Code("f()", {"x": MinKey()}), "b": Regex("(", "imsx")}),
        "an undefined and a symbol": element(6, "u", b"") + element(14, "s", string(b"sym")),
        "a UUID too short": fields({"u": Binary(b"123", 4), "m": Binary(b"x", 200)}),
        "ten thousand nulls": fields({"a": [None] * 10_000}),
        "two thousand fields": fields({f"f{i}": i for i in range(2000)}),
    }
    for name, more in odd.items():
        yield BadDocument(name, KEPT, _beside(more))
    yield BadDocument("NUL in the text", KEPT, lambda i: fields({"text": "\0" + text_of(i) + "\0"}))
    yield BadDocument(
        "text a symbol", KEPT, lambda i: element(14, "text", string(text_of(i).encode()))
    )
    twice = _twice
    yield BadDocument("_id with a key twice", KEPT, _good, lambda i: element(3, "_id", twice(i)))
    pointer = string(b"db.c")
    yield BadDocument(
        "_id a DBPointer",
        KEPT,
        _good,
        lambda i: element(12, "_id", pointer + struct.pack(">Q", i) + b"tail"),
    )


def _twice(number: int) -> bytes:
    return document(fields({"a": 1}), fields({"a": number}))


KINDS = (*_undecodable(), *_not_text(), *_nothing(), *_large(), *_odd_but_good())
SINGLE_IDS: tuple[Any, ...] = (
    None, True, False, MinKey(), MaxKey(), float("nan"), float("inf"), float("-inf"), "", b"", {},
    Decimal128("1E+6000"),
)  # fmt: skip


def mixed_id(number: int, salt: int = 0) -> Any:
    """Return an `_id` of one of a dozen types, the same for the same number and salt."""
    if salt == 0 and number < len(SINGLE_IDS):
        return SINGLE_IDS[number]
    rng = random.Random(number * 31 + salt)
    several: tuple[Callable[[], Any], ...] = (
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


def planted(count: int) -> Iterator[tuple[bytes, BadDocument, str | None]]:
    """Yield so many documents: raw, of which kind, and the text that should be kept."""
    common = [kind for kind in KINDS if not kind.rare]
    rare = [kind for kind in KINDS if kind.rare for _ in range(3)]
    kinds = [*rare, *(common[i % len(common)] for i in range(count - len(rare)))]
    for number, kind in enumerate(kinds):
        key = kind.key(number) if kind.key else fields({"_id": mixed_id(number, 3)})
        raw = document(key, kind.rest(number))
        yield raw, kind, _text(kind, number) if kind.becomes == KEPT else None


def _text(kind: BadDocument, number: int) -> str:
    """Return the text of a document that has one, as the driver decodes it."""
    return str(bson.decode(document(kind.rest(number)), _ANY_DATE)["text"])


def decodes(raw: bytes) -> bool:
    """Tell whether the driver can decode a document, which it cannot with most of the bad ones."""
    try:
        bson.decode(raw, _ANY_DATE)
    except (bson.errors.BSONError, ValueError, OverflowError):
        return False
    return True
