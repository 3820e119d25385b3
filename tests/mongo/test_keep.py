"""The best copy by the rules stays, in any order of arrival; and a run can be undone."""

import random
from datetime import datetime

import pytest
from bson import Decimal128, Int64

from dedup_job.demo import make_corpus
from dedup_job.messages import UsageError
from tests.deciding import BY_SIMILARITY
from tests.proving import command, good
from tests.running import run_here, without_runs

KEEP = {"output__keep": ["newest:updated"]}
PARTS = ("target", "target.ledger", "target.runs", "target.state")


def versions(count, seed=3, copies=3):
    """Return copies of texts in any order, each with another time."""
    rng = random.Random(seed)
    found = [d.get("text") for d in make_corpus(count, seed=seed)]
    texts = dict.fromkeys(text for text in found if isinstance(text, str) and len(text) > 20)
    rows = [{"text": text} for text in texts for _ in range(copies)]
    rng.shuffle(rows)
    times = rng.sample(range(10_000), len(rows))
    return [
        {"_id": n, **row, "updated": t} for n, (row, t) in enumerate(zip(rows, times, strict=True))
    ]


def stored(database, *names):
    return {name: [*database[name].find().sort("_id", 1)] for name in names or PARTS[:2]}


@pytest.mark.parametrize("batch", [7, 5000])
def test_the_newest_of_equal_texts_stays_in_a_run_and_over_nights(any_database, batch):
    documents = versions(60)
    nights = [documents[start : start + 50] for start in range(0, len(documents), 50)]
    report = run_over(any_database, *nights, batch=batch)
    assert report.counts.replaced > 0
    expect_best_kept(any_database, documents)


def drifting(count):
    """Return versions of a text that differ by two characters, each from the one before."""
    text, other = ("".join(map(chr, range(start, start + 60))) for start in (0x4E00, 0x6E00))
    return [other[: 2 * n] + text[2 * n :] for n in range(count)]


def expect_alike(database):
    """Assert that each dropped text is similar to the text that its group keeps now."""
    text = {row["_id"]: naive_grams(row["text"]) for row in database.source.find()}
    for row in database["target.ledger"].find():
        one, of = row["_id"], row["of"]
        while (next_ := database["target.ledger"].find_one({"_id": of})) is not None:
            of = next_["of"]
        assert len(text[one] & text[of]) >= 0.8 * len(text[one] | text[of]), (one, of)


def naive_grams(text):
    return {text[at : at + 3] for at in range(len(text) - 2)}


@pytest.mark.standalone
@pytest.mark.parametrize("order", ["rising", "shuffled"])
@pytest.mark.parametrize(("limit", "most"), [(None, 64), (4, 64), (4, 2)])
def test_a_copy_is_replaced_only_by_one_that_its_whole_group_is_like(
    any_database, tmp_path, order, limit, most, monkeypatch
):
    texts = drifting(25)
    if order == "shuffled":
        random.Random(18).shuffle(texts)
    any_database.source.insert_many(
        {"_id": n, "text": text, "updated": n} for n, text in enumerate(texts)
    )
    flags = {**KEEP, **BY_SIMILARITY, "run__batch_documents": 3 if limit else 1000}
    monkeypatch.setattr("dedup_job.decision.decider.MOST_CANDIDATES", most)
    while sum(map(len, stored(any_database).values())) < len(texts):
        run_here(any_database, limit=limit, **flags)
        expect_alike(any_database)
    assert good(any_database, tmp_path, "--all") == {}
    kept = {row["text"] for row in any_database.target.find()}
    assert len(kept) > 2
    whole = {**flags, "run__batch_documents": 1000}
    run_here(any_database, target="twin", **whole)
    assert {row["text"] for row in any_database.twin.find()} == kept


def test_the_best_of_alike_versions_stays_in_any_order(any_database):
    text = drifting(1)[0]
    texts = [text[:at] + text[at + 1 :] for at in range(0, 60, 6)]
    for start in range(0, len(texts), 3):
        rows = enumerate(texts[start : start + 3], start)
        any_database.source.insert_many(
            {"_id": n, "text": t, "updated": -abs(n - 6)} for n, t in rows
        )
        run_here(any_database, run__batch_documents=2, **KEEP, **BY_SIMILARITY)
    assert [row["_id"] for row in any_database.target.find()] == [6]


