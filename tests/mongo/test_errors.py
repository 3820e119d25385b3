"""Messages on what the server refuses and what others do to a run: where, and what to do.

A run says that it is done only where all that it wrote is there.
"""

from functools import partial

import pytest
from pymongo.database import Database

from dedup_job.demo import make_corpus
from dedup_job.messages import DatabaseUnreachable, DedupError, StateMismatch, UsageError
from dedup_job.mongo.checks import check_takes_writes
from dedup_job.mongo.connection import check_version
from tests.running import after_batches, assert_each_source_id_is_in_one_place, refusal, run_here

NEVER = {"not there": {"$exists": True}}  # a rule that no document keeps


@pytest.fixture
def filled(any_database):
    any_database.source.insert_many(
        {"_id": i, "text": f"第{i // 2}段不同的正文", "school": "一中"} for i in range(20)
    )
    return any_database


def refused(database):
    with pytest.raises(DedupError) as found:
        run_here(database)
    assert "Traceback" not in str(found.value)
    return found.value


@pytest.mark.parametrize(
    ("part", "field", "value"), [("target", "school", "一中"), ("target.ledger", "reason", "exact")]
)
def test_a_unique_index_on_another_field_is_named_and_the_run_goes_on_without_it(
    filled, part, field, value
):
    filled[part].create_index(field, unique=True)
    error = refused(filled)
    assert isinstance(error, StateMismatch)
    assert f"collection: {filled.name}.{part} index: {field}_1" in str(error)
    assert f'{field}: "{value}"' in str(error)
    filled[part].drop_index(f"{field}_1")
    run_here(filled)
    assert_each_source_id_is_in_one_place(filled)


def test_a_document_of_another_writer_is_named_by_its_id(filled, monkeypatch):
    foreign = {"_id": 0, "of": "another tool"}
    after_batches(monkeypatch, 0, lambda: filled.target.insert_one(foreign))
    assert "already holds _id 0: something else writes to the target" in str(refused(filled))


@pytest.mark.parametrize("part", ["target", "target.ledger", "target.runs", "target.state"])
def test_a_validation_rule_is_named_and_the_run_goes_on_without_it(filled, part):
    filled.create_collection(part, validator=NEVER)
    error = refused(filled)
    assert isinstance(error, StateMismatch)
    named = part if part in ("target", "target.ledger") else "a collection of the target"
    assert f"{named} refuses what a run writes" in str(error)
    assert "Document failed validation" in str(error)
    filled.command("collMod", part, validator={})
    run_here(filled)
    assert_each_source_id_is_in_one_place(filled)


@pytest.mark.parametrize("part", ["target", "target.ledger", "target.runs", "target.state"])
def test_a_view_in_the_place_of_a_collection_is_refused_before_anything_is_written(filled, part):
    filled.command("create", part, viewOn="source", pipeline=[])
    before = sorted(filled.list_collection_names())
    error = refused(filled)
    assert isinstance(error, UsageError)
    assert f"{filled.name}.{part}" in str(error)
    assert "is a view" in str(error)
    assert sorted(filled.list_collection_names()) == before


SECONDARY = {"isWritablePrimary": False, "setName": "rs", "primary": "a:1", "me": "b:2"}


@pytest.mark.parametrize(
    ("check", "hello", "error", "words"),
    [
        (check_version, {"maxWireVersion": 9}, UsageError, r"older than MongoDB 5\.0"),
        (check_version, {"maxWireVersion": 21, "msg": "isdbgrid"}, UsageError, "is mongos, "),
        (check_takes_writes, {"readOnly": True}, UsageError, "read-only"),
        (check_takes_writes, SECONDARY, DatabaseUnreachable, "the primary is a:1"),
    ],
)
def test_an_old_server_a_router_and_a_server_without_writes_are_refused(check, hello, error, words):
    with pytest.raises(error, match=words):
        check(hello)
    check({"maxWireVersion": 13, "isWritablePrimary": True})


def test_a_file_that_holds_no_certificate_is_named_by_its_option(tmp_path):
    file = tmp_path / "ca.pem"
    file.write_text("no certificate")
    uri = f"mongodb://127.0.0.1:1/?tls=true&tlsCAFile={file}"
    error = refusal("run", "--source", "d.a", "--target", "d.b", DEDUP_URI=uri)
    assert isinstance(error, UsageError)
    assert "tlsCAFile" in str(error)
    assert "None" not in str(error)


PARTS = ("target", "target.ledger", "target.runs")
FOLDED = {"locale": "en", "strength": 2}
BATCH = {"run__batch_documents": 20, "run__threads": 1}


@pytest.fixture
def grown(any_database):
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
    grown, part, make, named
):
    make(grown, part)
    with pytest.raises(StateMismatch) as found:
        run_here(grown, **BATCH)
    assert f"{grown.name}.{part} " in str(found.value)
    assert named in str(found.value)
    assert grown.target.count_documents({}) == 0


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
    (
        lambda db: db["target.ledger"].delete_many({}),
        "{db}.target.ledger holds ",
    ),
    (lambda db: db.target.insert_one(dict(STRANGE)), "{db}.target holds "),
]


@pytest.mark.parametrize(("meddle", "named"), MEDDLED)
def test_changes_of_the_collections_by_others_are_named_at_the_end_of_a_run(grown, meddle, named):
    assert named.format(db=grown.name) in run_with(grown, meddle)


def test_kept_documents_that_are_removed_in_the_middle_are_counted_and_decided_again(grown):
    first = grown.source.find_one({"text": {"$type": "string"}}, sort=[("_id", 1)]) or {}
    message = run_with(grown, lambda db: db.target.delete_one({"_id": first["_id"]}))
    assert f"{grown.name}.target holds " in message
    report = run_here(grown, **BATCH)
    assert report.checkpoint.counts.scanned == 1
    assert grown.target.count_documents({"_id": first["_id"]}) == 1
