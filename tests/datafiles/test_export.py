"""`dedup export` writes what the target holds."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from bson import Binary, Decimal128, Int64, ObjectId, json_util
from pymongo.database import Database

from dedup_job import UsageError, load_settings
from dedup_job.commands.export import export_target
from tests.datafiles.test_file import read
from tests.running import invoke, run_here, uri_of

DOCUMENTS: list[dict[str, Any]] = [
    {"_id": ObjectId("0123456789abcdef01234567"), "text": "<p>甲烷的分子式是</p>", "n": Int64(5)},
    {"_id": 17, "text": "乙烯的结构简式是", "tags": ["a", {"b": 1.5}], "q": {"x": "深", "y": None}},
    {"_id": "中", "text": "苯的同系物有几种", "when": datetime(2026, 1, 1, tzinfo=UTC)},
    {"_id": {"a": 1}, "text": "酸碱滴定的终点", "n": Decimal128("1.50"), "b": Binary(b"\0", 5)},
    {"_id": 18, "text": "乙烯的结构简式是"},
]
SUFFIXES = [".jsonl", ".jsonl.zst", ".csv", ".tsv.gz", ".parquet"]


@pytest.fixture
def target(database: Database[dict[str, Any]]) -> Database[dict[str, Any]]:
    """Return a database with a target of four documents."""
    database.source.insert_many(DOCUMENTS)
    run_here(database)
    return database


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_each_kept_document_is_a_row(target: Database[dict[str, Any]], suffix: str, tmp_path: Path):
    out = tmp_path / f"out{suffix}"
    names = () if "jsonl" in suffix else ("--columns", "n, q.x,tags")
    options = ("--target", f"{target.name}.target", "--uri", uri_of(target))
    assert "4 documents written" in invoke("export", str(out), *options, *names).output
    kept = [*target.target.find({}, {"dedup": 0}).sort("_id", 1)]
    if "jsonl" in suffix:
        wanted: list[Any] = kept
        rows = [json_util.loads(json_util.dumps(row)) for row in read(out)]
        for row in rows:
            if "when" in row:
                row["when"] = row["when"].replace(tzinfo=None)
    else:
        rows = [{name: value for name, value in row.items() if value} for row in read(out)]
        wanted = [
            {"_id": "17", "text": "乙烯的结构简式是", "q.x": "深", "tags": '["a", {"b": 1.5}]'},
            {"_id": "中", "text": "苯的同系物有几种"},
            {"_id": '{"a": 1}', "text": "酸碱滴定的终点", "n": '{"$numberDecimal": "1.50"}'},
            {"_id": "0123456789abcdef01234567", "text": "<p>甲烷的分子式是</p>", "n": "5"},
        ]
    assert rows == wanted


def test_the_text_has_its_name_in_the_target(database: Database[dict[str, Any]], tmp_path: Path):
    database.source.insert_one({"_id": 1, "body": {"text": "<b>甲烷</b>"}})
    run_here(database, source__field="body.text", output__document="classic")
    settings = load_settings(None, {"connection.uri": uri_of(database)})
    assert export_target(settings, f"{database.name}.target", tmp_path / "out.csv") == 1
    assert read(tmp_path / "out.csv") == [{"_id": "1", "ques": "<b>甲烷</b>"}]


@pytest.mark.parametrize(
    ("name", "columns", "said"),
    [
        ("out.txt", (), "names no format"),
        ("out.jsonl", ("n",), "whole documents"),
        ("out.csv", ("n", "n"), "a column twice"),
        ("out.csv", ("text",), "a column twice"),
    ],
)
def test_what_does_not_fit_is_refused(
    target: Database[dict[str, Any]], name: str, columns: tuple[str, ...], said: str, tmp_path: Path
):
    settings = load_settings(None, {"connection.uri": uri_of(target)})
    with pytest.raises(UsageError, match=said):
        export_target(settings, f"{target.name}.target", tmp_path / name, columns)
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("note", "is_told"),
    [
        ("=1+1", True),
        ("@SUM(A1)", True),
        ("-2+3", True),
        ("+cmd", True),
        ("-5", False),
        ("+1.5", False),
    ],
)
def test_a_csv_with_cells_that_pass_for_formulas_says_so(
    database: Database[dict[str, Any]], note: str, is_told: bool, tmp_path: Path
):
    database.source.insert_one({"_id": 1, "text": "甲烷", "note": note})
    run_here(database)
    of = ("--target", f"{database.name}.target", "--columns", "note")
    done = invoke("export", str(tmp_path / "out.csv"), *of, DEDUP_URI=uri_of(database))
    assert ("takes for formulas" in done.output) == is_told
    assert read(tmp_path / "out.csv")[0]["note"] == note
