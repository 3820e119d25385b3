"""Settings of source, target and ledger; the rank of a document by the rules of `output.keep`.

A rank is a byte string: the values of the rules one after the other, then the `_id`. The document
with the largest rank is the best copy. No rank begins with ff, which is the rank of one that may
not be replaced: a rule that reverses the order of its values puts a byte before them. Values have
the order in which the server sorts them: numbers of all types by value, then text, ObjectIds, false
and true, dates, timestamps. A value that is missing, null or of another type comes before all
others, whichever way a rule sorts; `highest` takes numbers alone. Of equal documents the one with
the lower `_id` is the better one.
"""

import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from itertools import combinations, takewhile
from typing import Any, NamedTuple, Self

import bson
import numpy as np
from bson import CodecOptions, DatetimeMS, Decimal128, ObjectId, Timestamp, json_util
from bson.codec_options import DatetimeConversion
from bson.errors import BSONError
from bson.raw_bson import RawBSONDocument
from numpy.typing import NDArray
from pydantic import BaseModel, Field, field_validator, model_validator

from dedup_job.columns import Documents
from dedup_job.messages import Message
from dedup_job.mongo.id_keys import parsed
from dedup_job.native.bytes_column import TextColumn
from dedup_job.text_fields import TextFields

_MOVING = re.compile(r'"(\$expr|\$where|\$sampleRate)":')
"""Operators by which a query may match a document later without a write: they can ask for the time
or for chance. The server takes `$$NOW`, `$$CLUSTER_TIME`, `$rand` and `$function` in `$expr` alone.
Every `$expr` counts, since a server may gain other such operators."""
_EXPECTED = Message(
    "first, richest, longest, newest:FIELD, highest:FIELD, oldest:FIELD or order:FIELD=A,B,..."
)
_NOT_IN_A_NAME = re.compile(r"[\0\ud800-\udfff]")  # no server takes halves of characters


class OnChange(StrEnum):
    """Treatment of a decided document after the source changed its text."""

    KEEP = "keep"
    UPDATE = "update"
    REFRESH = "refresh"


class OnDelete(StrEnum):
    """Treatment of a decided document after the source deleted it."""

    KEEP = "keep"
    PROMOTE = "promote"
    REMOVE = "remove"


class SourceSettings(BaseModel, frozen=True, extra="forbid"):
    """Settings of the documents and text fields to read."""

    field: str = Field(
        default="text",
        description="field that holds the text, or an array or object of texts; a.b is a dotted "
        "path through objects, not arrays; title,body are several, compared as one text",
    )
    query: str | None = Field(default=None, description="filter in MongoDB extended JSON")
    against: tuple[str, ...] = Field(
        default=(),
        max_length=100,
        description="other collections, only read: their documents count as kept already",
    )
    full_scan_every: int = Field(
        default=30,
        ge=1,
        description="every Nth run compares all ids, as a proof that nothing was missed; the "
        "others follow the change stream of a replica set. 1: every run",
    )
    max_chars: int = Field(
        default=1_000_000,
        ge=1,
        description="a text that is longer after cleaning, in characters, is quarantined as "
        "too_large; one ten times as long is not even cleaned",
    )

    on_change: OnChange = Field(
        default=OnChange.KEEP,
        description="a document with a text that the source changed since it was decided. keep: "
        "it stays as it was decided, and is counted; update: a kept one is decided anew, with the "
        "copies of its group, where its text still asks the same; refresh: every one is",
    )
    on_delete: OnDelete = Field(
        default=OnDelete.KEEP,
        description="a document that the source deleted since it was decided. keep: it stays, "
        "and is counted; promote: a kept one leaves where the source has copies of it, the best of "
        "which is kept; remove: every one leaves target and ledger",
    )

    @field_validator("against", mode="before")
    @classmethod
    def _split_list(cls, value: Any) -> Any:
        return [name.strip() for name in value.split(",")] if isinstance(value, str) else value

    @field_validator("field")
    @classmethod
    def _are_paths(cls, value: str) -> str:
        fields = TextFields.of(value)
        for names, name in zip(fields.paths, fields.dotted, strict=True):
            if not all(names) or names[0] in ("_id", "dedup") or _NOT_IN_A_NAME.search(name):
                raise ValueError(
                    Message(
                        "{name!r} is not a text field; expected a name or a dotted path, or "
                        "several with commas between them",
                        name=name,
                    )
                )
            if any(part.startswith("$") for part in names):
                raise ValueError(Message("no name in a path may begin with $"))
        for one, later in combinations(sorted(fields.dotted), 2):
            if one == later:
                raise ValueError(Message("the field {one!r} is named twice; name it once", one=one))
            if later.startswith(f"{one}."):
                raise ValueError(
                    Message(
                        "{one!r} holds {other!r}; name only the fields that are texts",
                        one=one,
                        other=later,
                    )
                )
        return value

    @field_validator("query")
    @classmethod
    def _check_query(cls, value: str | None) -> str | None:
        parse_query(value)
        return value


