"""Before a run: the collections of a server, and checks of server, names and settings, in words."""

import difflib
import json
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from bson.errors import BSONError
from pymongo.errors import OperationFailure, PyMongoError

from dedup_job.messages import DatabaseUnreachable, Message, StateMismatch, UsageError, joined
from dedup_job.mongo.connection import SUFFIXES, AnyCollection, Client, Namespace
from dedup_job.mongo.errors import UNAUTHORIZED, lacking
from dedup_job.text_fields import texts_in, values_in

OF_THE_SERVER = ("admin", "config", "local")  # databases
_EXPIRES = "expireAfterSeconds"
_SOURCE = Message("source")
CONTENT = "content "  # before the digest of a file, where a setting names one
_ABSENT = Message("not set")
_SECONDS = 5.0  # for counting collections; a server may hold ten thousand
_SAMPLE = 100  # documents of a collection
_SAMPLE_MILLISECONDS = 2000
_SHOWN = 12  # collections with their fields
_MOST = 0.5  # the share of documents above which a field comes before one that fewer have
_RARE = 0.05  # the share of documents under which a field is not offered


def check_takes_writes(hello: Mapping[str, Any]) -> None:
    """Raise where nothing can be written: UsageError if it stays so, else DatabaseUnreachable."""
    if hello.get("readOnly"):
        raise UsageError(
            "the server is read-only. Name one that takes writes; --dry-run decides and "
            "reports without any."
        )
    if not hello.get("isWritablePrimary"):
        raise DatabaseUnreachable(
            "the server {me} is not the primary of its replica set, so it takes no writes; the "
            "primary is {primary}. Name all members and replicaSet={name} in the connection "
            "string, and leave directConnection out. --dry-run needs no primary.",
            me=hello.get("me", Message("named")),
            primary=hello.get("primary", "-"),
            name=hello.get("setName"),
        )


def check_source_collection(client: Client, source: Namespace, what: str = _SOURCE) -> None:
    """Refuse a source, called `what`, that does not exist or has no `_id` order."""
    listed = _collections(client, source.database)
    kind = listed.get(source.collection)
    if kind is None:
        message = Message("the {what} {source} does not exist.", what=what, source=source)
        raise UsageError(joined([message, _nearest_names(client, source, listed)]))
    if kind != "collection":
        raise UsageError(
            "the {what} {source} is a {kind}, which has no _id index to be read in order. Name "
            "the collection behind it.",
            what=what,
            source=source,
            kind=kind,
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
                "{name} is a target that holds cleaned text. Cleaned again, text such as <b> "
                "would be taken for markup: set DEDUP_CLEANING__HTML=never, or html = "
                '"never" in section [cleaning] of a --config file.',
                name=name,
            )


def check_others(
    client: Client, others: Sequence[Namespace], source: Namespace, target: Namespace
) -> None:
    """Refuse a collection of `--against` that is source or target, or that cannot be read."""
    counted = {str(source), *(f"{target}{suffix}" for suffix in ("", *SUFFIXES))}
    for other in others:
        if str(other) in counted:
            raise UsageError(
                "--against names {other}, which is the source or belongs to the target: what "
                "is there counts in any case. Leave it out.",
                other=other,
            )
        check_source_collection(client, other, Message("collection of --against"))


def check_target_collections(client: Client, source: Namespace, target: Namespace) -> None:
    """Refuse a target that is the source, belongs to another target, or is no collection."""
    own = [target.collection + suffix for suffix in ("", *SUFFIXES)]
    if source.database == target.database and source.collection in own:
        raise UsageError(
            "source and target are the same: {source}. Name another --target.", source=source
        )
    if target.database in OF_THE_SERVER:
        raise UsageError(
            "the target {target} lies in {database}, where the server keeps its own records. "
            "Name a --target in another database.",
            target=target,
            database=target.database,
        )
    if suffix := next(filter(target.collection.endswith, SUFFIXES), None):
        raise UsageError(
            "the target {target} ends in {suffix}, which is where another target keeps its "
            "records. Name another --target.",
            target=target,
            suffix=suffix,
        )
    kinds = _collections(client, target.database)
    for name in own:
        if (kind := kinds.get(name, "collection")) != "collection":
            raise UsageError(
                "{part} is a {kind}. Name another --target: it and its parts must be collections.",
                part=Namespace(target.database, name),
                kind=kind,
            )


