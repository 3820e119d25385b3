"""Checks before a run, of server, names, rights and settings; an overview of possible sources."""

import difflib
import json
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, product
from typing import Any, NamedTuple

from bson.errors import BSONError
from pymongo.errors import ExecutionTimeout, OperationFailure, PyMongoError

from dedup_job.documents import Reason, Skipped
from dedup_job.messages import DatabaseUnreachable, Message, StateMismatch, UsageError, joined
from dedup_job.mongo import raw_bson
from dedup_job.mongo.connection import (
    AUTHENTICATION_FAILED,
    SUFFIXES,
    UNAUTHORIZED,
    AnyCollection,
    Client,
    Namespace,
    is_transient,
    missing_right_error,
    suppress_codes,
)
from dedup_job.mongo.database_settings import Rule
from dedup_job.mongo.source import Source
from dedup_job.text_fields import text_field_summary, texts_in, values_in

_SERVER_DATABASES = ("admin", "config", "local")
_EXPIRES = "expireAfterSeconds"
_SOURCE = Message("source")
CONTENT = "content "  # before the digest of a file, where a setting names one
_ABSENT = Message("not set")
_SECONDS = 5.0  # for counting collections; a server may hold ten thousand
_FIRST = 1000  # documents that are searched for a field; then the server searches for 2 seconds
_LOOK_SECONDS = 2
_SAMPLE = 100  # documents of a collection
_SAMPLE_MILLISECONDS = 2000
_SHOWN = 12  # collections with their fields
_MOST = 0.5  # the share of documents above which a field comes before one that fewer have
_RARE = 0.05  # the share of documents under which a field is not offered


def check_takes_writes(hello: Mapping[str, Any]) -> None:
    """Raise UsageError for a read-only server, DatabaseUnreachable for one that is no primary."""
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
    """Raise UsageError for a source that does not exist or has no `_id` order; what: its name."""
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


def check_query(source: Source) -> None:
    """Raise UsageError for a query that the server does not understand."""
    try:
        # as documents are counted, which takes no $where and no $near
        source.collection.count_documents(source.query, limit=1)
    except OperationFailure as e:
        if e.code in (UNAUTHORIZED, AUTHENTICATION_FAILED) or is_transient(e):
            raise
        message = str((e.details or {}).get("errmsg", "")).split("\n", 1)[0][:300]
        raise UsageError(
            "the server does not understand --query: {message}", message=message
        ) from e


def check_fields(source: Source, rules: Sequence[Rule] = ()) -> None:
    """Raise UsageError if no document has the text fields and fields of `rules`, or none a text."""
    rule_of = {rule.path: rule for rule in rules if rule.path}
    documents, absent = list[Mapping[str, Any]](), [*map(tuple, source.fields.paths), *rule_of]
    texts = strange = 0
    for found in source.collection.find(source.query).sort("_id", 1).limit(_FIRST):
        with suppress(BSONError, ValueError, OverflowError):  # it will be quarantined
            documents.append(raw_bson.decoded(bytes(found.raw)))
            absent = [path for path in absent if not _has_path(documents[-1], path)]
            content = source.fields.content(documents[-1])
            texts += isinstance(content, str)
            strange += isinstance(content, Skipped) and content.reason is Reason.NOT_TEXT
        if texts and not absent:
            return
    choices = Message(
        "{fields} Name one with --field, or the documents that have it with --query.",
        fields=text_field_summary(documents),
    )
    for path in absent if documents else ():
        query = {"$and": [source.query, {".".join(path): {"$exists": True}}]}
        with suppress(ExecutionTimeout):
            later = source.collection.find_one(query, max_time_ms=1000 * _LOOK_SECONDS)
            if later is not None and _has_path(raw_bson.decoded(bytes(later.raw)), path):
                continue
        field, rule, hint = ".".join(path), rule_of.get(path), choices
        if rule is not None:
            near = nearest(field, {name for name, _ in chain(*map(values_in, documents))})
            hint = Message("--keep {rule} looks at it; nearest: {near}.", rule=rule, near=near)
        raise UsageError(
            "none of the first {number:,} documents has the field {field!r}, nor any that "
            "the server looked at in {seconds} seconds. {hint}",
            number=len(documents),
            field=field,
            seconds=_LOOK_SECONDS,
            hint=hint,
        )
    if strange and not texts:
        raise UsageError(
            "none of the first {number:,} documents has a text in {field!r}. {hint}",
            number=len(documents),
            field=",".join(source.fields.dotted),
            hint=choices,
        )


