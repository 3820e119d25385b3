"""The whole job on real servers, against the naive version.

Documents that are hard to read: tests/faults/test_bad_documents.py.
"""

import datetime as dt

import pytest
from bson import Decimal128, Int64, ObjectId

from dedup_job.cleaning import Cleaner
from dedup_job.demo import make_corpus
from dedup_job.judgment import PARTS, DifferenceKind
from dedup_job.mongo.target import Target
from tests.deciding import PLAIN
from tests.proving import good
from tests.reference.recipe import naive_decide
from tests.running import (
    assert_each_source_id_is_in_one_place,
    invoke,
    outcome,
    run_here,
    uri_of,
)


def questions(n, first=0):
    return [
        {"_id": i, "text": f"第{i}号文件只有这一句话，编号是{i * 7919}。"}
        for i in range(first, first + n)
    ]


@pytest.mark.standalone
@pytest.mark.parametrize("threads", [1, 4])
def test_by_fingerprint_alone_kept_set_and_ledger_equal_those_of_the_naive_version(
    any_database, threads
):
    corpus = make_corpus(300, seed=3)
    any_database.source.insert_many(corpus)
    run_here(any_database, run__threads=threads, run__batch_documents=49, **PLAIN)
    kept, ledger = outcome(any_database)
    pairs = [(d["_id"], d.get("text")) for d in corpus]
    naive_kept, naive_ledger = naive_decide(pairs, Cleaner().clean)
    assert [row["_id"] for row in kept] == naive_kept
    assert {
        row["_id"]: (row["decision"], row["of"], row["distance"], row["reason"]) for row in ledger
    } == naive_ledger
    assert_each_source_id_is_in_one_place(any_database)


def test_a_kept_document_is_the_source_document_and_dedup(database):
    source = {
        "_id": ObjectId(),
        "n": Int64(5),
        "text": "<p>水的化学式是H<sub>2</sub>O，它由氢和氧两种元素组成。</p>",
        "price": Decimal128("1.10"),
        "when": dt.datetime(2024, 2, 29, 12, 0),
        "tags": ["a", {"b": None}],
    }
    database.source.insert_one(source)
    run_here(database)
    (kept,), _ = outcome(database)
    dedup = kept.pop("dedup")
    assert kept == source
    assert list(kept) == list(source)
    assert set(dedup) == {"fingerprint", "run"}
    assert isinstance(dedup["fingerprint"], Int64)
    assert dedup["run"] == 1


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("whole", {"_id": 1, "a": {"x": 1, "b": "<b>正文</b>在子文档里面", "y": 2}, "d": 3}),
        ("text", {"_id": 1, "a": {"b": "<b>正文</b>在子文档里面"}}),
    ],
)
def test_a_dotted_field_is_nested_in_both_forms(database, form, expected):
    source = {"_id": 1, "a": {"x": 1, "b": "<b>正文</b>在子文档里面", "y": 2}, "d": 3}
    database.source.insert_one(source)
    run_here(database, source__field="a.b", output__document=form)
    (kept,), _ = outcome(database)
    assert kept.pop("dedup")["run"] == 1
    assert (kept, list(kept)) == (expected, list(expected))


def test_the_classic_form_has_its_four_fields_and_can_be_run_again(database):
    database.source.insert_many(
        [{"_id": i, "ques": d["text"]} for i, d in enumerate(questions(20))]
    )
    flags = {"source__field": "ques", "output__document": "classic"}
    run_here(database, **flags)
    kept, _ = outcome(database)
    assert all(list(row) == ["_id", "ques", "old_id", "hash_value"] for row in kept)
    again = run_here(database, **flags)
    assert again.checkpoint.counts.scanned == 0


@pytest.mark.parametrize("form", ["whole", "text", "classic"])
def test_decisions_are_the_same_whether_the_original_or_the_cleaned_text_is_stored(
    any_database, tmp_path, form
):
    flags = {"source__field": "a.b", "output__document": form, "index__folder": str(tmp_path)}
    for seed in (3, 4):
        any_database.source.insert_many(
            {"_id": f"{seed} {d['_id']}", "a": {"b": f"<p> {d['text']}&nbsp;</p>"}}
            for d in make_corpus(300, seed=seed)
            if isinstance(d.get("text"), str)
        )
        for text in ("original", "cleaned"):
            run_here(any_database, target=text, output__text=text, **flags)
    (kept, ledger), (cleaned, dropped) = (outcome(any_database, t) for t in ("original", "cleaned"))
    assert ledger == dropped
    source = {d["_id"]: d["a"] for d in any_database.source.find()}
    for one, other in zip(kept, cleaned, strict=True):
        text = {"b": one.pop("ques")} if form == "classic" else one.pop("a")
        assert text == source[one["_id"]]
        del other["ques" if form == "classic" else "a"]
    assert len(kept) > 100
    assert kept == cleaned


def test_batches_are_bounded_by_bytes_for_all_sizes_of_documents(any_database, monkeypatch):
    """Forty documents of 1 MB and three of nearly 16 MiB; the limit is passed by one at most."""
    most = 16 * 1024 * 1024
    for i in range(40):
        any_database.source.insert_one(
            {"_id": i, "text": f"第{i}篇大文章", "blob": b"x" * 1_000_000}
        )
    for i in range(40, 43):
        blob = b"x" * (most - 1000)
        any_database.source.insert_one({"_id": i, "text": f"第{i}篇巨大的文章", "blob": blob})
    sizes = []
    write = Target.write

    def watched(target, batch, *rest):
        sizes.append([len(d.raw) for d in batch.documents])
        write(target, batch, *rest)

    monkeypatch.setattr(Target, "write", watched)
    report = run_here(any_database)
    assert report.checkpoint.counts.kept == 43
    assert all(sum(batch[:-1]) < most for batch in sizes)
    assert len(sizes) <= 7
    assert_each_source_id_is_in_one_place(any_database)
    monkeypatch.undo()
    assert run_here(any_database).checkpoint.counts.scanned == 0