def expect_best_kept(database, documents):
    """Each copy leads to the one that is kept in its group, by ones that are better each time."""
    kept = {row["_id"]: row for row in database.target.find()}
    dropped = {row["_id"]: row for row in database["target.ledger"].find()}
    assert {*kept, *dropped} == {d["_id"] for d in documents}
    assert not {*kept} & {*dropped}
    updated = {d["_id"]: d["updated"] for d in documents}
    heads = dict[int, set[int]]()
    for row in dropped.values():
        assert updated[row["_id"]] < updated[row["of"]]
        of = row["of"]
        while of in dropped:
            assert dropped[of]["kept_by"] == "newest:updated"
            assert dropped[of]["group"] == row["group"]
            of = dropped[of]["of"]
        heads.setdefault(row["group"], set()).add(of)
        assert kept[of]["dedup"].get("group", row["group"]) == row["group"]
    assert all(len(one) == 1 for one in heads.values())
    assert len({*map(tuple, heads.values())}) == len(heads)


def run_over(database, *nights, batch):
    """Run over documents that come night by night; return the last run."""
    for documents in nights:
        database.source.insert_many(documents)
        report = run_here(database, run__batch_documents=batch, **KEEP)
    return report


def test_undo_is_the_inverse_of_a_run_that_replaced_kept_copies(any_database):
    documents = versions(60)
    run_over(any_database, documents[:90], batch=20)
    before = stored(any_database)
    report = run_over(any_database, documents[90:], batch=20)
    after = without_runs(any_database)
    replaced = {d["_id"] for d in before["target"]} - {d["_id"] for d in after[0]}
    assert 0 < len(replaced) <= report.counts.replaced
    command(any_database, "undo", "2", "--yes")
    assert stored(any_database) == before
    assert any_database["target.runs"].count_documents({"chunk": {"$ne": None}}) == 0
    run_here(any_database, run__batch_documents=20, **KEEP)
    assert without_runs(any_database) == after


def test_a_dry_run_counts_replacements_as_a_run(database):
    documents = versions(60)
    for part in (documents[:80], documents[80:]):
        database.source.insert_many(part)
        dry = run_here(database, dry_run=True, **KEEP).counts
        assert dry.replaced > 0
        assert run_here(database, **KEEP).counts == dry


@pytest.mark.parametrize("rule", ["newest:updatd", "oldest:updatd.at", "order:updatd=a,b"])
def test_a_rule_that_looks_at_a_field_that_no_document_has_is_refused(database, rule):
    database.source.insert_many(versions(5))
    with pytest.raises(UsageError, match=rf"--keep {rule} looks at it; nearest: updated"):
        run_here(database, output__keep=[rule])
    assert database.list_collection_names() == ["source"]


def test_a_rule_may_look_at_a_field_that_few_documents_have(database):
    database.source.insert_many({"_id": i, "text": f"第 {i} 题"} for i in range(1100))
    database.source.update_one({"_id": 1050}, {"$set": {"meta": {"rare": 1}}})
    assert run_here(database, output__keep=["newest:meta.rare"]).counts.scanned == 1100


def test_values_of_any_kind_are_taken_and_the_best_stays(database):
    numbers = [3, 2.5, Int64(7), Decimal128("6.9")]
    values = [None, "n/a", float("nan"), *numbers, datetime(1931, 5, 1), []]
    text = versions(5)[0]["text"]
    rows = [{"_id": n, "text": text, "score": value} for n, value in enumerate(values)]
    database.source.insert_many([*rows, {"_id": 99, "text": text, "when": None}])
    run_here(database, output__keep=["highest:score"], run__batch_documents=2)
    assert [row["score"] for row in database.target.find()] == [7]
    run_here(database, target="old", output__keep=["oldest:when"], run__batch_documents=2)
    assert [row["_id"] for row in database.old.find()] == [0]
