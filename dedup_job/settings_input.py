"""Values as they are given, looked at before they become settings."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dedup_job.errors import ConfigurationError
from dedup_job.mongo.uri import has_password, names_server

TOO_DEEP = "a value is nested too deep; no setting is more than a list of texts"


def check_passwords(values: Mapping[str, Any], where: str) -> None:
    """Refuse a connection string with a password in the place of any other value, or of a key."""
    try:
        texts = [*_texts(values)]
    except RecursionError:
        raise ConfigurationError([f"{where}: {TOO_DEEP}"]) from None
    problems = [
        f"{where}: {name} holds a password, or what may be one: a connection string belongs in "
        "DEDUP_URI or in a file (--uri-file)"
        for name, text in texts
        if name != "connection.uri" and has_password(text)
        if names_server(text) or name.startswith("connection.")
    ]
    if problems:
        raise ConfigurationError(problems)


def _texts(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield each text within a value under its dotted name, and each key."""
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
