"""Settings of source, target and ledger: what is read, what is written."""

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from itertools import combinations, takewhile
from typing import Any, Self

import bson
from bson import json_util
from bson.errors import BSONError
from pydantic import BaseModel, Field, field_validator, model_validator

from dedup_job.messages import Message
from dedup_job.mongo.id_keys import parsed
from dedup_job.mongo.ranking import By, Rule
from dedup_job.mongo.ranking import parsed as parsed_rule
from dedup_job.text_fields import TextFields, values_in

_MOVING = re.compile(r'"(\$expr|\$where|\$sampleRate)":')
"""Operators by which a query may match a document later that nobody wrote: they can ask for the
time or for chance. The server takes `$$NOW`, `$$CLUSTER_TIME`, `$rand` and `$function` in `$expr`
alone. An `$expr` without them is not told apart: the server may gain others."""
_NOT_IN_A_NAME = re.compile(r"[\0\ud800-\udfff]")  # no server takes halves of characters


class OnChange(StrEnum):
    """What a run does with a decided document after the source changed its text."""

    KEEP = "keep"
    UPDATE = "update"
    REFRESH = "refresh"


class OnDelete(StrEnum):
    """What a run does with a decided document after the source deleted it."""

    KEEP = "keep"
    PROMOTE = "promote"
    REMOVE = "remove"


class SourceSettings(BaseModel, frozen=True, extra="forbid"):
    """Which documents are read, and which field of them."""

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
    def _is_a_list(cls, value: Any) -> Any:
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
        for one, other in combinations(sorted(fields.dotted), 2):
            if one == other:
                raise ValueError(Message("the field {one!r} is named twice; name it once", one=one))
            if other.startswith(f"{one}."):
                raise ValueError(
                    Message(
                        "{one!r} holds {other!r}; name only the fields that are texts",
                        one=one,
                        other=other,
                    )
                )
        return value

    @field_validator("query")
    @classmethod
    def _is_a_filter(cls, value: str | None) -> str | None:
        parse_query(value)
        return value


class Form(StrEnum):
    """What of a document the target holds."""

    WHOLE = "whole"
    TEXT = "text"
    CLASSIC = "classic"


class StoredText(StrEnum):
    """Which text the target holds."""

    CLEANED = "cleaned"
    ORIGINAL = "original"


class OutputSettings(BaseModel, frozen=True, extra="forbid"):
    """What of a document goes to the target."""

    document: Form = Field(
        default=Form.WHOLE,
        description="whole: all fields of the source document, and dedup; text: _id, the text "
        "field and dedup; classic: _id, ques, old_id, hash_value",
    )
    text: StoredText = Field(
        default=StoredText.ORIGINAL,
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
        rules = [str(parsed_rule(rule)) for rule in keep]
        return tuple(takewhile(str(By.FIRST).__ne__, rules))

    @property
    def rules(self) -> list[Rule]:
        """The rules by which a better copy takes the place of a kept one; none: the first stays."""
        return [*map(parsed_rule, self.keep)]

    @model_validator(mode="after")
    def _has_what_rules_need(self) -> Self:
        if self.keep and self.document is Form.CLASSIC:
            raise ValueError(
                Message("output.keep needs another form than `classic`, which tells no groups")
            )
        fields = [str(rule) for rule in self.rules if rule.path]
        if fields and self.document is Form.TEXT:
            raise ValueError(
                Message(
                    "output.keep = {rule} looks at a field, which output.document = text leaves "
                    "out of the target; output.document = whole has it",
                    rule=fields[0],
                )
            )
        return self


class Storing(StrEnum):
    """What the ledger holds of a document that is not kept."""

    NONE = "none"
    WHOLE = "whole"


class LedgerSettings(BaseModel, frozen=True, extra="forbid"):
    """What the ledger holds of a document that is not kept."""

    document: Storing = Field(
        default=Storing.NONE,
        description="what the ledger stores of a document that is not kept. none: only the "
        "decision; whole: the source document, so that dedup restore works without the source",
    )


def parse_query(text: str | None) -> dict[str, Any]:
    """Read a filter in MongoDB extended JSON; ValueError says where it is wrong."""
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
    """Return an operator by which a query's answer moves by itself, "" where none does."""
    found = _MOVING.search(json_util.dumps(query))
    return found[1] if found else ""


def names_in(decoded: Mapping[str, Any]) -> Iterator[str]:
    """Yield the dotted name of each field, through objects."""
    return (name for name, _ in values_in(decoded))