def check_rights(client: Client, needed: Sequence[tuple[AnyCollection, Sequence[str]]]) -> None:
    """Raise UsageError that names a right to a collection which the user lacks."""
    user = client.admin.command("connectionStatus", showPrivileges=True)["authInfo"]
    if not user["authenticatedUsers"]:  # a server without users
        return
    for collection, actions in needed:
        granted = set[str]()
        for one in user["authenticatedUserPrivileges"]:
            of = one["resource"]
            database, name = of.get("db"), of.get("collection")
            is_here = database in ("", collection.database.name) and name in ("", collection.name)
            granted |= {*one["actions"]} if is_here or of.get("anyResource") else set()
        if missing := [action for action in actions if action not in granted]:
            said = Message("{actions} on {name}", actions=missing[0], name=collection.full_name)
            raise lacking(said)


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
                "the collection {name} {why}. Name another --target.",
                name=Namespace(database.name, name),
                why=why,
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
    listed = client[database].list_collections(nameOnly=True, authorizedCollections=True)
    return {row["name"]: row["type"] for row in listed}


def _nearest_names(client: Client, source: Namespace, listed: Iterable[str]) -> Message:
    if names := [name for name in listed if not name.endswith(SUFFIXES)]:
        near = nearest(source.collection, names)
        return Message("Nearest in {database}: {near}.", database=source.database, near=near)
    databases: list[str] = []
    with suppress(PyMongoError):  # the list is a kindness; the right to see it may be missing
        databases = [d for d in client.list_database_names() if d not in OF_THE_SERVER]
    return Message(
        "The database {database} has no collections; databases here: {near}. In a name with dots, "
        "the part before the first dot is the database, even with --db.",
        database=source.database,
        near=nearest(source.database, databases) or Message("none"),
    )


def nearest(name: str, names: Iterable[str]) -> str:
    """Return at most five names, the most similar ones first."""
    given = sorted(names)
    return ", ".join(difflib.get_close_matches(name, given, n=5, cutoff=0.4) or given[:5])


def check_same_source(former: str, now: str, target: str) -> None:
    """Refuse another source than the target was made from."""
    if former != now:
        raise StateMismatch(
            "the target {target} was made from {former}, not from {now}: an _id that both "
            "sources use would be taken for decided and its document be lost. Name another "
            "--target for this source.",
            target=target,
            former=former,
            now=now,
        )


def agree(former: Mapping[str, Any], now: Mapping[str, Any], *, as_made: bool) -> bool:
    """Tell whether two stamps mean the same decisions; as_made: by any version of the rules."""
    return {**former, "rules": now["rules"]} == now if as_made else former == now


def difference(former: Mapping[str, Any], now: Mapping[str, Any], target: str) -> Message:
    """Say which settings differ from those that the target was made with, and the way out."""
    before, after = dict(values_in(former)), dict(values_in(now))
    differing = {
        name: (then, after.get(name, _ABSENT))
        for name in sorted(before.keys() | after.keys())
        if (then := before.get(name, _ABSENT)) != after.get(name, _ABSENT)
    }
    if differing.keys() == {"rules"}:
        return Message(
            "the target {target} was made by version {then} of the rules for cleaning and judging, "
            "this is version {now}, and a target cannot mix them. Name another --target, or run "
            "the version of dedup that made it; `dedup inspect`, `check`, `restore` and `undo` "
            "work on it as it is.",
            target=target,
            then=before["rules"],
            now=after["rules"],
        )
    lines = [_line(name, *pair) for name, pair in differing.items()]
    written = [
        f"{name} = {json.dumps(then)}"
        for name, (then, _) in differing.items()
        if name != "rules" and then not in (None, _ABSENT) and not str(then).startswith(CONTENT)
    ]
    mixes = Message(
        "the target {target} was made with other settings, and a target cannot mix settings:",
        target=target,
    )
    choose = Message(
        "Run with the former settings, or name another --target for the new ones. In a --config "
        "file: {lines}",
        lines=", ".join(written) or "-",
    )
    return joined([joined([mixes, *lines], "\n  "), choose], "\n")


