"""`dedup run --summary FILE`: what a run did, for the mail of the morning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pymongo.database import Database

from dedup_job.demo import make_corpus
from tests.running import dedup, refusal, uri_of

Db = Database[dict[str, Any]]
NAMES = ("--source", "source", "--target", "target")


@pytest.fixture
def filled(database: Db) -> Db:
    """Return a database with a source of 400 documents."""
    database.source.insert_many(make_corpus(400, seed=3))
    return database


def run(database: Db, *more: str, **environment: str) -> Any:
    """Run on the source, with a summary or without."""
    words = ("run", "--db", database.name, *NAMES, "--yes", *more)
    return dedup(*words, uri=uri_of(database), **environment)


def test_a_text_holds_counts_pairs_and_commands(filled: Db, tmp_path: Path) -> None:
    file = tmp_path / "summary.txt"
    assert run(filled, "--summary", str(file)).returncode == 0
    text = file.read_text(encoding="utf-8")
    assert text.startswith(f"{filled.name}.target: run 1 done: 400 read, ")
    assert "Dropped, the most doubtful first\n- " in text
    assert "[-" in text
    assert "{+" in text
    assert f"dedup undo 1 --target {filled.name}.target" in text
    assert len(text.splitlines()) < 60


def test_a_page_holds_the_same_and_loads_nothing(filled: Db, tmp_path: Path) -> None:
    file = tmp_path / "summary.html"
    assert run(filled, "--summary", str(file), DEDUP_LANG="zh").returncode == 0
    page = file.read_text(encoding="utf-8")
    assert '<html lang="zh-Hans">' in page
    assert "<del " in page
    assert "<ins " in page
    assert "<script" not in page
    assert "src=" not in page


def test_a_night_without_news_says_so(filled: Db, tmp_path: Path) -> None:
    file = tmp_path / "summary.txt"
    run(filled)
    assert run(filled, "--summary", str(file)).returncode == 0
    text = file.read_text(encoding="utf-8")
    assert "Nothing to decide: no new document in the source." in text
    assert "Dropped" not in text


def test_only_pairs_of_this_run_are_shown(filled: Db, tmp_path: Path) -> None:
    file = tmp_path / "summary.txt"
    run(filled)
    one = filled.source.find_one({"kind": "original"}) or {}
    filled.source.insert_one({"_id": "new", "text": f"{one['text']} "})
    run(filled, "--summary", str(file))
    assert "run 2 done: 1 read, 0 kept, 1 dropped" in file.read_text(encoding="utf-8")
    assert "Dropped, the most doubtful" not in file.read_text(
        encoding="utf-8"
    )  # it is an exact one


def test_a_dry_run_has_a_page_instead(tmp_path: Path) -> None:
    error = refusal("run", *NAMES, "--db", "d", "--dry-run", "--summary", str(tmp_path / "s.txt"))
    assert "--html FILE" in str(error)


def test_a_file_that_cannot_be_written_is_refused_before_the_run(tmp_path: Path) -> None:
    error = refusal("run", *NAMES, "--db", "d", "--summary", str(tmp_path))
    assert "--summary" in str(error)
    assert "is a folder" in str(error)