def test_an_index_that_cannot_be_kept_costs_a_warning(any_database, tmp_path, caplog):
    any_database.source.insert_many(make_corpus(50))
    (tmp_path / "file").touch()
    run_here(any_database, index__folder=str(tmp_path / "file"))
    assert "the index cannot be kept in" in caplog.text
    assert_each_source_id_is_in_one_place(any_database)


def test_the_run_row_and_the_state_record_the_run(any_database):
    any_database.source.insert_many(make_corpus(200))
    report = run_here(any_database)
    row = any_database["target.runs"].find_one({"_id": 1})
    assert row is not None
    times = ("started", "finished", "seconds")
    assert all(row[name] is not None for name in (*times, "settings", "versions", "rates"))
    assert row["status"] == "done"
    assert row["counts"] == report.checkpoint.counts.as_dict()
    assert "connection" not in row["settings"]
    (state,) = any_database["target.state"].find()
    assert state["lease"] is None
    assert state["checkpoint"]["finished"] is True
    assert state["token"] == 1


def test_short_texts_are_duplicates_only_if_equal(database):
    texts = ["1+1=?", "1+2=?", "若a>0，则", "1+1=?", "<b>1+1=?</b>", "若a<0，则"]
    database.source.insert_many([{"_id": i, "text": t} for i, t in enumerate(texts)])
    report = run_here(database)
    kept, ledger = outcome(database)
    assert [row["_id"] for row in kept] == [0, 1, 2, 5]
    assert [(row["_id"], row["of"], row["reason"]) for row in ledger] == [
        (3, 0, "exact"),
        (4, 0, "exact"),
    ]
    counts = report.checkpoint.counts
    assert (counts.short_kept, counts.short_duplicate) == (4, 2)


@pytest.mark.parametrize("preference", ["secondary", "nearest"])
def test_a_read_preference_is_for_the_source_alone(any_database, preference):
    any_database.source.insert_many([{"_id": i, "text": f"第{i % 4}段正文"} for i in range(8)])
    uri = f"{uri_of(any_database)}&readPreference={preference}"
    for count in (4, 8):
        run_here(any_database, connection__uri=uri, limit=4)
        decided = any_database.target.count_documents({})
        assert decided + any_database["target.ledger"].count_documents({}) == count
    names = ("--db", any_database.name, "--source", "source", "--target", "target")
    assert "is good" in invoke("check", *names, DEDUP_URI=uri).stdout


STEM = "某校共有学生{}人，其中女生占一半，求男生的人数是多少？请写出解答过程并说明理由。"
TEXTS = {
    1: STEM.format(120),
    2: STEM.format(360),
    3: f"5．（3分）{STEM.format(120)}",
    4: STEM.format(120),
    5: "全然不同的一句话，与别的题目没有任何关系，也没有相同的字词。",
}


def fill(database):
    database.source.insert_many({"_id": i, "text": text} for i, text in TEXTS.items())


def test_a_near_duplicate_names_its_differences_and_a_kept_document_its_nearest(
    any_database, tmp_path
):
    fill(any_database)
    report = run_here(any_database)
    kept, ledger = outcome(any_database)
    refused = {row["_id"]: row["dedup"].get("refused") for row in kept}
    assert refused[1] is None
    assert refused[5] is None
    assert refused[2]["of"] == 1
    assert 0.5 < refused[2]["similarity"] < 1
    assert refused[2]["class"] == "number"
    assert "probability" not in refused[2]  # a guard keeps it apart, whatever it were
    near, exact = ledger
    assert (near["_id"], near["of"], near["reason"]) == (3, 1, "near")
    assert near["probability"] == 0.999  # its points are left out
    assert near["differences"]
    for one in near["differences"]:
        assert set(one) == {"class", "in", "of", "text"}
        assert one["class"] in {*DifferenceKind}
        assert one["in"] in PARTS
        assert max(len(one["of"]), len(one["text"])) <= 40
    assert exact["_id"] == 4
    assert {"differences", "probability"} & {*exact} == set()
    counts = report.checkpoint.counts
    assert counts.refused == {refused[2]["class"]: 1}
    good(any_database, tmp_path, "--all")


def test_by_similarity_a_kept_document_names_its_nearest(database):
    database.source.insert_many([{"_id": 1, "text": TEXTS[1]}, {"_id": 2, "text": TEXTS[1][:33]}])
    run_here(database, decision__judge="similarity")
    kept, ledger = outcome(database)
    assert ledger == []
    assert kept[1]["dedup"]["refused"]["class"] == "similarity"
    assert "probability" not in kept[1]["dedup"]["refused"]


def test_an_id_too_long_to_be_named_is_left_out(database):
    """The document that names it must still fit."""
    long = "x" * 1500
    database.source.insert_many([{"_id": long, "text": TEXTS[1]}, {"_id": "y", "text": TEXTS[2]}])
    run_here(database)
    kept, _ = outcome(database)
    assert len(kept) == 2
    assert all("refused" not in row["dedup"] for row in kept)