class RuleKind(StrEnum):
    """The kinds of rules for the better of two copies."""

    FIRST = "first"
    NEWEST = "newest"
    HIGHEST = "highest"
    OLDEST = "oldest"
    LONGEST = "longest"
    RICHEST = "richest"
    ORDER = "order"


_OF_A_FIELD = (RuleKind.NEWEST, RuleKind.HIGHEST, RuleKind.OLDEST, RuleKind.ORDER)


class Rule(NamedTuple):
    """A rule as it is written: `newest:updated`, `order:source=official,books`."""

    by: RuleKind
    path: tuple[str, ...] = ()
    values: tuple[str, ...] = ()

    def __str__(self) -> str:
        field = f":{'.'.join(self.path)}" if self.path else ""
        return f"{self.by}{field}" + (f"={','.join(self.values)}" if self.values else "")


def parse_rule(written: str) -> Rule:
    """Parse a rule of `output.keep`; ValueError names the fault."""
    name, colon, rest = written.partition(":")
    field, equals, ordered = rest.partition("=")
    values = {"rule": written, "rules": _EXPECTED}
    if name not in list(RuleKind):
        raise ValueError(Message("{rule!r} is no rule; expected {rules}", **values))
    by = RuleKind(name)
    listed = tuple(value.strip() for value in ordered.split(","))
    fits = bool(field) == (by in _OF_A_FIELD) and bool(equals) == (by is RuleKind.ORDER)
    if not fits or (colon and not field) or (equals and "" in listed):
        raise ValueError(
            Message("{rule!r} is not as that rule is written; expected {rules}", **values)
        )
    return Rule(by, tuple(field.split(".")) if field else (), listed if equals else ())


class DocumentForm(StrEnum):
    """The fields of a document in the target."""

    WHOLE = "whole"
    TEXT = "text"
    CLASSIC = "classic"


class TextForm(StrEnum):
    """The form of the text in the target."""

    CLEANED = "cleaned"
    ORIGINAL = "original"


class OutputSettings(BaseModel, frozen=True, extra="forbid"):
    """Settings of kept documents in the target."""

    document: DocumentForm = Field(
        default=DocumentForm.WHOLE,
        description="whole: all fields of the source document, and dedup; text: _id, the text "
        "field and dedup; classic: _id, ques, old_id, hash_value",
    )
    text: TextForm = Field(
        default=TextForm.ORIGINAL,
        description="original: the text field stays as in the source, byte for byte; cleaned: it "
        "holds the cleaned text, as that is compared",
    )
    keep: tuple[str, ...] = Field(
        default=(),
        description="which of several copies stays, the first rule that differs decides: "
        "first (what was decided first stays), richest (images, choices, answer, "
        "explanation), longest, newest:FIELD, oldest:FIELD, highest:FIELD, order:FIELD=A,B,...; a "
        "missing value is last, ties go to the lower _id",
    )

    @field_validator("keep")
    @classmethod
    def _known_rules(cls, keep: tuple[str, ...]) -> tuple[str, ...]:
        rules = [str(parse_rule(rule)) for rule in keep]
        return tuple(takewhile(str(RuleKind.FIRST).__ne__, rules))

    @property
    def rules(self) -> list[Rule]:
        """The rules by which a better copy replaces a kept one; empty: the first copy stays."""
        return [*map(parse_rule, self.keep)]

    @model_validator(mode="after")
    def _has_what_rules_need(self) -> Self:
        if self.keep and self.document is DocumentForm.CLASSIC:
            raise ValueError(
                Message("output.keep needs another form than `classic`, which tells no groups")
            )
        fields = [str(rule) for rule in self.rules if rule.path]
        if fields and self.document is DocumentForm.TEXT:
            raise ValueError(
                Message(
                    "output.keep = {rule} looks at a field, which output.document = text leaves "
                    "out of the target; output.document = whole has it",
                    rule=fields[0],
                )
            )
        return self


class Storing(StrEnum):
    """Whether the ledger stores documents that are not kept."""

    NONE = "none"
    WHOLE = "whole"


