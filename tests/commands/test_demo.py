"""The demonstration's own database, filled and read back; mongomock holds it."""

from __future__ import annotations

from typing import Any

import mongomock
import pytest

from dedup_job.commands import demo
from dedup_job.demo import make_corpus

URI = "mongodb://localhost:27017"


@pytest.fixture
def client(monkeypatch):
    """Return a client of what the demonstration connects to."""
    with mongomock.patch(servers=URI):
        from pymongo import MongoClient

        monkeypatch.setattr(demo, "MongoClient", {dict[str, Any]: MongoClient})
        yield MongoClient(URI)


def test_the_corpus_takes_the_place_of_what_was_there(client):
    demo.fill(URI, make_corpus(30, seed=1))
    client[demo.DATABASE][demo.TARGET].insert_one({"_id": 1})
    corpus = make_corpus(20, seed=2)
    demo.fill(URI, corpus)
    assert list(client[demo.DATABASE][demo.SOURCE].find()) == corpus
    assert client[demo.DATABASE].list_collection_names() == [demo.SOURCE]


def test_the_outcome_is_read_from_target_and_ledger(client):
    client[demo.DATABASE][demo.TARGET].insert_many([{"_id": 1, "dedup": {"run": 1}}, {"_id": 3}])
    rows = [{"_id": 2, "of": 1, "reason": "near"}, {"_id": 4, "of": None, "reason": "empty"}]
    client[demo.DATABASE][f"{demo.TARGET}.ledger"].insert_many(rows)
    assert demo.outcome(URI) == ({1, 3}, {2: 1, 4: None})