def _line(name: str, then: Any, now: Any) -> Message:
    if all(str(value).startswith(CONTENT) for value in (then, now)):
        return Message("{name}: the file holds something else now than it did then", name=name)
    then, now = (value if value is _ABSENT else repr(value) for value in (then, now))
    return Message("{name} = {then} then, {now} now", name=name, then=then, now=now)


class TextField(NamedTuple):
    """A field that holds text; share: of documents, 0-1; characters: the mean of those texts."""

    name: str
    share: float
    characters: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """A collection that may be a source; fields: the likeliest one to be the text first."""

    name: str
    documents: int
    fields: Sequence[TextField]


@dataclass(frozen=True, slots=True)
class Overview:
    """The largest collections; others: the number of smaller, empty and uncounted ones."""

    largest: Sequence[Candidate]
    others: int


def look_around(client: Client, database: str | None) -> Overview:
    """Return the largest collections with their fields, and the number of others.

    database: the only one to look at. Targets are left out, and what the user may not read. At
    most 5 seconds are spent on counting.
    """
    until = time.monotonic() + _SECONDS
    names, counted = [*_listed(client, database)], list[tuple[int, Namespace]]()
    for name in names:
        if time.monotonic() > until:
            break
        with suppress(OperationFailure):  # no right to read it
            found = client[name.database][name.collection]
            counted.append((found.estimated_document_count(), name))
    counted.sort(key=lambda one: (-one[0], str(one[1])))
    largest = [Candidate(str(n), size, _fields(client, n)) for size, n in counted[:_SHOWN] if size]
    return Overview(largest, len(names) - len(largest))


def _listed(client: Client, database: str | None) -> Iterator[Namespace]:
    told = client.list_databases(nameOnly=True, authorizedDatabases=True) if not database else ()
    every = [one["name"] for one in told if one["name"] not in OF_THE_SERVER]
    for each in [database] if database else every:
        kinds = _collections(client, each)
        names = {name for name, kind in kinds.items() if kind == "collection"}
        for name in sorted(names):
            target = next((name.removesuffix(end) for end in SUFFIXES if name.endswith(end)), name)
            is_own = {f"{target}.state", f"{target}.runs"} <= names
            if not is_own and not name.startswith("system."):
                yield Namespace(each, name)


def _fields(client: Client, name: Namespace) -> Sequence[TextField]:
    try:
        rows = client[name.database][name.collection].aggregate(
            [{"$sample": {"size": _SAMPLE}}], maxTimeMS=_SAMPLE_MILLISECONDS
        )
        documents = [*rows]
    except (OperationFailure, BSONError):  # no right, too slow, or what nobody can decode
        return ()
    lengths: dict[str, list[int]] = defaultdict(list)
    for document in documents:
        for path, text in texts_in(document):
            if "," in path:  # a comma divides fields
                continue
            is_prose = " " in text or not text.isascii()  # else a name, a URL or a hash
            lengths[path].append(len(text) if is_prose else 0)
    fields = [
        TextField(path, len(found) / len(documents), sum(found) / len(found))
        for path, found in lengths.items()
        if any(found) and len(found) >= _RARE * len(documents)
    ]
    return sorted(fields, key=lambda one: (one.share < _MOST, -one.share * one.characters))
