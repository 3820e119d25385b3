"""The rights that a run needs: asked for before any work, and told in words if one is missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dedup_job.errors import UsageError
from dedup_job.mongo.connection import Client, Namespace
from dedup_job.mongo.errors import HOW_TO_GRANT

_NEEDED = {  # by what is added to the target's name
    "": ("find", "insert", "remove", "createCollection"),
    ".ledger": ("find", "insert", "remove", "createCollection"),
    ".runs": ("find", "insert", "update", "createCollection"),
    ".state": ("find", "insert", "update"),
}


def check_rights(client: Client, target: Namespace) -> None:
    """Raise UsageError where the user may not do all that a run does to its target.

    All that is missing is named at once. A server without users allows everything.
    """
    reply = client.admin.command("connectionStatus", showPrivileges=True)["authInfo"]
    if not reply["authenticatedUsers"]:
        return  # a server that wants a user refuses the next command
    missing = [
        f"  {', '.join(actions)} on {target}{suffix}"
        for suffix, needed in _NEEDED.items()
        if (actions := list(_missing(reply["authenticatedUserPrivileges"], target, suffix, needed)))
    ]
    if missing:
        raise UsageError("\n".join(["the database user lacks rights:", *missing, HOW_TO_GRANT]))


def _missing(
    privileges: list[Mapping[str, Any]], target: Namespace, suffix: str, needed: tuple[str, ...]
) -> Iterator[str]:
    held: set[str] = set()
    for privilege in privileges:
        resource = privilege["resource"]
        if resource.get("anyResource") or (
            resource.get("db") in ("", target.database)
            and resource.get("collection") in ("", f"{target.collection}{suffix}")
        ):
            held.update(privilege["actions"])
    yield from (action for action in needed if action not in held)
