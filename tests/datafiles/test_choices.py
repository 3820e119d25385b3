"""Choices in fields of their own are compared in any form, in files and in databases."""

import json

import pytest

from dedup_job import UsageError
from tests.datafiles.test_file import decide, read, write
from tests.running import invoke

BOTH = {"source__field": "title,options"}
TITLE = "下列说法正确的是"
ONE = ["甲烷可以燃烧", "水可以燃烧", "氧气可以燃烧", "氮气可以燃烧"]
CHOICES = ["光是一种波", "声音在真空中传播", "光速会改变", "声音是一种光"]
KINDS = {
    "texts": list,
    "key and value": lambda c: [{"key": k, "value": v} for k, v in zip("ABCD", c, strict=True)],
    "label and text": lambda c: [{"label": k, "text": v} for k, v in zip("ABCD", c, strict=True)],
    "numbered": lambda c: [{"id": n, "content": v} for n, v in enumerate(c)],
    "with what is right": lambda c: [{"text": v, "correct": v == c[0], "more": None} for v in c],
    "an object by letter": lambda c: dict(zip("ABCD", c, strict=True)),
    "an object of arrays": lambda c: {"label": [*"ABCD"], "text": c},
    "objects by letter": lambda c: [{k: v} for k, v in zip("ABCD", c, strict=True)],
    "nested": lambda c: [{"option": {"html": f"<p>{v}</p>"}} for v in c],
    "arrays of pairs": lambda c: [[k, v] for k, v in zip("ABCD", c, strict=True)],
    "numbers": lambda c: [len(c[1]), 10 * len(c[2])],
    "one text": "\n".join,
}


def questions(choices):
    """Return two questions with the same title, and a copy of the second with another answer.

    choices: returns the stored form of a list of choices.
    """
    return [
        {"id": n, "title": TITLE, "options": choices(some), "answer": answer}
        for n, (some, answer) in enumerate([(ONE, "A"), (CHOICES, "A"), (CHOICES, "B")])
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_questions_with_other_choices_are_kept_in_files_and_in_databases(kind, tmp_path, job):
    rows = questions(KINDS[kind])
    report, out, _ = decide(tmp_path, rows, **BOTH)
    assert read(out) == rows[:2]
    assert (report.counts.exact, report.differing) == (1, {"answer": 1})
    made = job([{"_id": q["id"], **q} for q in rows], **BOTH)
    made.run()
    assert [d["options"] for d in made.kept.values()] == [q["options"] for q in rows[:2]]
    (tmp_path / "ledger.jsonl").unlink()
    columns = [{**q, "options": json.dumps(q["options"])} for q in rows]
    _, out, _ = decide(tmp_path, columns, ".csv", **BOTH)
    assert [int(row["id"]) for row in read(out)] == [0, 1]


def test_texts_are_cleaned_but_not_in_arrays_and_objects(tmp_path):
    line = '{"o" : [{"k":"A", "n": 1.50,"v":"<i>甲</i>"} ,true], "title":"<b>题</b>", "z":0}\n'
    flags = {"source__field": "o,title", "output__text": "cleaned"}
    _, out, _ = decide(tmp_path, line.encode() * 2, **flags)
    assert out.read_text("utf-8") == line.replace("<b>题</b>", "题")


def test_a_record_without_its_last_columns_keeps_the_order_of_the_others(tmp_path):
    content = "b,a\n<b>甲</b>\n<b>乙</b>,丙\n".encode()
    _, out, _ = decide(tmp_path, content, ".csv", source__field="a,b", output__text="cleaned")
    assert out.read_text("utf-8").split() == ["b,a", "甲", "乙,丙"]


def test_a_name_with_a_comma_is_that_of_one_column(tmp_path):
    report, *_ = decide(tmp_path, '"a,b"\n甲\n'.encode(), ".csv", source__field="a,b")
    assert report.counts.kept == 1


def test_a_report_says_that_dropped_rows_differ_in_other_fields(tmp_path):
    source = write(tmp_path / "in.jsonl", questions(KINDS["key and value"]))
    words = ("file", str(source), str(tmp_path / "out.jsonl"), "--field", "title")
    ended = invoke(*words, "--report", str(tmp_path / "r.json"))
    assert "differ from the kept one in other fields: options 2, answer 1" in " ".join(
        ended.output.split()
    )
    report = json.loads((tmp_path / "r.json").read_bytes())
    assert report["differing"] == {"options": 2, "answer": 1}
    assert len(report["warnings"]) == 1


def test_ids_and_empty_fields_are_no_difference(tmp_path):
    rows = [{"id": n, "_id": n, "text": "甲烷", "note": note} for n, note in enumerate(["", None])]
    report, *_ = decide(tmp_path, [*rows, {"text": "甲烷"}])
    assert (report.counts.exact, report.differing) == (2, {})


@pytest.mark.parametrize("number", [9, 1200])
def test_a_source_of_which_a_part_is_no_text_is_a_warning_at_any_size(number, job, tmp_path):
    texts = [f"第{n}道不同的题目" if n % 5 else n for n in range(number)]
    made = job({"_id": n, "text": text} for n, text in enumerate(texts))
    ended = made.dedup("run", "--yes", "--report", str(tmp_path / "r.json"))
    assert (ended.returncode, "WARNING: 2" in ended.stdout) == (0, True)
    assert "no text" in json.loads((tmp_path / "r.json").read_bytes())["warnings"][0]
    source = write(tmp_path / "in.jsonl", [{"text": text} for text in texts])
    assert "WARNING: 2" in invoke("file", str(source), str(tmp_path / "out.jsonl")).output


@pytest.mark.parametrize("value", [5, [1, 2], {"n": 3}, True, [[0.5, 1.5]], {"a": {"b": 1}}])
def test_a_source_without_any_text_is_refused(value, job, tmp_path):
    made = job({"_id": n, "text": value, "name": "x"} for n in range(3))
    with pytest.raises(UsageError, match=r"has a text in 'text'\. .*name"):
        made.run()
    assert made.database.list_collection_names() == ["source"]
    with pytest.raises(UsageError, match="could be kept"):
        decide(tmp_path, [{"text": value, "name": "x"}] * 3)


@pytest.mark.parametrize("rows", [3, 999, 1001])
@pytest.mark.parametrize("field", ["titel", "title,optoins"])
def test_a_field_that_no_row_has_is_refused_with_the_names_of_the_fields(rows, field, tmp_path):
    made = [{"id": n, "title": f"第{n}题", "options": ["甲"]} for n in range(rows)]
    with pytest.raises(UsageError, match="options"):
        decide(tmp_path, made, source__field=field)
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]
