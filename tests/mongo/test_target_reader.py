"""Kept documents are read back as written; an id is pending if no kept document has it."""

import threading
from functools import partial

import numpy as np
import pytest

from dedup_job.cleaning import Cleaner
from dedup_job.demo import make_corpus
from dedup_job.documents import Channel
from dedup_job.fingerprint import Fingerprinter, FingerprintSettings, Sketcher, load_lexicon
from dedup_job.job.pipeline import RunProgress
from dedup_job.messages import StateMismatch
from dedup_job.mongo import raw_bson
from dedup_job.mongo import source as module
from dedup_job.mongo.connection import Namespace
from dedup_job.mongo.database_settings import DocumentForm, SourceSettings, Storing
from dedup_job.mongo.ledger_rows import LedgerRows
from dedup_job.mongo.rows import KeptRows
from dedup_job.mongo.source import Source
from dedup_job.mongo.target_reader import TargetForm, TargetReader
from tests.deciding import BY_SIMILARITY, PLAIN
from tests.running import outcome, run_here

CHANNELS = (Channel.SIMHASH, Channel.MINHASH, Channel.SENTENCES)
LONG = (
    "光合作用是绿色植物利用太阳光能，把二氧化碳和水合成为有机物，同时释放氧气的过程。"
    "叶绿体是进行光合作用的细胞器。"
)


def key_of(id_):
    return raw_bson.fields({"_id": id_})


def reader(database, rows):
    form = TargetForm(SourceSettings(), rows, LedgerRows(Storing.NONE), {})
    names = [Namespace(database.name, name) for name in ("target", "source")]
    return TargetReader(database.client, names[0], form, names[1])


@pytest.mark.parametrize("form", DocumentForm)
def test_texts_and_all_that_is_known_of_them_come_back_from_every_form(database, form):
    corpus = [d for d in make_corpus(200, seed=4) if isinstance(d.get("text"), str)]
    database.source.insert_many([{"_id": d["_id"], "a": {"b": d["text"]}} for d in corpus])
    flags = {"source__field": "a.b", "index__candidate_generators": list(CHANNELS)}
    run_here(database, output__document=form, **flags)
    kept = reader(database, KeptRows(form, "a.b", Sketcher(CHANNELS)))
    ids = {*database.target.distinct("_id")}
    stored = {key_of(d["_id"]): Cleaner().clean(d["text"]) for d in corpus if d["_id"] in ids}
    assert kept.texts(list(stored)) == stored
    (page,) = kept.kept()
    assert sorted(page.keys) == sorted(stored)
    fingerprinter = Fingerprinter(FingerprintSettings(), load_lexicon(print), Sketcher(CHANNELS))
    found, expected = page.fingerprints, fingerprinter.fingerprint([stored[k] for k in page.keys])
    assert np.array_equal(found.rows, expected.rows)
    for name in ("keys", "bits", "channels"):
        assert np.array_equal(getattr(found.sketches, name), getattr(expected.sketches, name))


def test_missing_documents_and_documents_without_text_are_left_out(database):
    rows = [{"_id": 1, "text": "一"}, {"_id": 2, "text": 5}, {"_id": 3}, {"_id": "3", "text": "三"}]
    database.target.insert_many(rows)
    kept = reader(database, KeptRows(DocumentForm.WHOLE, "text", Sketcher(())))
    keys = [key_of(id_) for id_ in (1, 2, 3, "3", "gone")]
    assert kept.texts(keys) == {key_of(1): "一", key_of("3"): "三"}
    assert kept.texts([]) == {}
    with pytest.raises(StateMismatch, match="4 documents that dedup did not write"):
        list(kept.kept())


def removing(monkeypatch, database, id_):
    """Remove a document between two batches, after its text has left memory."""
    settle, decide = RunProgress.settle, RunProgress.decide
    dropped_event = threading.Event()

    def watched(course, *written):
        settle(course, *written)
        database.target.delete_one({"_id": id_})
        dropped_event.set()

    def waiting(course, batch):
        assert batch.documents[0].id == id_ or dropped_event.wait(60)
        return decide(course, batch)

    monkeypatch.setattr("dedup_job.decision.decider.MEMORY", 0)
    monkeypatch.setattr(RunProgress, "settle", watched)
    monkeypatch.setattr(RunProgress, "decide", waiting)