class LedgerSettings(BaseModel, frozen=True, extra="forbid"):
    """Settings of documents in the ledger."""

    document: Storing = Field(
        default=Storing.NONE,
        description="what the ledger stores of a document that is not kept. none: only the "
        "decision; whole: the source document, so that dedup restore works without the source",
    )


def parse_query(text: str | None) -> dict[str, Any]:
    """Return a filter in MongoDB extended JSON as a dict; ValueError for invalid JSON or BSON."""
    if text is None:
        return {}
    query = parsed(text)
    if not isinstance(query, dict):  # pydantic reports ValueErrors
        raise ValueError(Message('must be an object, e.g. {"lang": "zh"}'))  # noqa: TRY004
    try:
        bson.encode(query)  # a half of a character, a number of more than 64 bits
    except (ValueError, OverflowError, RecursionError, BSONError) as e:
        raise ValueError(Message("not valid extended JSON: {why}", why=str(e))) from e
    return query


def moving_operator(query: Any) -> str:
    """Return an operator that lets a query's result change without a write, "" if it has none."""
    found = _MOVING.search(json_util.dumps(query))
    return found[1] if found else ""


_MISSING, _NUMBER, _TEXT, _OBJECT_ID, _BOOL, _DATE, _TIMESTAMP = (bytes((k,)) for k in range(7))
_PRESENT = _NUMBER  # before a reversed value of any type, above _MISSING
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
Richness = Callable[[TextColumn], NDArray[np.uint32]]
"""Measures the richness of n texts, uint32 (n, k): the first column that differs decides."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Computes ranks by rules, the most important first; richness: measure of `richest`."""

    rules: Sequence[Rule]
    richness: Richness

    def ranks(self, documents: Documents) -> list[bytes]:
        """Return the ranks of the documents that have a cleaned text, in their order."""
        return [b"".join(parts) for parts in self._parts(documents, slice(None))]

    def rule(self, better: Documents, row: int, worse: Documents, worse_row: int) -> str:
        """Return the first rule by which two texts, given by row, differ; `first` if none does."""
        (one,) = self._parts(better, slice(row, row + 1))
        (two,) = self._parts(worse, slice(worse_row, worse_row + 1))
        differ = (str(rule) for rule, a, b in zip(self.rules, one, two, strict=False) if a != b)
        return next(differ, str(RuleKind.FIRST))

    def _parts(self, documents: Documents, some: slice) -> list[tuple[bytes, ...]]:
        raws, texts = documents.raw.take(documents.rows[some]).list(), documents.texts.take(some)
        columns = [self._column(rule, raws, texts) for rule in self.rules]
        ids = [_value(_found(raw, ("_id",))).translate(_REVERSED) for raw in raws]
        return [*zip(*columns, ids, strict=True)]

    def _column(self, rule: Rule, raws: Sequence[bytes], texts: TextColumn) -> list[bytes]:
        if rule.by is RuleKind.RICHEST:
            rich = self.richness(texts).astype(">u4")
            return [row.tobytes() for row in rich]
        if rule.by is RuleKind.LONGEST:
            return [*map(_LENGTH.pack, texts.lengths.tolist())]
        return [_of_field(rule, _found(raw, rule.path)) for raw in raws]


def _found(raw: bytes, path: Sequence[str]) -> Any:
    value: Any = RawBSONDocument(raw, _VALUES)
    for name in path:
        value = value.get(name) if isinstance(value, RawBSONDocument) else None
    return value


def _of_field(rule: Rule, found: Any) -> bytes:
    if rule.by is RuleKind.ORDER:
        better = [*rule.values, found].index(found)
        return _LENGTH.pack(1 + len(rule.values) - better if isinstance(found, str) else 0)
    value = _value(found)
    if rule.by is RuleKind.HIGHEST and not value.startswith(_NUMBER):
        return _MISSING  # a note such as "n/a" is no score
    if rule.by is RuleKind.OLDEST and value != _MISSING:
        return _PRESENT + value.translate(_REVERSED)
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
    # sign, exponent and digits; each digit is above the end of a shorter number
    if number.is_nan() or not number:
        return _NAN if number.is_nan() else _ZERO
    exponent = _BIAS - 1 if number.is_infinite() else number.adjusted()
    digits = bytes(digit + 1 for digit in number.as_tuple().digits).rstrip(b"\1")
    value = _ABOVE_ZERO + _EXPONENT.pack(_BIAS + exponent) + digits + _END
    return value if number > 0 else _BELOW_ZERO + value[1:].translate(_REVERSED)
