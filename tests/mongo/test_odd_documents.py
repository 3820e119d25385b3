"""Documents whose `_id` few have thought of; none is lost in later runs or half-written batches.

What becomes of each kind: tests/faults/test_bad_documents.py.
"""

from datetime import UTC, datetime

import pytest
from bson import Binary, MaxKey, MinKey
from bson.raw_bson import RawBSONDocument

from dedup_job.mongo.bson import edit as raw
from dedup_job.mongo.reading import majority
from dedup_job.runs.counts import Counts
from dedup_job.runs.run import Checkpoint, Scope
from tests.mongo.test_run import questions
from tests.running import run_here

FAR = 2**60


def string(value):
    return b"\2_id\0" + (len(value) + 1).to_bytes(4, "little") + value + b"\0"


def nested(*parts):
    return b"\3_id\0" + raw.document(*parts)


def far_date(number):
    return b"\x09_id\0" + (FAR + number).to_bytes(8, "little")


def odd_ids(number):
    """Return the `_id`s that decoding changes, and a date that cannot be decoded."""
    n = str(number).encode()
    return [
        string(b"\x80" + n),
        string(b"\xff" + n),
        nested(raw.fields({"a": 1}), raw.fields({"a": number})),
        nested(string(b"\xff" + n)),
        b"\x0c_id\0\5\0\0\0db.c\0" + number.to_bytes(12, "big"),
        far_date(number),
    ]


def plant(database, keys, start=0):
    texts = [d["text"] for d in questions(len(keys), start)]
    database.source.insert_many(
        RawBSONDocument(raw.document(key, raw.fields({"text": text})))
        for key, text in zip(keys, texts, strict=True)
    )


def keys_of(database, name):
    found = majority(database[name]).find({}, {"_id": 1})
    return [raw.id_element(bytes(document.raw)) for document in found]


def assert_each_is_in_one_place(database):
    """Source ids = target ids + ledger ids, each once."""
    decided = keys_of(database, "target") + keys_of(database, "target.ledger")
    assert sorted(decided) == sorted(keys_of(database, "source"))


@pytest.mark.parametrize("size", [1, 1000])
@pytest.mark.parametrize(("query", "kept"), [(None, 4), ('{"_id": {"$type": "int"}}', 1)])
def test_the_smallest_and_the_largest_id_are_read_where_they_match(any_database, size, query, kept):
    ids = [MinKey(), 1, "a", MaxKey()]
    plant(any_database, [raw.fields({"_id": id_}) for id_ in ids])
    flags = {"run__batch_documents": size, "source__query": query}
    assert run_here(any_database, **flags).checkpoint.counts.kept == kept
    assert run_here(any_database, **flags).checkpoint.counts.scanned == 0


def test_a_half_written_batch_of_odd_ids_is_undone(standalone_database):
    database = standalone_database
    keys = [*odd_ids(1), *odd_ids(2), raw.fields({"_id": Binary(b"x", 0xD1)})]
    plant(database, keys)
    run_here(database)
    state = database["target.state"]
    intent = {"intent": [raw.storable(key) for key in keys]}
    before = Checkpoint(1, Scope(), datetime.now(UTC), Counts()).as_dict()
    state.update_one({}, {"$set": {"checkpoint": before, **intent}})
    assert run_here(database).checkpoint.counts.scanned == len(keys)
    assert_each_is_in_one_place(database)
