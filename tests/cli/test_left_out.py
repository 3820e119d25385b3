"""What was left out of a comparison is stored with the pair, and such pairs are shown first."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pymongo.database import Database

from tests.running import invoke, outcome, run_here, uri_of

Db = Database[dict[str, Any]]
ASKED = "下列关于{}的结构和功能及其在物质运输中所起作用的几种说法当中正确的是"
NOTES = {
    "细胞膜": "。",
    "叶绿体": "\n考点：细胞器 难度：0",
    "线粒体": "\n考点：细胞器的结构 难度：0",
}


@pytest.fixture
def made(database: Db) -> Db:
    """Return a database where each question has a copy with a longer note than the one before."""
    pairs = [(ASKED.format(word), note) for word, note in NOTES.items()]
    texts = [text for asked, note in pairs for text in (asked, asked + note)]
    database.source.insert_many([{"_id": i, "text": text} for i, text in enumerate(texts)])
    run_here(database)
    return database


def test_the_ledger_says_how_much_of_a_text_was_not_compared(made: Db) -> None:
    _, ledger = outcome(made)
    shares = {row["_id"]: row.get("left_out") for row in ledger}
    assert shares[1] is None
    assert 0 < shares[3] < shares[5] <= 0.2


def test_lists_show_those_pairs_first_and_pages_say_how_much(made: Db, tmp_path: Path) -> None:
    target, uri = f"{made.name}.target", uri_of(made)
    table = invoke("list", "--what", "near", "--target", target, DEDUP_URI=uri)
    assert re.findall(r"(\d+)% not compared", table.stdout) == ["16", "10"]
    rows = invoke(
        *("list", "--what", "near", "--format", "jsonl", "--target", target), DEDUP_URI=uri
    )
    assert [json.loads(line)["left_out"] for line in rows.stdout.splitlines()] == [None, 0.1, 0.16]
    file, dry = tmp_path / "page.html", tmp_path / "dry.html"
    assert invoke("report", "--html", str(file), "--target", target, DEDUP_URI=uri).exit_code == 0
    source = f"{made.name}.source"
    invoke(
        *("run", "--dry-run", "--source", source, "--target", f"{made.name}.other"),
        *("--html", str(dry)),
        DEDUP_URI=uri,
    )
    for page in (file.read_text(), dry.read_text()):
        assert {"16", "10"} <= {*re.findall(r"(\d+)% of a text not compared", page)}
