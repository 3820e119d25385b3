"""The promises of README.md, each as a user meets it: runs against a real server."""

import datetime as dt
import signal

import pytest
from bson import Binary, Decimal128, Int64, ObjectId
from bson.raw_bson import RawBSONDocument

import dedup_job
from dedup_job.demo import make_corpus, score
from tests.running import (
    assert_each_source_id_is_in_one_place,
    dedup,
    held_elsewhere,
    scanned,
    start_run,
    uri_of,
    wait_for_batches,
)

WATER = "水是生命之源，地球上的一切生命都离不开水，人体的百分之七十也是由水组成的。"
FIRE = "火的使用是人类文明的开端，人们用火取暖、烹煮食物、驱赶野兽，也用火冶炼金属。"
ODD = [
    {"_id": "no text"},
    {"_id": Int64(1) << 40, "text": None},
    {"_id": ObjectId("0123456789abcdef01234567"), "text": 42},
    {"_id": {"a": 1}, "text": ["水", {"b": "火"}]},
    {"_id": Binary(b"\x00\xff"), "text": "<p> </p>"},
    {"_id": dt.datetime(2024, 2, 29), "text": "短"},
    {"_id": Decimal128("1.10"), "text": Binary(b"\xff\xfe")},
    {"_id": None, "text": "题" * 5000},
]


# Nothing is lost.


def test_every_document_is_in_the_target_or_in_the_ledger_and_in_one_only(job):
    made = job(make_corpus(500) + ODD)
    made.run(source__max_chars=1000)
    assert_each_source_id_is_in_one_place(made.database)
    reasons = made.database["target.ledger"].distinct("reason")
    assert {*reasons} == {"exact", "near", "empty", "missing", "not_text", "too_large"}


def test_the_source_is_only_read(job):
    made = job(make_corpus(200) + ODD)
    before = made.stored("source")
    made.run(source__max_chars=1000)
    assert made.dedup("undo", "1", "--yes").returncode == 0
    assert made.stored("source") == before


def test_a_kept_document_is_a_copy_byte_for_byte_with_one_field_more(job):
    odd = {"_id": 1, "n": Int64(5), "text": f"<p>{WATER}</p>", "x": [Decimal128("1.10"), None]}
    made = job([odd, *make_corpus(100)[1:]])
    made.run()
    source = {RawBSONDocument(raw)["_id"]: raw for raw in made.stored("source")["source"]}
    kept = made.stored("target")["target"]
    assert len(kept) > 50
    for raw in kept:
        *fields, last = RawBSONDocument(raw)
        original = source[RawBSONDocument(raw)["_id"]]
        assert raw[4:].startswith(original[4:-1])  # all but the length and the last byte
        assert (fields, last) == ([*RawBSONDocument(original)], "dedup")


def test_a_kept_document_holds_the_cleaned_text_if_that_is_asked_for(job):
    made = job([f"<p>{WATER}</p>"])
    made.run(output__text="cleaned")
    assert made.kept[1]["text"] == WATER


# You can stop it at any moment.


@pytest.mark.parametrize(
    ("stop", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGKILL, -9)],
)
def test_a_stopped_or_killed_run_started_again_has_the_result_of_an_undisturbed_one(
    job, stop, code
):
    made = job(make_corpus(2000, seed=2))
    process = start_run(made.database, "target", DEDUP_RUN__MAX_RATE="1000")
    wait_for_batches(made.database, "target", 40)
    process.send_signal(stop)
    assert process.wait(60) == code
    assert 0 < scanned(made.database) < 2000
    made.run()
    made.run(target="undisturbed")
    for part in ("", ".ledger"):
        stored = made.stored(f"target{part}", f"undisturbed{part}")
        assert stored[f"target{part}"] == stored[f"undisturbed{part}"]
    assert_each_source_id_is_in_one_place(made.database)


def test_a_second_run_decides_only_new_documents(job):
    made = job([WATER, FIRE])
    assert made.run().counts.scanned == 2
    before = made.stored("target", "target.ledger")
    assert made.run().counts.scanned == 0
    assert made.stored("target", "target.ledger") == before
    made.add([f"<b>{WATER}</b>"])
    made.database.source.insert_one({"_id": 0, "text": "后来的文档，编号却更小。"})
    second = made.run()
    assert (second.counts.scanned, second.known) == (2, 2)
    assert ([*made.kept], made.dropped[3]["of"]) == ([0, 1, 2], 1)


def test_neither_threads_nor_the_size_of_a_batch_change_a_decision(job):
    made = job(make_corpus(400))
    made.run(run__threads=1, run__batch_documents=1000)
    made.run(run__threads=4, run__batch_documents=7, target="other")
    stored = made.stored("target", "other", "target.ledger", "other.ledger")
    assert stored["target"] == stored["other"]
    assert stored["target.ledger"] == stored["other.ledger"]


# Duplicates are found, and no innocent is dropped.


@pytest.mark.parametrize(
    ("copy", "reason"),
    [
        (WATER, "exact"),
        (f"<div>水是<b>生命</b>之源，{WATER[7:]}</div>", "exact"),
        (f"{WATER}（见教材）", "near"),
        (WATER.replace("，", ","), "near"),
    ],
    ids=["equal", "other markup", "a note", "other commas"],
)
def test_a_copy_is_a_duplicate_of_the_first_one(job, copy, reason):
    made = job([WATER, FIRE, copy])
    made.run()
    (row,) = made.dropped.values()
    assert (row["_id"], row["of"], row["reason"]) == (3, 1, reason)


