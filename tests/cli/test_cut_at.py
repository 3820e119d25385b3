"""`dedup run --config questions` cuts source notes off, counts them, and stops where it is text."""

import json

import pytest

from dedup_job.messages import RunAborted
from tests.running import invoke, outcome, refusal, uri_of

MATERIAL = (
    "材料一 2019年，我国国内生产总值近百万亿元，同比增长6.1%。（资料来源：人民日报）\n"
    "材料二 居民收入稳步增长，消费成为经济增长的第一拉动力。\n"
    "资料来源：国家统计局\n来源：人民日报\n根据材料，下列说法正确的是\n"
    "A. 经济下行压力消失\nB. 居民收入下降\nC. 消费持续不振\nD. 我国经济稳中有进"
)
FUNCTION = "已知函数f(x)=x^2-2x，求f(x)在区间[0,3]上的最大值与最小值。"
NOTE = "来源：2019年高考"


def marked(number):
    """Return a question with a note."""
    return {"_id": number, "text": f"第{number}题，甲乙相距{number * 37}米，几分钟相遇？\n{NOTE}"}


def run(database, *more):
    """Return the arguments of a run with the preset."""
    names = ("--db", database.name, "--source", "source", "--target", "target")
    return ("run", "--config", "questions", *names, "--yes", *more)


@pytest.mark.standalone
def test_a_material_is_stored_whole_and_a_note_is_cut_off_and_counted(any_database, tmp_path):
    html = f"<p>{FUNCTION}</p><p>{NOTE}</p>"
    any_database.source.insert_many([{"_id": 1, "text": MATERIAL}, {"_id": 2, "text": html}])
    file = tmp_path / "report.json"
    cut = {"documents": 1, "characters": len(f"\n{NOTE}")}
    for more in (["--dry-run"], []):
        done = invoke(
            *run(any_database, "--report", str(file), *more), DEDUP_URI=uri_of(any_database)
        )
        assert done.exit_code == 0, done.output
        assert json.loads(file.read_text())["counts"]["cleaning"] == {"cut": cut}
    kept, _ = outcome(any_database)
    assert [row["text"] for row in kept] == [MATERIAL, FUNCTION]
    (row,) = any_database["target.runs"].find()
    assert row["counts"]["cleaning"] == {"cut": cut}
    source, target = f"{any_database.name}.source", f"{any_database.name}.target"
    said = invoke("status", "--target", target, DEDUP_URI=uri_of(any_database)).stdout
    assert "11 characters of 1 document, at the markers of cleaning.cut_at" in said
    for command in (
        ["check", "--source", source],
        ["report", "--html", str(tmp_path / "page.html")],
    ):
        done = invoke(*command, "--target", target, DEDUP_URI=uri_of(any_database))
        assert done.exit_code == 0, done.output
    page = (tmp_path / "page.html").read_text()
    assert "Cut off at the markers of cleaning.cut_at: 11 characters of 1 documents." in page


def test_a_marker_that_begins_lines_of_the_texts_stops_the_run_before_it_writes(database):
    database.source.insert_many([marked(i) for i in range(300)])
    for more in (["--dry-run"], []):
        stopped = refusal(*run(database, *more), DEDUP_URI=uri_of(database))
        assert isinstance(stopped, RunAborted)
        assert "of the characters of the last 300 texts were cut off" in str(stopped)
        assert "out of cleaning.cut_at" in str(stopped)
        assert database.target.count_documents({}) == 0
    raised = invoke(*run(database), DEDUP_URI=uri_of(database), DEDUP_ABORT_IF__CUT="0.5")
    assert "run 1, done" in raised.stdout
    assert database.target.count_documents({}) == 300
