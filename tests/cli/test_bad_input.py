"""Errors of the user: a message without a traceback, the exit code, nothing changed or overwritten.

A file that exists is replaced by --overwrite alone; a report of last night by that of tonight.
"""

import json
import time
from pathlib import Path

import pytest

from dedup_job.files import check_new
from dedup_job.messages import UsageError
from tests.proving import command, names, refused, stored
from tests.running import dedup, invoke, refusal, run_here, uri_of

SECRET = "s3cr3t"


@pytest.fixture
def filled(database):
    database.source.insert_many([{"_id": i, "text": f"第{i}段不同的正文内容"} for i in range(20)])
    return database


def test_an_unreachable_server_ends_with_5_after_the_time_that_the_uri_gives():
    start = time.monotonic()
    wait = "serverSelectionTimeoutMS=2000"  # 20 s by default
    uri = f"mongodb://someone:{SECRET}@127.0.0.1:9/?authSource=admin&{wait}"
    result = dedup("run", "--db", "d", "--source", "a", "--target", "b", uri=uri)
    assert result.returncode == 5, result.stderr
    for word in ("does not answer", "127.0.0.1:9", "the same command"):
        assert word in result.stderr
    assert "Traceback" not in result.stderr
    assert SECRET not in result.stderr + result.stdout
    assert time.monotonic() - start < 30


@pytest.mark.parametrize(
    ("source", "more"),
    [("sorce", ()), ("part", ()), ("source", ("--query", '{"a": {"$nope": 1}}'))],
)
def test_a_source_or_query_that_cannot_be_read_changes_nothing(filled, source, more):
    filled.command("create", "part", viewOn="source", pipeline=[])
    before = stored(filled)
    assert refused(filled, "run", "--source", source, *more).code == 2
    assert stored(filled) == before


@pytest.mark.parametrize(
    "stranger",
    [
        {"text": "x"},
        {"text": "x", "dedup": {"run": 1}},
        {"text": "x", "dedup": {"fingerprint": "12", "run": 1}},
        {"text": "x", "dedup": {"fingerprint": True, "run": 1}},
        {"text": 5, "dedup": {"fingerprint": 12, "run": 1}},
        {"dedup": {"fingerprint": 12, "run": 1}},
    ],
)
def test_documents_of_the_target_without_text_or_fingerprint_are_counted_and_named(
    filled, stranger
):
    run_here(filled)
    filled.target.insert_many([{"_id": f"by hand {i}", **stranger} for i in range(7)])
    filled.source.insert_one({"_id": 99, "text": "新的"})
    error = refused(filled, "run", "--source", "source")
    for words in ("7 documents that dedup did not write", "by hand 4", ", ..."):
        assert words in str(error)
    assert (error.code, "by hand 5" in str(error)) == (6, False)


def test_quarantined_documents_end_with_3_and_the_report_counts_them(filled, tmp_path):
    from tests.faults.bad_document_kinds import not_utf_8

    filled.get_collection("source").insert_one(not_utf_8(1000))
    file = tmp_path / "report.json"
    words = names(filled, "run", "--source", "source", "--report", str(file))
    result = dedup(*words, uri=uri_of(filled))
    assert result.returncode == 3, result.stderr
    report = json.loads(file.read_text())
    assert report["counts"]["quarantined"] == 1
    assert report["counts"]["kept"] == 20
    assert "list --what quarantined --run 1" in result.stdout


def test_names_without_a_database_are_refused(replica_set):
    error = refusal("run", "--source", "a", "--target", "b", DEDUP_URI=replica_set)
    assert (error.code, "names no database" in str(error), "--db" in str(error)) == (2, True, True)


def test_a_query_nested_too_deep_is_refused_in_a_short_message():
    names, deep = ("--source", "d.a", "--target", "d.b"), '{"a":' * 20_000 + "1" + "}" * 20_000
    by_option = refusal("run", *names, "--query", deep)
    by_variable = refusal("run", *names, DEDUP_SOURCE__QUERY=deep)
    for error, name in ((by_option, "--query"), (by_variable, "source.query")):
        assert error.code == 2
        assert f"{name}: not valid extended JSON" in str(error)
        assert len(str(error)) < 300


def test_a_report_is_refused_where_the_working_folder_is_gone(tmp_path, monkeypatch):
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    for words in (
        ("run", "--source", "d.a", "--target", "d.b", "--report", "r.json"),
        ("config", "validate", "c.toml"),
    ):
        error = refusal(*words)
        assert error.code == 2
        assert "No such file or directory" in str(error)


def test_a_dotted_name_beside_db_is_read_as_one_with_its_database_and_that_is_said(filled):
    error = refused(filled, "run", "--source", "questions.v2")
    assert "the part before the first dot is the database" in str(error)


MINE = '{"text": "mine"}\n'
NS = ("--source", "d.source", "--target", "d.target")
TARGET = ("--target", "d.target")


@pytest.mark.parametrize(
    "words",
    [
        ("file", "in.jsonl", "FILE"),
        ("file", "in.jsonl", "out.jsonl", "--ledger", "FILE"),
        ("file", "in.jsonl", "out.jsonl", "--report", "FILE"),
        ("run", *NS, "--report", "FILE"),
        ("run", *NS, "--html", "FILE"),
        ("run", *NS, "--dry-run", "--html", "FILE"),
        ("check", *NS, "--report", "FILE"),
        ("report", *TARGET, "--html", "FILE"),
        ("review", *TARGET, "--export", "FILE"),
        ("learn", *TARGET, "--out", "FILE"),
        ("config", "init", "FILE"),
    ],
)
def test_a_file_that_exists_is_refused_before_anything_is_read(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.jsonl").write_text(MINE)
    refused = refusal(*(w.replace("FILE", "mine.jsonl") for w in words), DEDUP_URI="mongodb://x:1")
    assert isinstance(refused, UsageError)
    assert "mine.jsonl exists" in str(refused)
    assert "--overwrite" in str(refused)
    assert [path.read_text() for path in tmp_path.iterdir()] == [MINE]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_command_of_a_cron_line_goes_on_night_after_night(database, tmp_path, language):
    database.source.insert_many({"_id": n, "text": f"第{n}道不同的题目"} for n in range(9))
    names = [tmp_path / name for name in ("r.json", "p.html", "c.json")]
    report, page, checked = map(str, names)
    of = ("--source", "source", "--report")
    for _ in range(2):
        command(database, "run", *of, report, "--yes", "--html", page, DEDUP_LANG=language)
        command(database, "check", *of, checked, DEDUP_LANG=language)


def test_overwrite_replaces_it(tmp_path):
    (tmp_path / "in.jsonl").write_text('{"text": "一道题目"}\n')
    (tmp_path / "out.jsonl").write_text(MINE)
    files = (str(tmp_path / name) for name in ("in.jsonl", "out.jsonl"))
    assert invoke("file", *files, "--overwrite").exit_code == 0
    assert "一道题目" in (tmp_path / "out.jsonl").read_text("utf-8")


@pytest.mark.parametrize(
    "content", ['{"run": 5, "name": "mine"}', "<!doctype html><title>mine", "notes: run 4", "{"]
)
def test_what_only_looks_like_a_report_is_no_report(content, tmp_path):
    (tmp_path / "mine").write_text(content)
    with pytest.raises(UsageError, match="exists"):
        check_new("--report", tmp_path / "mine", overwrite=False, again=True)


def test_an_empty_file_and_a_device_hold_nothing(tmp_path):
    (tmp_path / "empty").touch()
    for file in (tmp_path / "empty", Path("/dev/null")):
        check_new("OUT", file, overwrite=False)
