"""What exists is replaced where --overwrite says so; a report of last night by that of tonight."""

from pathlib import Path

import pytest

from dedup_job.files import check_new
from dedup_job.messages import UsageError
from tests.running import invoke, refusal, uri_of

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
    of = ("--source", f"{database.name}.source", "--target", f"{database.name}.target")
    where = {"DEDUP_URI": uri_of(database), "DEDUP_LANG": language}
    for _ in range(2):
        done = invoke("run", *of, "--yes", "--report", report, "--html", page, **where)
        assert done.exit_code == 0, done.output
        assert invoke("check", *of, "--report", checked, **where).exit_code == 0


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
