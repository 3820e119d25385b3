"""Fill a collection for the demonstration, and read back what a run made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pymongo import MongoClient

from dedup_job.mongo.errors import translated

DATABASE, SOURCE, TARGET = "dedup_demo", "questions", "unique_questions"


class Outcome(NamedTuple):
    """Target and ledger of the demonstration.

    kept: ids; dropped: for each id the kept document that it duplicates, None where it was skipped.
    """

    kept: set[int]
    dropped: dict[int, int | None]


def fill(uri: str, corpus: Sequence[Mapping[str, Any]]) -> None:
    """Put the corpus into the demonstration's own database, which is emptied first."""
    with translated(), MongoClient[dict[str, Any]](uri) as client:
        client.drop_database(DATABASE)
        client[DATABASE][SOURCE].insert_many([dict(document) for document in corpus])


def outcome(uri: str) -> Outcome:
    """Return what the run made of the documents."""
    with translated(), MongoClient[dict[str, Any]](uri) as client:
        kept = {row["_id"] for row in client[DATABASE][TARGET].find({}, {"_id": 1})}
        rows = client[DATABASE][f"{TARGET}.ledger"].find({}, {"of": 1})
        return Outcome(kept, {row["_id"]: row["of"] for row in rows})