@pytest.mark.parametrize(
    "text",
    [
        WATER.replace("七十", "六十"),
        WATER.replace("离不开", "离得开"),
        WATER.replace("水", "火"),
        WATER[: len(WATER) // 2],
    ],
    ids=["another number", "a negation", "another thing", "half of it"],
)
def test_a_text_that_says_something_else_is_kept(job, text):
    made = job([WATER, FIRE, text])
    made.run()
    assert [*made.kept] == [1, 2, 3]


def test_of_labelled_documents_no_innocent_is_dropped_and_most_copies_are_found(job):
    corpus = make_corpus(2000, seed=4)
    made = job(corpus)
    made.run()
    decided = {id_: ["kept"] for id_ in made.kept}
    decided |= {id_: [row["decision"]] for id_, row in made.dropped.items()}
    for row in score(corpus, decided):
        assert row.found >= row.planted * (0.9 if row.kind.expected == "duplicate" else 1), row


# Each drop is explained.


def test_each_dropped_document_names_the_kept_one_and_the_differences(job):
    made = job([WATER, f"{WATER}（见教材）", ""])
    made.run()
    near, empty = made.dropped[2], made.dropped[3]
    assert (near["decision"], near["of"], near["reason"]) == ("duplicate", 1, "near")
    assert near["probability"] > 0.9
    assert "见教材" in str(near["differences"])
    assert (empty["decision"], empty["reason"]) == ("skipped", "empty")
    assert "见教材" in made.dedup("list", "--what", "near").stdout
    assert "duplicate: near" in made.dedup("inspect", "2").stdout


def test_a_check_finds_a_document_that_was_lost_from_the_target(job):
    made = job([WATER, FIRE, WATER])
    made.run()
    assert made.dedup("check").returncode == 0
    made.database.target.delete_one({"_id": 1})
    assert made.dedup("check").returncode == 6


# Everything can be taken back.


def test_undo_restores_target_and_ledger_byte_for_byte(job):
    made = job(make_corpus(300, seed=8))
    made.run()
    before = made.stored("target", "target.ledger")
    made.add(d | {"_id": f"late {d['_id']}"} for d in make_corpus(300, seed=9))
    made.run()
    assert made.stored("target", "target.ledger") != before
    for number, expected in ((2, before), (1, {"target": [], "target.ledger": []})):
        assert made.dedup("undo", str(number), "--yes").returncode == 0
        assert made.stored("target", "target.ledger") == expected


def test_a_restored_document_is_the_source_document_byte_for_byte(job):
    made = job([WATER, f"<p>{WATER}</p>"])
    made.run()
    assert made.dedup("restore", "2").returncode == 0
    assert ([*made.kept], made.dropped) == ([1, 2], {})
    stored = made.stored("source", "target")
    assert stored["target"][1][4:].startswith(stored["source"][1][4:-1])
    assert made.run().counts.scanned == 0  # it stays


# Commands.


def test_a_dry_run_has_the_counts_of_a_run_and_writes_only_a_page(job, tmp_path):
    made = job(make_corpus(300))
    page = tmp_path / "page.html"
    assert made.dedup("run", "--dry-run", "--html", str(page)).returncode == 0
    assert "<html" in page.read_text(encoding="utf-8")
    dry = made.run(dry_run=True)
    assert made.database.list_collection_names() == ["source"]
    assert dry.counts == made.run().counts


def test_a_run_without_names_prints_the_command_to_copy_and_writes_nothing(job):
    made = job([WATER, FIRE])
    ended = dedup("run", "--db", made.database.name, uri=uri_of(made.database))
    assert ended.returncode == 2
    assert f"dedup run --source {made.database.name}.source --target" in ended.stderr
    assert made.database.list_collection_names() == ["source"]


UNREACHABLE = "mongodb://127.0.0.1:9/?serverSelectionTimeoutMS=200"


@pytest.mark.parametrize(
    ("code", "words", "environment"),
    [
        (0, (), {}),
        (2, ("--limit", "many"), {}),
        (3, (), {"DEDUP_SOURCE__MAX_CHARS": "30"}),
        (5, (), {"DEDUP_URI": UNREACHABLE, "DEDUP_RUN__RETRY_FOR": "0"}),
    ],
)
def test_the_exit_code_tells_how_a_run_ended(job, code, words, environment):
    made = job([WATER, FIRE, WATER])
    ended = made.dedup("run", "--yes", *words, **environment)
    assert ended.returncode == code, ended.stderr


def test_a_second_run_at_the_same_time_ends_with_11_and_other_settings_with_6(job):
    made = job([WATER, FIRE])
    made.run(limit=1)
    ended = made.dedup("run", "--yes", DEDUP_DECISION__CONFIDENCE="0.99")
    assert (ended.returncode, "confidence" in ended.stderr) == (6, True)
    held_elsewhere(made.database)
    assert made.dedup("run", "--yes").returncode == 11
    assert [*made.kept] == [1]


def test_texts_are_deduplicated_without_a_database_as_well():
    outcomes = dedup_job.deduplicate([WATER, f"<p>{WATER}</p>", FIRE])
    assert [one.decision for one in outcomes] == ["kept", "duplicate", "kept"]