OTHER = "另一段正文，说的是别的事情。"
# texts, settings; kept ids with `void`; dropped ids with `of` and reason; number of void ones
REMOVALS = {
    "later copies are duplicates of the one that was kept instead": (
        [LONG, OTHER, LONG, f"{LONG}吗", LONG, f"下{LONG}"],
        BY_SIMILARITY,
        [(2, None), (3, [1])],
        [(4, 3, "near", [1]), (5, 3, "exact", None), (6, 3, "near", [1])],
        3,
    ),
    "by simhash alone nothing but the equal text finds a short one": (
        ["短文", "长文", "短文", "新文", "短文", "短文"],
        PLAIN,
        [(2, None), (3, [1]), (4, None)],
        [(5, 3, "exact", None), (6, 3, "exact", None)],
        1,
    ),
}


@pytest.mark.parametrize("case", REMOVALS.values(), ids=REMOVALS)
def test_a_would_be_duplicate_of_a_removed_document_is_kept_and_names_it(
    any_database, monkeypatch, case
):
    versions, flags, expected, dropped, void = case
    any_database.source.insert_many([{"_id": i, "text": t} for i, t in enumerate(versions, 1)])
    removing(monkeypatch, any_database, 1)
    with pytest.raises(StateMismatch, match=r"holds \d documents, and runs wrote \d"):
        run_here(any_database, run__batch_documents=2, **flags)
    kept, ledger = outcome(any_database)
    assert [(row["_id"], row["dedup"].get("void")) for row in kept] == expected
    assert [(r["_id"], r["of"], r["reason"], r.get("void")) for r in ledger] == dropped
    assert any_database["target.runs"].find_one({})["counts"]["void"] == void


def test_a_removed_document_does_not_stop_the_next_run(any_database):
    """It is not remembered any more, so nothing is void."""
    any_database.source.insert_many([{"_id": 1, "text": LONG}])
    run_here(any_database, **BY_SIMILARITY)
    any_database.target.delete_one({"_id": 1})
    any_database.source.insert_many([{"_id": 2, "text": f"{LONG}吗"}])
    report = run_here(any_database, **BY_SIMILARITY)
    assert (report.checkpoint.counts.kept, report.checkpoint.counts.missing_originals) == (1, 0)


@pytest.fixture
def decided(database):
    database.source.insert_many({"_id": number} for number in range(1000))
    database.target.insert_many({"_id": number} for number in range(900) if number % 7)
    database["target.ledger"].insert_many({"_id": number} for number in range(0, 900, 14))
    return database


def new_of(database, **settings):
    collections = [database.target, database["target.ledger"]]
    return Source(database.source, SourceSettings(**settings), decided=collections)


def numbers(found):
    return [int.from_bytes(key[-4:], "little") for part, _ in found.undecided_ids() for key in part]


WANTED = sorted({*range(7, 900, 14), *range(900, 1000)})


@pytest.fixture
def queries(monkeypatch):
    """Return the names of the collections that are read page by page, of 20 documents."""
    names = []

    def holds(reader, keys, *, by_name=False):
        names.extend([] if by_name else [reader.collection.name])
        return original(reader, keys, by_name=by_name)

    original = module.Reader.presence_mask
    monkeypatch.setattr(module.Reader, "presence_mask", holds)
    monkeypatch.setattr(module, "ID_PAGE", 20)
    return names


def trusted(database, without=-1):
    """Return an index of the target's ids, except for one."""
    rows = database.target.find({}, {"_id": 1}).sort("_id", 1)
    ids = [row["_id"] for row in rows if row["_id"] != without]
    keys = {b"\x10_id\0" + id_.to_bytes(4, "little") for id_ in ids}

    def holds(queries):
        return module.np.array([key in keys for key in queries.list()], dtype=bool)

    return lambda: holds


ALL, FEW = range(50, 51), range(10)  # pages of the target that are read


@pytest.mark.parametrize(
    ("settings", "index", "read"),
    [
        ({}, trusted, FEW),
        ({"query": '{"_id": {"$gte": 0}}'}, trusted, FEW),
        ({}, partial(trusted, without=645), FEW),  # which the server knows
        ({"full_scan_every": 1}, trusted, ALL),  # a proof
        ({}, lambda _: lambda: None, ALL),  # it would take too much memory
    ],
    ids=["all", "with a query", "all but one", "proof", "none"],
)
def test_the_index_spares_reading_the_targets_ids_and_overlooks_nothing(
    decided, queries, settings, index, read
):
    found = new_of(decided, **settings)
    found.use_index_ids(index(decided))
    assert numbers(found) == WANTED
    assert found.known == 1000 - len(WANTED)
    assert queries.count("target") in read
    assert queries.count("target.ledger") == 50