def _has_path(decoded: Mapping[str, Any], path: Sequence[str]) -> bool:
    value: Any = decoded
    for name in path:
        if not isinstance(value, Mapping) or name not in value:
            return False
        value = value[name]
    return True


def check_not_cleaned(client: Client, names: Sequence[Namespace]) -> None:
    """Raise UsageError for a target of cleaned text, which must not be cleaned again."""
    for name in names:
        state = client[name.database][f"{name.collection}.state"]
        is_cleaned = False
        with suppress_codes(UNAUTHORIZED):  # a user without the right has not written this target
            is_cleaned = state.find_one({"settings.output.text": "cleaned"}) is not None
        if is_cleaned:
            raise UsageError(
                "{name} is a target that holds cleaned text. Cleaned again, text such as <b> "
                "would be taken for markup: set DEDUP_CLEANING__HTML=never, or html = "
                '"never" in section [cleaning] of a --config file.',
                name=name,
            )


def check_references(
    client: Client, references: Sequence[Namespace], source: Namespace, target: Namespace
) -> None:
    """Raise UsageError for a collection of `--against` that is source or target, or unreadable."""
    counted = {str(source), *(f"{target}{suffix}" for suffix in ("", *SUFFIXES))}
    for reference in references:
        if str(reference) in counted:
            raise UsageError(
                "--against names {other}, which is the source or belongs to the target: what "
                "is there counts in any case. Leave it out.",
                other=reference,
            )
        check_source_collection(client, reference, Message("collection of --against"))


def check_target_collections(client: Client, source: Namespace, target: Namespace) -> None:
    """Raise UsageError for a target that is the source, belongs to another, or is a view."""
    own = [target.collection + suffix for suffix in ("", *SUFFIXES)]
    if source.database == target.database and source.collection in own:
        raise UsageError(
            "source and target are the same: {source}. Name another --target.", source=source
        )
    if target.database in _SERVER_DATABASES:
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
    """Raise UsageError that names a missing right; needed: collections with actions."""
    user = client.admin.command("connectionStatus", showPrivileges=True)["authInfo"]
    if not user["authenticatedUsers"]:  # a server without users
        return
    for collection, actions in needed:
        pairs = product(("", collection.database.name), ("", collection.name))
        resources = [{"anyResource": True}, *({"db": db, "collection": c} for db, c in pairs)]
        own = [p for p in user["authenticatedUserPrivileges"] if p["resource"] in resources]
        granted = {action for privilege in own for action in privilege["actions"]}
        if missing := [action for action in actions if action not in granted]:
            name = collection.full_name
            raise missing_right_error(Message("{actions} on {name}", actions=missing[0], name=name))


def check_target_lasts(target: AnyCollection) -> None:
    """Raise StateMismatch for a target that is capped, expires documents or has a collation."""
    database = target.database
    own = {"name": {"$in": [target.name + suffix for suffix in ("", *SUFFIXES)]}}
    whys = dict[str, Message | None]()
    with suppress_codes(UNAUTHORIZED):  # the end of a run finds losses
        rows = [*database.list_collections(filter={**own, "type": "collection"})]
        whys = {
            row["name"]: _options_problem(row["options"], database[row["name"]]) for row in rows
        }
    for name, why in whys.items():
        if why is not None:
            raise StateMismatch(
                "the collection {name} {why}. Name another --target.",
                name=Namespace(database.name, name),
                why=why,
            )


