"""A run says that it is done only where all that it wrote is there."""

from functools import partial

import pytest
from pymongo.database import Database

from dedup_job.demo import make_corpus
from dedup_job.errors import StateMismatch
from tests.running import after_batches, run_here

PARTS = ("target", "target.ledger", "target.runs")
FOLDED = {"locale": "en", "strength": 2}
BATCH = {"run__batch_documents": 20, "run__threads": 1}


@pytest.fixture
def filled(any_database):
    any_database.source.insert_many(make_corpus(200, seed=3))
    return any_database


def run_with(database, meddle, after=3):
    with pytest.MonkeyPatch.context() as patched:
        after_batches(patched, after, lambda: meddle(database))
        with pytest.raises(StateMismatch) as found:
            run_here(database, **BATCH)
    assert found.value.code == 6
    row = database["target.runs"].find_one({"_id": 1})
    assert row is None or row["status"] != "done"
    return str(found.value)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda db, part: db.create_collection(part, capped=True, size=1 << 20), "is capped"),
        (lambda db, part: db[part].create_index("made", expireAfterSeconds=60), "(made_1)"),
        (lambda db, part: db.create_collection(part, collation=FOLDED), "has a collation"),
    ],
    ids=["capped", "TTL", "collation"],
)
def test_a_collection_that_loses_documents_is_refused_before_anything_is_written(
    filled, part, make, named
):
    make(filled, part)
    with pytest.raises(StateMismatch) as found:
        run_here(filled, **BATCH)
    assert f"{filled.name}.{part} " in str(found.value)
    assert named in str(found.value)
    assert filled.target.count_documents({}) == 0


def replace(database):
    documents = list(database.source.find())
    database.drop_collection("source")
    database.source.insert_many(documents)


STRANGE = {"_id": "strange", "text": "外来的文字", "dedup": {"fingerprint": 1, "run": 1}}
MEDDLED = [
    *(
        (partial(Database.drop_collection, name_or_collection=part), f"{{db}}.{part} was ")
        for part in ("source", *PARTS)
    ),
    *(
        (lambda db, part=part: db[part].rename("elsewhere"), f"{{db}}.{part} was ")
        for part in ("source", *PARTS[:2])
    ),
    (replace, "{db}.source was replaced"),
    (
        lambda db: db.command("convertToCapped", "target", size=4096),
        "target was replaced by another collection while the run was at work",
    ),
    (lambda db: db["target.ledger"].delete_many({}), "rows that run 1 wrote"),
    (lambda db: db.target.insert_one(dict(STRANGE)), 'were kept by no run: _id "strange"'),
]


@pytest.mark.parametrize(("meddle", "named"), MEDDLED)
def test_what_others_do_to_the_collections_of_a_run_is_named_at_its_end(filled, meddle, named):
    assert named.format(db=filled.name) in run_with(filled, meddle)


def test_kept_documents_that_are_removed_in_the_middle_are_named_and_decided_again(filled):
    first = filled.source.find_one({"text": {"$type": "string"}}, sort=[("_id", 1)]) or {}
    said = run_with(filled, lambda db: db.target.delete_one({"_id": first["_id"]}))
    assert f"1 documents that were kept are missing from {filled.name}.target: " in said
    assert repr(first["_id"]) in said
    report = run_here(filled, **BATCH)
    assert report.checkpoint.counts.scanned == 1
    assert filled.target.count_documents({"_id": first["_id"]}) == 1
