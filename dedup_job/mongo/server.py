"""What kind of server answers, by its `hello`: refused where a run could not keep its promises."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dedup_job.errors import DatabaseUnreachable, UsageError

_LEAST_WIRE_VERSION = 13  # of MongoDB 5.0
_OLD_VERSIONS = {9: "4.4", 8: "4.2", 7: "4.0", 6: "3.6"}


def check_version(hello: Mapping[str, Any]) -> None:
    """Raise UsageError for a server that is too old."""
    wire: int = hello.get("maxWireVersion", 0)
    if wire < _LEAST_WIRE_VERSION:
        version = _OLD_VERSIONS.get(wire, "older than 5.0")
        raise UsageError(
            f"the server is MongoDB {version}; dedup needs 5.0 or later. Nothing was written."
        )


def check_takes_writes(hello: Mapping[str, Any]) -> None:
    """Raise where nothing can be written: UsageError if it stays so, else DatabaseUnreachable."""
    if hello.get("readOnly"):
        raise UsageError(
            "the server is read-only. Name one that takes writes; --dry-run decides and reports "
            "without any."
        )
    if not hello.get("isWritablePrimary"):
        known = f"; the primary is {hello['primary']}" if hello.get("primary") else ""
        raise DatabaseUnreachable(
            f"the server {hello.get('me', 'named')} is not the primary of its replica set, so it "
            f"takes no writes{known}. Name all members and replicaSet={hello.get('setName')} in "
            "the connection string, and leave directConnection out. --dry-run needs no primary."
        )
