"""`dedup run` as machines see it: its file of metrics."""

import signal

import pytest

from dedup_job.cli.console import STOPPING
from dedup_job.demo import make_corpus
from tests.report.test_metrics import text_string_to_metric_families
from tests.running import dedup, start_run, uri_of, wait_for_batches


@pytest.fixture
def filled(database):
    database.source.insert_many(make_corpus(200, seed=2))
    return database


def names(database, target="target"):
    return ("--source", f"{database.name}.source", "--target", f"{database.name}.{target}", "--yes")


def values(file):
    """Return the values of a file of metrics, of those by decision the sum."""
    found = {}
    for family in text_string_to_metric_families(file.read_text()):
        for sample in family.samples:
            found[sample.name] = found.get(sample.name, 0) + sample.value
    return found


def test_a_run_and_one_that_fails_after_it(filled, tmp_path):
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


def test_a_dry_run_writes_no_metrics(filled, tmp_path):
    file = tmp_path / "x.prom"
    words = ("run", *names(filled), "--dry-run", "--metrics-file", str(file))
    result = dedup(*words, uri=uri_of(filled))
    assert result.returncode == 0
    assert "a dry run writes no metrics" in result.stderr
    assert not file.exists()


def test_a_run_that_is_stopped_says_so_in_its_metrics(database, tmp_path):
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
