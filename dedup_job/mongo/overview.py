"""The collections of a server and their text fields, for a user who has named none yet."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from bson.errors import BSONError
from pymongo.errors import OperationFailure

from dedup_job.mongo.checks import OF_THE_SERVER
from dedup_job.mongo.connection import SUFFIXES, Client, Namespace
from dedup_job.text_fields import texts_in

_SECONDS = 5.0  # for counting collections; a server may hold ten thousand
_SAMPLE = 100  # documents of a collection
_SAMPLE_MILLISECONDS = 2000
_SHOWN = 12  # collections with their fields
_MOST = 0.5  # the share of documents above which a field comes before one that fewer have
_RARE = 0.05  # the share of documents under which a field is not offered


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
    names = [*_collections(client, database)]
    counted = []
    for name in names:
        if time.monotonic() > until:
            break
        counted.append((_documents(client, name), name))
    counted.sort(key=lambda one: (-one[0], str(one[1])))
    found = [Candidate(str(n), count, _fields(client, n)) for count, n in counted[:_SHOWN] if count]
    return Overview(found, len(names) - len(found))


def _collections(client: Client, database: str | None) -> Iterator[Namespace]:
    databases = [database] if database else []
    if not database:
        told = client.admin.command("listDatabases", nameOnly=True, authorizedDatabases=True)
        databases = [one["name"] for one in told["databases"] if one["name"] not in OF_THE_SERVER]
    for each in databases:
        options: dict[str, Any] = {"authorizedCollections": True, "filter": {"type": "collection"}}
        try:
            names = {*client[each].list_collection_names(**options)}
        except OperationFailure:  # no right to list them
            continue
        made = {
            t for name in names if name.endswith(".state") if f"{(t := name[:-6])}.runs" in names
        }
        of_dedup = {target + suffix for target in made for suffix in ("", *SUFFIXES)}
        for name in sorted(names - of_dedup):
            if not name.startswith("system."):
                yield Namespace(each, name)


def _documents(client: Client, name: Namespace) -> int:
    try:
        return client[name.database][name.collection].estimated_document_count()
    except OperationFailure:  # no right to read it
        return 0


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
            lengths[path].append(len(text) if _is_prose(text) else 0)
    fields = [
        TextField(path, len(found) / len(documents), sum(found) / len(found))
        for path, found in lengths.items()
        if any(found) and len(found) >= _RARE * len(documents)
    ]
    return sorted(fields, key=lambda one: (one.share < _MOST, -one.share * one.characters))


def _is_prose(text: str) -> bool:
    """Tell a text from a name, a URL or a hash: it has a space, or other letters than Latin."""
    return " " in text or not text.isascii()
