"""What is checked of server, names and rights before a run: refused before any work, in words."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from pymongo.errors import PyMongoError

from dedup_job.errors import DatabaseUnreachable, UsageError
from dedup_job.mongo.connection import LABELS, SUFFIXES, Client, Namespace
from dedup_job.mongo.errors import HOW_TO_GRANT

_OF_THE_SERVER = ("admin", "config", "local")  # databases
_TO_RUN = {  # by what is added to the target's name
    "": ("find", "insert", "remove", "createCollection"),
    ".ledger": ("find", "insert", "remove", "createCollection"),
    ".runs": ("find", "insert", "update", "createCollection"),
    ".state": ("find", "insert", "update"),
}
RIGHTS_TO_REPLACE = {".runs": ("remove",), ".changed": ("find", "insert", "remove")}
"""What a run needs besides where kept documents give way, or are decided anew."""
RIGHTS_TO_LABEL = {LABELS: ("find", "insert", "update")}


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


def check_source_collection(client: Client, source: Namespace, what: str = "source") -> None:
    """Refuse a source that does not exist, or that cannot be read in `_id` order.

    what: what it is called, where it is another collection.
    """
    listed = _collections(client, source.database)
    kind = listed.get(source.collection)
    if kind is None:
        names = [name for name in sorted(listed) if not name.endswith(SUFFIXES)]
        raise UsageError(_unknown_source(client, source, names, what))
    if kind != "collection":
        part = ", with --query for the part that you want" if what == "source" else ""
        raise UsageError(
            f"the {what} {source} is a {kind}, which has no _id index to be read in order. Name "
            f"the collection behind it{part}."
        )


def check_others(
    client: Client, others: Sequence[Namespace], source: Namespace, target: Namespace
) -> None:
    """Refuse a collection of `--against` that is source or target, or that cannot be read."""
    parts = {f"{target}{suffix}" for suffix in SUFFIXES}
    for other in others:
        if other == source:
            raise UsageError(
                f"--against names {other}, which is the source: its documents are compared with "
                "each other in any case. Leave it out."
            )
        if other == target or str(other) in parts:
            which = "is" if other == target else "belongs to"
            raise UsageError(
                f"--against names {other}, which {which} the target {target}: what is kept there "
                "counts in any case. Leave it out."
            )
        if other.database in _OF_THE_SERVER:
            raise UsageError(f"--against names {other}, a record of the server's. Leave it out.")
        check_source_collection(client, other, "collection of --against")


def check_target_collections(client: Client, source: Namespace, target: Namespace) -> None:
    """Refuse a target that is the source, belongs to another target, or is no collection.

    Also a new one whose name nobody would see to be another.
    """
    own = [target.collection + suffix for suffix in ("", *SUFFIXES)]
    if source.database == target.database and source.collection in own:
        raise UsageError(f"source and target are the same: {source}. Name another --target.")
    if target.database in _OF_THE_SERVER:
        raise UsageError(
            f"the target {target} lies in {target.database}, where the server keeps its own "
            "records. Name a --target in another database."
        )
    if suffix := next(filter(target.collection.endswith, SUFFIXES), None):
        raise UsageError(
            f"the target {target} ends in {suffix}, which is where another target keeps its "
            "records. Name another --target."
        )
    kinds = _collections(client, target.database)
    if target.collection not in kinds and target.collection != target.collection.strip():
        raise UsageError(
            f"the new target {str(target)!r} begins or ends with a blank, which is probably wrong. "
            "Name another --target."
        )
    for name in own:
        if (kind := kinds.get(name, "collection")) != "collection":
            what = f"the target {target}"
            if name != target.collection:
                what = f"{target.database}.{name}, which belongs to the target {target},"
            raise UsageError(f"{what} is a {kind}. Name a --target whose parts are collections.")


def _collections(client: Client, database: str) -> dict[str, str]:
    reply = client[database].command(
        "listCollections", nameOnly=True, authorizedCollections=True, cursor={"batchSize": 100_000}
    )
    return {row["name"]: row["type"] for row in reply["cursor"]["firstBatch"]}


def _unknown_source(client: Client, source: Namespace, collections: list[str], what: str) -> str:
    message = f"the {what} {source} does not exist."
    if collections:
        return f"{message} Nearest in {source.database}: {_near(source.collection, collections)}."
    databases: list[str] = []
    with suppress(PyMongoError):  # the list is a kindness; the right to see it may be missing
        databases = [d for d in client.list_database_names() if d not in _OF_THE_SERVER]
    return (
        f"{message} The database {source.database} has no collections; databases here: "
        f"{_near(source.database, databases) or 'none'}. "
        "In a name with dots, the part before the first dot is the database, even with --db."
    )


def _near(name: str, names: list[str]) -> str:
    return ", ".join(difflib.get_close_matches(name, names, n=5, cutoff=0.4) or names[:5])


def check_rights(
    client: Client, target: Namespace, rights: Mapping[str, Sequence[str]] = _TO_RUN
) -> None:
    """Raise UsageError where the user may not do all that a run, or another, does to a target.

    All that is missing is named at once. A server without users allows everything.
    """
    reply = client.admin.command("connectionStatus", showPrivileges=True)["authInfo"]
    if not reply["authenticatedUsers"]:
        return  # a server that wants a user refuses the next command
    privileges, missing = reply["authenticatedUserPrivileges"], list[str]()
    for suffix, needed in rights.items():
        held = _held(privileges, target.database, f"{target.collection}{suffix}")
        if actions := [action for action in needed if action not in held]:
            missing.append(f"  {', '.join(actions)} on {target}{suffix}")
    if missing:
        raise UsageError("\n".join(["the database user lacks rights:", *missing, HOW_TO_GRANT]))


def _held(privileges: list[Mapping[str, Any]], database: str, collection: str) -> set[str]:
    held: set[str] = set()
    for privilege in privileges:
        resource = privilege["resource"]
        if resource.get("anyResource") or (
            resource.get("db") in ("", database) and resource.get("collection") in ("", collection)
        ):
            held.update(privilege["actions"])
    return held
