"""`dedup run --config questions` cuts source notes off, counts them, and stops where it is text."""

import json

import pytest

from dedup_job.messages import RunAborted
from tests.proving import command, good
from tests.running import invoke, outcome, refusal, uri_of

MATERIAL = (
    "材料一 2019年，我国国内生产总值近百万亿元，同比增长6.1%。（资料来源：人民日报）\n"
    "材料二 居民收入稳步增长，消费成为经济增长的第一拉动力。\n"
    "资料来源：国家统计局\n来源：人民日报\n根据材料，下列说法正确的是\n"
    "A. 经济下行压力消失\nB. 居民收入下降\nC. 消费持续不振\nD. 我国经济稳中有进"
)
FUNCTION = "已知函数f(x)=x^2-2x，求f(x)在区间[0,3]上的最大值与最小值。"
NOTE = "来源：2019年高考"


def run(database, *more):
    names = ("--source", f"{database.name}.source", "--target", f"{database.name}.target")
    return ("run", "--config", "questions", *names, "--yes", *more)


@pytest.mark.standalone
def test_a_material_is_stored_whole_and_a_note_is_cut_off_and_counted(any_database, tmp_path):
    html = f"<p>{FUNCTION}</p><p>{NOTE}</p>"
    any_database.source.insert_many([{"_id": 1, "text": MATERIAL}, {"_id": 2, "text": html}])
    report, page = tmp_path / "report.json", tmp_path / "page.html"
    cut = {"documents": 1, "characters": len(f"\n{NOTE}")}
    for more in (["--dry-run"], ["--html", str(page)]):
        words = run(any_database, "--report", str(report), *more)
        invoke(*words, DEDUP_URI=uri_of(any_database))
        assert json.loads(report.read_text())["counts"]["cleaning"] == {"cut": cut}
    kept, _ = outcome(any_database)
    assert [row["text"] for row in kept] == [MATERIAL, FUNCTION]
    (row,) = any_database["target.runs"].find()
    assert row["counts"]["cleaning"] == {"cut": cut}
    said = command(any_database, "status")
    assert "11 characters of 1 document, at the markers of cleaning.cut_at" in said
    assert good(any_database, tmp_path) == {}
    cut_off = "Cut off at the markers of cleaning.cut_at: 11 characters of 1 documents."
    assert cut_off in page.read_text()


def test_a_marker_that_begins_lines_of_the_texts_stops_the_run_before_it_writes(database):
    texts = (f"第{i}题，甲乙相距{i * 37}米，几分钟相遇？\n{NOTE}" for i in range(300))
    database.source.insert_many({"text": text} for text in texts)
    for more in (["--dry-run"], []):
        stopped = refusal(*run(database, *more), DEDUP_URI=uri_of(database))
        assert isinstance(stopped, RunAborted)
        assert "of the characters of the last 300 texts were cut off" in str(stopped)
        assert "out of cleaning.cut_at" in str(stopped)
        assert database.target.count_documents({}) == 0
    invoke(*run(database), DEDUP_URI=uri_of(database), DEDUP_ABORT_IF__CUT="0.5")
    assert database.target.count_documents({}) == 300
