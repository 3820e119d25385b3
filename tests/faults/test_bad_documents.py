"""Documents that would break a run are recorded, and those around them do not suffer from them."""

from collections import Counter

import bson
import pytest
from bson.raw_bson import RawBSONDocument

from dedup_job.demo import make_corpus
from dedup_job.mongo import id_keys
from dedup_job.mongo import raw_bson as raw
from dedup_job.mongo.reading import majority
from tests.faults.bad_document_kinds import (
    KEPT,
    KINDS,
    MAX_CHARS,
    UNDECODABLE,
    decodes,
    mixed_id,
    planted,
)
from tests.faults.subject import Subject

pytestmark = [pytest.mark.faults, pytest.mark.short]
_INSERTED = 2000  # documents of an insert
_SKIPPED = {"empty", "missing", "not_text"}


def insert(database, name, documents):
    for start in range(0, len(documents), _INSERTED):
        database[name].insert_many(documents[start : start + _INSERTED])


def rows_of(database, name, projection=None):
    """Return the documents of a collection by the bytes of their `_id`; keys repeated are lost."""
    found = {}
    for document in majority(database[name]).find({}, projection):
        one = bytes(document.raw)
        found[id_keys.id_key_in(one)] = bson.decode(one, raw.LENIENT)
    return found


def test_bad_documents_are_recorded_and_nothing_else_suffers(any_server, tmp_path, times):
    """A source with bad documents and one without are decided in two runs; the second resumes."""
    subject = Subject(any_server, tmp_path, documents=50, name="faults_bad")
    database = subject.database
    database.drop_collection("source")
    sound = [
        RawBSONDocument(raw.join_fields(raw.fields({**document, "_id": mixed_id(number)})))
        for number, document in enumerate(make_corpus(times(100_000, 300)))
    ]
    bad = list(planted(times(10_000, 200)))
    insert(database, "clean", sound)
    insert(database, "source", [RawBSONDocument(document) for document, _, _ in bad])
    insert(database, "source", sound)
    large = {"DEDUP_SOURCE__MAX_CHARS": str(MAX_CHARS), "DEDUP_RUN__BATCH_DOCUMENTS": "1000"}
    for name, code in (("clean", 0), ("source", 3)):
        for more in (["--limit", str(len(sound) // 2)], []):
            ended = subject.run(f"{name}_target", "--source", name, *more, **large)
            assert ended == code, subject.output()

    source, ids, ledger = (
        rows_of(database, name, {"_id": 1})
        for name in ("source", "source_target", "source_target.ledger")
    )
    assert ids.keys() | ledger.keys() == source.keys(), "documents are lost"
    assert not ids.keys() & ledger.keys(), "documents are there twice"
    assert_each_became_what_it_should(database, bad)
    for part in ("", ".ledger"):
        alone, mixed = (rows_of(database, f"{name}_target{part}") for name in ("clean", "source"))
        unlike = [k for k, d in alone.items() if without_run(d) != without_run(mixed.get(k, {}))]
        assert unlike == []
    subject.end_all()


def assert_each_became_what_it_should(database, bad):
    kept = rows_of(database, "source_target", {"_id": 1, "text": 1})
    ledger = rows_of(database, "source_target.ledger")
    wrong = Counter[str]()
    for document, kind, text in bad:
        key = id_keys.id_key_in(document)
        if key in kept:
            is_right = kind.becomes == KEPT and kept[key]["text"] == text
            became = f"kept: {kept[key]['text'][:20]}"
        else:
            row = ledger[key]
            became = f"{row['decision']}: {row['reason']}"
            decision = "skipped" if kind.becomes in _SKIPPED else "quarantined"
            is_right = became == f"{decision}: {kind.becomes}"
        wrong[f"{kind.name} became {became}"] += not is_right
    assert +wrong == {}


def without_run(document):
    """Return a document without the number of its run: the bad ones move where a run ends."""
    own = document.get("dedup")
    mark = {"dedup": own["fingerprint"]} if isinstance(own, dict) else {}
    return bson.encode({**document, **mark, "run": 0})


def test_what_counts_as_undecodable_is_what_the_driver_does_not_decode():
    for document, kind, _ in planted(len(KINDS) + 10):
        if "text twice" not in kind.name:
            assert decodes(document) is (kind.becomes != UNDECODABLE), kind.name
