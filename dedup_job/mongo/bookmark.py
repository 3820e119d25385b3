"""From where the next run reads what changed, as the state document keeps it.

It lies where others can write. A bookmark that is later than what the last run read would pass over
documents without a word, so one that dedup did not write is refused, not followed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from bson import Timestamp
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dedup_job.errors import StateMismatch
from dedup_job.messages import Message, joined

Token = Mapping[str, Any]
_TIME_ENDS = 18  # characters of a token
_NAMED, _SHOWN = 5, 60  # what is wrong at most, and characters of a value
MOMENT = r"^82([0-9A-F]{8})([0-9A-F]{8})2B[0-9A-F]{2}29296E(?:14)?04$"
"""A token of a moment without an event, as the server writes it: time, version, no document."""
_Count = Annotated[int, Field(ge=0, lt=2**53)]


class _Strict(BaseModel):
    model_config = ConfigDict(
        strict=True, extra="forbid", arbitrary_types_allowed=True, frozen=True
    )


class _Token(_Strict):
    data: Annotated[str, Field(alias="_data", pattern=MOMENT)]


class Bookmark(_Strict):
    """From where the next run reads what changed: a token, and the query of the runs up to it.

    followed: runs since the last one that compared the ids of all documents; time: the last run saw
    all that happened up to it, so a token up to there passes over nothing.
    """

    token: _Token
    uuid: Annotated[bytes, Field(min_length=16, max_length=16)]
    query: str | None
    followed: _Count
    time: Timestamp


class SavedBookmark(Bookmark):
    """As the state has it, with the run that left it and the documents decided by then."""

    run: _Count
    decided: _Count


def time_of(token: Token) -> Timestamp | None:
    """Return the moment that a token stands for; None for one of another form."""
    data = token.get("_data")
    found = re.fullmatch(MOMENT, data) if isinstance(data, str) else None
    return found and Timestamp(*(int(part, 16) for part in found.groups()))


def moment_of(token: Token, like: Token) -> Token:
    """Return the token of the moment of an event, in the form of another one of a moment.

    The event itself comes after it.
    """
    return {"_data": token["_data"][:_TIME_ENDS] + like["_data"][_TIME_ENDS:]}


def read_bookmark(saved: Any, name: str, now: Timestamp | None) -> SavedBookmark:
    """Return a bookmark as the state has it.

    name: the collection of the state; now: the server's time, None where it tells none. Raises
    StateMismatch for a bookmark that no run can have written.
    """
    try:
        found = SavedBookmark.model_validate(saved)
    except ValidationError as e:
        wrong = map(_wrong, e.errors(include_url=False)[:_NAMED])
        raise refused(name, joined(wrong, "; ")) from None
    token, time = time_of(found.token.model_dump(by_alias=True)), found.time
    assert token is not None  # it has the form
    if (token.time, token.inc) > (time.time, time.inc + 1):  # what a token names is still to come
        raise refused(
            name,
            Message(
                "its token is of a time after {time}, the time beside it", time=shortened(time)
            ),
        )
    if now is not None and time > now:
        raise refused(name, Message("its time {time} is in the future", time=shortened(time)))
    return found


def refused(name: str, wrong: str) -> StateMismatch:
    """Return the error for a bookmark that is not followed, with the way out."""
    return StateMismatch(
        Message(
            "the bookmark in {name}, _id 'state', was changed by something other "
            "than dedup: {wrong}. A run that follows it may miss documents. Run once with "
            "DEDUP_SOURCE__FULL_SCAN_EVERY=1: it compares all ids and discards this bookmark. "
            "Nothing was written.",
            name=name,
            wrong=wrong,
        )
    )


def _wrong(error: Mapping[str, Any]) -> Message:
    name = ".".join(map(str, error["loc"])) or Message("it")
    if error["type"] == "missing":
        return Message("{name} is missing", name=name)
    if error["type"] == "extra_forbidden":
        return Message("{name} is not known", name=name)
    return Message("{name} is {value}", name=name, value=shortened(error["input"]))


def shortened(value: Any) -> str:
    """Return a value that may be huge as a message has it."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