def _options_problem(options: Mapping[str, Any], collection: AnyCollection) -> Message | None:
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
    with suppress(PyMongoError):  # the right to list may be missing
        databases = [d for d in client.list_database_names() if d not in _SERVER_DATABASES]
    return Message(
        "The database {database} has no collections; databases here: {near}. In a name with dots, "
        "the part before the first dot is the database, even with --db.",
        database=source.database,
        near=nearest(source.database, databases) or Message("none"),
    )


def nearest(name: str, names: Iterable[str]) -> str:
    """Return at most five of `names` in one line, the most similar ones first."""
    ordered = sorted(names)
    return ", ".join(difflib.get_close_matches(name, ordered, n=5, cutoff=0.4) or ordered[:5])


def check_same_source(former: str, now: str, target: str) -> None:
    """Raise StateMismatch if the target was made from another source."""
    if former != now:
        raise StateMismatch(
            "the target {target} was made from {former}, not from {now}: an _id that both "
            "sources use would be taken for decided and its document be lost. Name another "
            "--target for this source.",
            target=target,
            former=former,
            now=now,
        )


def settings_mismatch(former: Mapping[str, Any], now: Mapping[str, Any], target: str) -> Message:
    """Return a message with the settings that differ from the target's stamp, and the remedy."""
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
class SourceCandidate:
    """A collection that may be a source; fields: the most likely text field first."""

    name: str
    documents: int
    fields: Sequence[TextField]


@dataclass(frozen=True, slots=True)
class Overview:
    """The largest collections; more: the number of smaller, empty and uncounted ones."""

    largest: Sequence[SourceCandidate]
    more: int


def possible_sources(client: Client, database: str | None) -> Overview:
    """Return the largest possible sources of one database or all, and the number of others."""
    until = time.monotonic() + _SECONDS
    names, counted = [*_listed(client, database)], list[tuple[int, Namespace]]()
    for name in names:
        if time.monotonic() > until:
            break
        with suppress(OperationFailure):  # no right to read it
            found = client[name.database][name.collection]
            counted.append((found.estimated_document_count(), name))
    counted.sort(key=lambda one: (-one[0], str(one[1])))
    largest = [
        SourceCandidate(str(n), size, _fields(client, n)) for size, n in counted[:_SHOWN] if size
    ]
    return Overview(largest, len(names) - len(largest))


def _listed(client: Client, database: str | None) -> Iterator[Namespace]:
    listed = client.list_databases(nameOnly=True, authorizedDatabases=True) if not database else ()
    databases = [row["name"] for row in listed if row["name"] not in _SERVER_DATABASES]
    for each in [database] if database else databases:
        kinds = _collections(client, each)
        names = {name for name, kind in kinds.items() if kind == "collection"}
        for name in sorted(names):
            target = next((name.removesuffix(end) for end in SUFFIXES if name.endswith(end)), name)
            is_own = {f"{target}.state", f"{target}.runs"} <= names
            if not is_own and not name.startswith("system."):
                yield Namespace(each, name)


def _fields(client: Client, name: Namespace) -> Sequence[TextField]:
    steps, collection = [{"$sample": {"size": _SAMPLE}}], client[name.database][name.collection]
    try:
        documents = [*collection.aggregate(steps, maxTimeMS=_SAMPLE_MILLISECONDS)]
    except (OperationFailure, BSONError):  # no right, too slow, or not to be decoded
        return ()
    lengths: dict[str, list[int]] = defaultdict(list)
    for document in documents:
        for path, text in texts_in(document):
            is_prose = " " in text or not text.isascii()  # else a name, a URL or a hash
            lengths[path].append(len(text) if is_prose else 0)
    fields = [
        TextField(path, len(found) / len(documents), sum(found) / len(found))
        for path, found in lengths.items()  # a comma divides fields
        if any(found) and len(found) >= _RARE * len(documents) and "," not in path
    ]
    return sorted(fields, key=lambda one: (one.share < _MOST, -one.share * one.characters))
