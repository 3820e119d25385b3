"""Differences of duplicates and nearest candidates of kept documents are stored and counted."""

from dedup_job.judgment import PARTS, DifferenceKind
from tests.proving import good
from tests.running import outcome, run_here

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
