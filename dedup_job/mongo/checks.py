"""Checks of server and names before a run: refused before any work, in words."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from pymongo.errors import OperationFailure, PyMongoError

from dedup_job.errors import DatabaseUnreachable, StateMismatch, UsageError
from dedup_job.messages import Message, joined
from dedup_job.mongo.connection import SUFFIXES, AnyCollection, Client, Namespace
from dedup_job.mongo.errors import UNAUTHORIZED

OF_THE_SERVER = ("admin", "config", "local")  # databases
_EXPIRES = "expireAfterSeconds"
_SOURCE = Message("source")


def check_takes_writes(hello: Mapping[str, Any]) -> None:
    """Raise where nothing can be written: UsageError if it stays so, else DatabaseUnreachable."""
    if hello.get("readOnly"):
        raise UsageError(
            Message(
                "the server is read-only. Name one that takes writes; --dry-run decides and "
                "reports without any."
            )
        )
    if not hello.get("isWritablePrimary"):
        raise DatabaseUnreachable(
            Message(
                "the server {me} is not the primary of its replica set, so it takes no writes; the "
                "primary is {primary}. Name all members and replicaSet={name} in the connection "
                "string, and leave directConnection out. --dry-run needs no primary.",
                me=hello.get("me", Message("named")),
                primary=hello.get("primary", "-"),
                name=hello.get("setName"),
            )
        )


def check_source_collection(client: Client, source: Namespace, what: str = _SOURCE) -> None:
    """Refuse a source that does not exist, or that cannot be read in `_id` order.

    what: what it is called, where it is another collection.
    """
    listed = _collections(client, source.database)
    kind = listed.get(source.collection)
    if kind is None:
        names = [name for name in sorted(listed) if not name.endswith(SUFFIXES)]
        raise UsageError(_unknown_source(client, source, names, what))
    if kind != "collection":
        raise UsageError(
            Message(
                "the {what} {source} is a {kind}, which has no _id index to be read in order. Name "
                "the collection behind it.",
                what=what,
                source=source,
                kind=kind,
            )
        )


def check_not_cleaned(client: Client, names: Sequence[Namespace]) -> None:
    """Refuse a former target that holds clean text, which is not to be cleaned again."""
    for name in names:
        state = client[name.database][f"{name.collection}.state"]
        try:
            is_cleaned = state.find_one({"settings.output.text": "cleaned"}) is not None
        except OperationFailure as e:
            if e.code != UNAUTHORIZED:
                raise
            continue  # who may not look has not written this target
        if is_cleaned:
            raise UsageError(
                Message(
                    "{name} is a target that holds cleaned text. Cleaned again, text such as <b> "
                    "would be taken for markup: set DEDUP_CLEANING__HTML=never, or html = "
                    '"never" in section [cleaning] of a --config file.',
                    name=name,
                )
            )


def check_others(
    client: Client, others: Sequence[Namespace], source: Namespace, target: Namespace
) -> None:
    """Refuse a collection of `--against` that is source or target, or that cannot be read."""
    counted = {str(source), *(f"{target}{suffix}" for suffix in ("", *SUFFIXES))}
    for other in others:
        if str(other) in counted:
            raise UsageError(
                Message(
                    "--against names {other}, which is the source or belongs to the target: what "
                    "is there counts in any case. Leave it out.",
                    other=other,
                )
            )
        check_source_collection(client, other, Message("collection of --against"))


def check_target_collections(client: Client, source: Namespace, target: Namespace) -> None:
    """Refuse a target that is the source, belongs to another target, or is no collection."""
    own = [target.collection + suffix for suffix in ("", *SUFFIXES)]
    if source.database == target.database and source.collection in own:
        raise UsageError(
            Message(
                "source and target are the same: {source}. Name another --target.", source=source
            )
        )
    if target.database in OF_THE_SERVER:
        raise UsageError(
            Message(
                "the target {target} lies in {database}, where the server keeps its own records. "
                "Name a --target in another database.",
                target=target,
                database=target.database,
            )
        )
    if suffix := next(filter(target.collection.endswith, SUFFIXES), None):
        raise UsageError(
            Message(
                "the target {target} ends in {suffix}, which is where another target keeps its "
                "records. Name another --target.",
                target=target,
                suffix=suffix,
            )
        )
    kinds = _collections(client, target.database)
    for name in own:
        if (kind := kinds.get(name, "collection")) != "collection":
            raise UsageError(
                Message(
                    "{part} is a {kind}. Name another --target: it and its parts must be "
                    "collections.",
                    part=Namespace(target.database, name),
                    kind=kind,
                )
            )


def check_target_lasts(target: AnyCollection) -> None:
    """Refuse a target that does not keep its documents, or compares ids by rules of its own."""
    database = target.database
    own = {"name": {"$in": [target.name + suffix for suffix in ("", *SUFFIXES)]}}
    try:
        rows = [*database.list_collections(filter={**own, "type": "collection"})]
        whys = {row["name"]: _why_lost(row["options"], database[row["name"]]) for row in rows}
    except OperationFailure as e:
        if e.code != UNAUTHORIZED:
            raise
        return  # the end of a run finds what is lost by then
    for name, why in whys.items():
        if why is not None:
            raise StateMismatch(
                Message(
                    "the collection {name} {why}. Name another --target.",
                    name=Namespace(database.name, name),
                    why=why,
                )
            )


def _why_lost(options: Mapping[str, Any], collection: AnyCollection) -> Message | None:
    if options.get("capped"):
        return Message("is capped: it removes its oldest documents when it is full")
    expires = [index["name"] for index in collection.list_indexes() if _EXPIRES in index]
    if expires or _EXPIRES in options:
        return Message("removes documents after a time ({name})", name=[*expires, _EXPIRES][0])
    if "collation" in options:
        return Message("has a collation, which compares ids by rules of its own")
    return None


def _collections(client: Client, database: str) -> dict[str, str]:
    reply = client[database].command(
        "listCollections", nameOnly=True, authorizedCollections=True, cursor={"batchSize": 100_000}
    )
    return {row["name"]: row["type"] for row in reply["cursor"]["firstBatch"]}


def _unknown_source(
    client: Client, source: Namespace, collections: list[str], what: str
) -> Message:
    message = Message("the {what} {source} does not exist.", what=what, source=source)
    if collections:
        near = nearest(source.collection, collections)
        told = Message("Nearest in {database}: {near}.", database=source.database, near=near)
        return joined([message, told])
    databases: list[str] = []
    with suppress(PyMongoError):  # the list is a kindness; the right to see it may be missing
        databases = [d for d in client.list_database_names() if d not in OF_THE_SERVER]
    others = Message(
        "The database {database} has no collections; databases here: {near}. In a name with dots, "
        "the part before the first dot is the database, even with --db.",
        database=source.database,
        near=nearest(source.database, databases) or Message("none"),
    )
    return joined([message, others])


def nearest(name: str, names: Iterable[str]) -> str:
    """Return at most five names, the most similar ones first."""
    given = sorted(names)
    return ", ".join(difflib.get_close_matches(name, given, n=5, cutoff=0.4) or given[:5])
