"""Values as they are given, looked at before they become settings."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dedup_job.errors import ConfigurationError
from dedup_job.messages import Message, said_by
from dedup_job.mongo.uri import has_password, names_server

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_OUR_WORDS = {  # where those of pydantic name a class of Python
    "path_type": Message("expected a path"),
    "too_long": Message("expected at most {max_length} values, not {actual_length}"),
}


def check_passwords(values: Mapping[str, Any], where: str) -> None:
    """Refuse a connection string with a password in the place of any other value, or of a key."""
    problems = [
        placed(
            where,
            Message(
                "{name} holds a password, or what may be one: a connection string belongs in "
                "DEDUP_URI or in a file (--uri-file)",
                name=name,
            ),
        )
        for name, text in _texts(values)
        if name != "connection.uri" and has_password(text)
        if names_server(text) or name.startswith("connection.")
    ]
    if problems:
        raise ConfigurationError(problems)


def placed(where: str, problem: str) -> Message:
    """Return a problem behind the place where it is."""
    return Message("{where}: {problem}", where=where, problem=problem)


def what_is_wrong(error: ErrorDetails) -> str:
    """Return what pydantic finds wrong with a value; what a validator of ours says is said so."""
    values = {name: _figure(value) for name, value in error.get("ctx", {}).items()}
    if isinstance(own := values.get("error"), ValueError):
        return said_by(own)
    if one_of := values.get("expected"):
        former, or_, last = one_of.rpartition(" or ")
        said = Message("{names} or {last}", names=former, last=last)
        values["expected"] = said if or_ else one_of
    return Message(template_of(error["type"], values), **values)


def template_of(kind: str, values: Mapping[str, Any]) -> str:
    """Return the sentence for a kind of error, its values in braces."""
    from pydantic_core import PydanticKnownError  # here: --help should not wait for it

    if kind in _OUR_WORDS:
        return _OUR_WORDS[kind].template
    said = PydanticKnownError(kind, {**values} or None).message_template  # type: ignore[arg-type]
    return f"{said[:1].lower()}{said[1:]}"


def _figure(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _texts(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield "a key", key
            shown = "***" if has_password(key) else key
            yield from _texts(part, f"{name}.{shown}".removeprefix("."))
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part, name)
    elif isinstance(value, str | Path):
        yield name, str(value)


def short(value: Any) -> str:
    """Return a value as a message repeats it, however long or deep it is."""
    found = reprlib.Repr()
    found.maxstring = found.maxother = 80
    return found.repr(value)
