"""Fill a collection for the demonstration, and read back what a run made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pymongo import MongoClient

from dedup_job.mongo.errors import translated

DATABASE, SOURCE, TARGET = "dedup_demo", "questions", "unique_questions"


def fill(uri: str, corpus: Sequence[Mapping[str, Any]]) -> None:
    """Put the corpus into the demonstration's own database, which is emptied first."""
    with translated(), MongoClient[dict[str, Any]](uri) as client:
        client.drop_database(DATABASE)
        client[DATABASE][SOURCE].insert_many([dict(document) for document in corpus])


def outcome(uri: str) -> tuple[set[int], dict[int, int | None]]:
    """Return the ids of the target, and those of the ledger with the originals, None for none."""
    with translated(), MongoClient[dict[str, Any]](uri) as client:
        kept = {row["_id"] for row in client[DATABASE][TARGET].find({}, {"_id": 1})}
        rows = client[DATABASE][f"{TARGET}.ledger"].find({}, {"of": 1})
        return kept, {row["_id"]: row["of"] for row in rows}
