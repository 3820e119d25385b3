"""Pages, metrics and cut-off notes of `dedup run`; `dedup report`."""

import json
import re
import signal

import pytest

from dedup_job.cli.console import STOPPING
from dedup_job.demo import make_corpus
from dedup_job.messages import DedupError, RunAborted
from tests.proving import command, good, names, refused
from tests.report.test_metrics import text_string_to_metric_families
from tests.running import dedup, outcome, run_here, start_run, uri_of, wait_for_batches

MATERIAL = (
    "材料一 2019年，我国国内生产总值近百万亿元，同比增长6.1%。（资料来源：人民日报）\n"
    "材料二 居民收入稳步增长，消费成为经济增长的第一拉动力。\n"
    "资料来源：国家统计局\n来源：人民日报\n根据材料，下列说法正确的是\n"
    "A. 经济下行压力消失\nB. 居民收入下降\nC. 消费持续不振\nD. 我国经济稳中有进"
)
FUNCTION = "已知函数f(x)=x^2-2x，求f(x)在区间[0,3]上的最大值与最小值。"
NOTE = "来源：2019年高考"


RUN = ("run", "--source", "source", "--yes")


def test_a_page_is_written_and_its_size_is_said(database, tmp_path):
    database.source.insert_many(make_corpus(300, seed=5))
    run_here(database)
    file = tmp_path / "report.html"
    output = command(database, "report", "--html", str(file), DEDUP_LANG="zh")
    assert f"{file}：0." in output
    page = file.read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert 'data-language="zh"' in page
    assert file.stat().st_size < 3_000_000


def test_a_run_and_a_dry_run_write_the_same_figures_and_pairs(database, tmp_path):
    database.source.insert_many(make_corpus(400, seed=5))
    files = [tmp_path / "dry.html", tmp_path / "run.html"]
    for file, more in zip(files, (["--dry-run"], []), strict=True):
        command(database, *RUN, *more, "--html", str(file))
    dry, run = (file.read_text(encoding="utf-8") for file in files)
    assert "Dry run: nothing was written" in dry
    for figure in (r"<dd>([^<]*)</dd>", r'"similarities": \{[^}]*\}'):
        assert re.findall(figure, dry) == re.findall(figure, run)
    assert "dedup restore" not in dry.split('id="further"')[0]


def test_a_page_that_fails_in_the_end_leaves_the_run_and_its_metrics_done(
    database, tmp_path, monkeypatch
):
    def full(*_):
        raise DedupError("the page r.html cannot be written: No space left on device.")

    monkeypatch.setattr("dedup_job.cli.listing.write_page", full)
    database.source.insert_many(make_corpus(100, seed=5))
    files = ["--html", str(tmp_path / "r.html"), "--metrics-file", str(tmp_path / "m.prom")]
    assert str(refused(database, *RUN, *files)).startswith(
        "the run is done, but the page r.html cannot be written"
    )
    name = f'{{target="{database.name}.target"}}'
    assert f"dedup_last_success_timestamp_seconds{name} " in (tmp_path / "m.prom").read_text()


def values(file):
    """Return the values of a file of metrics, of those by decision the sum."""
    found = {}
    for family in text_string_to_metric_families(file.read_text()):
        for sample in family.samples:
            found[sample.name] = found.get(sample.name, 0) + sample.value
    return found


def test_metrics_of_a_run_and_of_one_that_fails_after_it(database, tmp_path):
    database.source.insert_many(make_corpus(200, seed=2))
    file = tmp_path / "dedup.prom"
    options = ("--metrics-file", str(file))
    command(database, *RUN, *options)
    done = values(file)
    scanned = database.source.count_documents({})
    assert done["dedup_documents_total"] == scanned
    assert done["dedup_last_run_exit_code"] == 0

    database["target.state"].update_one({}, {"$set": {"source": "other.source"}})
    assert refused(database, *RUN, *options).code == 6
    failed = values(file)
    before, after = (x["dedup_last_success_timestamp_seconds"] for x in (done, failed))
    assert before - 30 < after < before + 0.5  # as the target has it, a moment before the file
    assert failed["dedup_last_run_exit_code"] == 6
    assert failed["dedup_documents_total"] == scanned


def test_a_dry_run_writes_no_metrics(database, tmp_path):
    database.source.insert_one({"text": "一道题目"})
    file = tmp_path / "x.prom"
    words = names(database, *RUN, "--dry-run", "--metrics-file", str(file))
    result = dedup(*words, uri=uri_of(database))
    assert (result.returncode, "a dry run writes no metrics" in result.stderr) == (0, True)
    assert not file.exists()


def test_a_run_that_is_stopped_says_so_in_its_metrics(database, tmp_path):
    database.source.insert_many(make_corpus(2000, seed=2))
    file = tmp_path / "dedup.prom"
    process = start_run(database, "target", "--metrics-file", str(file))
    wait_for_batches(database, "target", 40)
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 128 + signal.SIGTERM
    assert process.output.count(STOPPING) == 1
    found = values(file)
    assert found["dedup_last_run_exit_code"] == 143
    row = database["target.runs"].find_one({"_id": 1}) or {}
    assert (row["status"], found["dedup_documents_total"]) == ("stopped", row["counts"]["scanned"])
    assert "dedup_last_success_timestamp_seconds" not in found


OF_QUESTIONS = (*RUN, "--config", "questions")


@pytest.mark.standalone
def test_a_material_is_stored_whole_and_a_note_is_cut_off_and_counted(any_database, tmp_path):
    html = f"<p>{FUNCTION}</p><p>{NOTE}</p>"
    any_database.source.insert_many([{"_id": 1, "text": MATERIAL}, {"_id": 2, "text": html}])
    report, page = tmp_path / "report.json", tmp_path / "page.html"
    cut = {"documents": 1, "characters": len(f"\n{NOTE}")}
    for more in (["--dry-run"], ["--html", str(page)]):
        command(any_database, *OF_QUESTIONS, "--report", str(report), *more)
        assert json.loads(report.read_text())["counts"]["cleaning"] == {"cut": cut}
    kept, _ = outcome(any_database)
    assert [row["text"] for row in kept] == [MATERIAL, FUNCTION]
    (row,) = any_database["target.runs"].find()
    assert row["counts"]["cleaning"] == {"cut": cut}
    output = command(any_database, "status")
    assert "11 characters of 1 document, at the markers of cleaning.cut_at" in output
    assert good(any_database, tmp_path) == {}
    cut_off = "Cut off at the markers of cleaning.cut_at: 11 characters of 1 documents."
    assert cut_off in page.read_text()


def test_a_marker_that_begins_lines_of_the_texts_stops_the_run_before_it_writes(database):
    texts = (f"第{i}题，甲乙相距{i * 37}米，几分钟相遇？\n{NOTE}" for i in range(300))
    database.source.insert_many({"text": text} for text in texts)
    for more in (["--dry-run"], []):
        stopped = refused(database, *OF_QUESTIONS, *more)
        assert isinstance(stopped, RunAborted)
        assert "of the characters of the last 300 texts were cut off" in str(stopped)
        assert "out of cleaning.cut_at" in str(stopped)
        assert database.target.count_documents({}) == 0
    command(database, *OF_QUESTIONS, DEDUP_ABORT_IF__CUT="0.5")
    assert database.target.count_documents({}) == 300
