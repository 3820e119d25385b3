"""`dedup run` as machines see it: metrics, and the series of its row."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest
from pymongo.database import Database

from dedup_job.cli.signals import STOPPING
from dedup_job.demo import make_corpus
from tests.monitoring.test_metrics import text_string_to_metric_families
from tests.running import (
    dedup,
    pause_at_work,
    run_here,
    start_run,
    uri_of,
    wait_for_batches,
)

Db = Database[dict[str, Any]]


@pytest.fixture
def filled(database: Db) -> Db:
    """Return a database with a small source."""
    database.source.insert_many(make_corpus(200, seed=2))
    return database


def names(database: Db, target: str = "target") -> tuple[str, ...]:
    """Return the options that name source and target."""
    return ("--source", f"{database.name}.source", "--target", f"{database.name}.{target}", "--yes")


def values(file: Path) -> dict[str, float]:
    """Return the values of a file of metrics, of those by decision the sum."""
    found: dict[str, float] = {}
    for family in text_string_to_metric_families(file.read_text()):
        for sample in family.samples:
            found[sample.name] = found.get(sample.name, 0) + sample.value
    return found


def test_a_run_and_one_that_fails_after_it(filled: Db, tmp_path: Path) -> None:
    file = tmp_path / "dedup.prom"
    options = ("--metrics-file", str(file))
    result = dedup("run", *names(filled), *options, uri=uri_of(filled))
    assert result.returncode == 0, result.stderr
    done = values(file)
    scanned = filled.source.count_documents({})
    assert done["dedup_documents_total"] == scanned
    assert done["dedup_last_run_exit_code"] == 0

    filled["target.state"].update_one({}, {"$set": {"source": "other.source"}})
    result = dedup("run", *names(filled), *options, uri=uri_of(filled))
    assert result.returncode == 6
    failed = values(file)
    before, after = (x["dedup_last_success_timestamp_seconds"] for x in (done, failed))
    assert before - 30 < after < before + 0.5  # as the target has it, a moment before the file
    assert failed["dedup_last_run_exit_code"] == 6
    assert failed["dedup_documents_total"] == scanned


def test_a_server_that_is_gone_is_in_the_metrics(tmp_path: Path) -> None:
    file = tmp_path / "dedup.prom"
    result = dedup(
        *("run", "--source", "d.source", "--target", "d.target", "--metrics-file", str(file)),
        uri="mongodb://127.0.0.1:9/?serverSelectionTimeoutMS=100",
    )
    assert result.returncode == 5
    assert values(file)["dedup_last_run_exit_code"] == 5


def test_a_dry_run_writes_no_metrics(filled: Db, tmp_path: Path) -> None:
    file = tmp_path / "x.prom"
    result = dedup(
        *("run", *names(filled), "--dry-run", "--metrics-file", str(file)),
        uri=uri_of(filled),
    )
    assert result.returncode == 0
    assert "a dry run writes no metrics" in result.stderr
    assert not file.exists()


def test_the_row_of_a_run_has_its_series_and_a_resumed_one_goes_on_with_it(database: Db) -> None:
    database.source.insert_many(make_corpus(2000, seed=2))
    process = start_run(database, "target")
    pause_at_work(process, database)
    process.kill()
    process.wait()
    before = [[0.5, 1, 1000], [1.5, 2, 1000]]
    database["target.runs"].update_one({"_id": 1}, {"$set": {"series": before}})
    run_here(database)
    row = database["target.runs"].find_one({"_id": 1}) or {}
    assert row["series"][:2] == before
    assert row["series"][-1][1] == row["counts"]["scanned"] == 2000
    assert row["series"][-1][0] == pytest.approx(row["seconds"], abs=0.01)


def test_a_run_that_is_stopped_says_so_in_its_metrics(database: Db, tmp_path: Path) -> None:
    database.source.insert_many(make_corpus(2000, seed=2))
    file = tmp_path / "dedup.prom"
    process = start_run(database, "target", "--metrics-file", str(file))
    wait_for_batches(database, "target", 40)
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 128 + signal.SIGTERM
    assert process.said.count(STOPPING) == 1
    found = values(file)
    assert found["dedup_last_run_exit_code"] == 143
    row = database["target.runs"].find_one({"_id": 1}) or {}
    assert (row["status"], found["dedup_documents_total"]) == ("stopped", row["counts"]["scanned"])
    assert "dedup_last_success_timestamp_seconds" not in found
