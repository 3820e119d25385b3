"""The file of metrics, read back as Prometheus reads it."""

import logging
import time
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from prometheus_client.parser import text_string_to_metric_families

from dedup_job.messages import UsageError
from dedup_job.report import progress as metrics
from dedup_job.report.progress import MetricsFile, as_text
from dedup_job.runs.decided import Counts
from dedup_job.runs.run_record import About, Checkpoint, Progress, Run, Scope, Status

THEN = datetime(2026, 1, 2, tzinfo=UTC)
COUNTS = Counts(kept=5, exact=2, near=1, skipped=1, quarantined=1)
ABOUT = About("d.source", "d.target", {}, {}, dry_run=False)
REPORT = Run(
    ABOUT, Status.DONE, Checkpoint(2, Scope(), THEN, COUNTS, 4.0), datetime.now(UTC), 0, {}
)
FORMER_RUNS = Counts(kept=10, exact=1)
DONE = (0, 1.0, REPORT)
SUCCESS = ("dedup_last_success_timestamp_seconds", "")


def values(file):
    """Return the samples of a file by name and decision; each has the label of the target."""
    found = {}
    for family in text_string_to_metric_families(file.read_text()):
        for sample in family.samples:
            assert sample.labels.pop("target") == "d.target"
            assert set(sample.labels) <= {"decision"}
            found[sample.name, sample.labels.get("decision", "")] = sample.value
    return found


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setattr(metrics, "WRITE_SECONDS", 0)
    return tmp_path / "dedup.prom"


@contextmanager
def running(file, end, success=THEN):
    """Yield the progress of a run that writes the file; the run ends with the block.

    end: arguments of `MetricsFile.ended`; success: when an earlier run succeeded, or None.
    """
    written = MetricsFile(file)
    written.set_target("d.target")
    progress = Progress(written)
    checkpoint = replace(REPORT.checkpoint, counts=Counts())
    report = replace(REPORT, status=Status.RUNNING, checkpoint=checkpoint)
    progress.began(report, FORMER_RUNS, success)
    progress.total(100)
    yield progress
    written.write_end(*end)


def after(file, end, **more):
    with running(file, end, **more) as progress:
        progress.checkpoint(REPORT)
    return values(file)


def after_no_run(file, end):
    written = MetricsFile(file)
    written.set_target("d.target")
    written.write_end(*end)
    return values(file)


def is_now(timestamp):
    return abs(timestamp - time.time()) < 60


def test_during_a_run_the_file_holds_its_progress_and_afterwards_its_end(file):
    with running(file, (3, 12.5, REPORT)) as progress:
        progress.checkpoint(REPORT)
        progress.waiting(7)
        during = values(file)
    assert during.pop(("dedup_run_resident_memory_bytes", "")) > 1_000_000
    assert is_now(during.pop(("dedup_run_updated_timestamp_seconds", "")))
    totals = {"kept": 15, "duplicate": 4, "skipped": 1, "quarantined": 1}
    totals = {("dedup_documents_total", decision): n for decision, n in totals.items()}
    assert during == totals | {
        SUCCESS: THEN.timestamp(),
        ("dedup_run_in_progress", ""): 1,
        ("dedup_run_documents", ""): 10,
        ("dedup_run_expected_documents", ""): 100,
        ("dedup_run_database_silence_seconds", ""): 7,
    }
    ended = values(file)
    assert is_now(ended.pop(SUCCESS))
    assert is_now(ended.pop(("dedup_last_run_timestamp_seconds", "")))
    last = {"kept": 5, "duplicate": 3, "skipped": 1, "quarantined": 1}
    last = {("dedup_last_run_documents", decision): n for decision, n in last.items()}
    assert ended == totals | last | {
        ("dedup_last_run_exit_code", ""): 3,
        ("dedup_last_run_duration_seconds", ""): 12.5,
        ("dedup_run_in_progress", ""): 0,
    }


def test_after_a_failed_run_the_success_is_that_of_another_run_or_there_is_none(file):
    failed = after(file, (6, 2.0))
    assert failed[SUCCESS] == THEN.timestamp()
    assert failed["dedup_last_run_exit_code", ""] == 6
    assert failed["dedup_last_run_documents", "kept"] == 5
    file.unlink()
    assert SUCCESS not in after(file, (6, 2.0), success=None)


def test_a_command_without_a_run_keeps_the_totals_and_the_last_success(file):
    before = after(file, DONE)
    found = after_no_run(file, (5, 30.0))
    kept = [key for key in before if key == SUCCESS or key[0] == "dedup_documents_total"]
    assert {key: found[key] for key in kept} == {key: before[key] for key in kept}
    assert found["dedup_last_run_exit_code", ""] == 5
    assert found["dedup_last_run_documents", "kept"] == 0


def test_the_file_of_another_run_of_the_target_is_left_alone_and_of_another_target_refused(file):
    before = after(file, DONE)
    assert after_no_run(file, (11, 1.0)) == before
    with pytest.raises(UsageError, match=r"the target d\.target: name a file of its own for d\.o"):
        MetricsFile(file).set_target("d.other")


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"no metrics {", b'a{b="c\n', b"x 1\n"])
def test_a_file_without_metrics_is_replaced(file, content):
    file.write_bytes(content)
    assert after(file, DONE)["dedup_last_run_exit_code", ""] == 0


def test_a_path_that_cannot_be_written_is_refused(tmp_path):
    for path in (tmp_path, tmp_path / "no" / "x.prom"):
        with pytest.raises(UsageError, match="--metrics-file"):
            MetricsFile(path)


def test_a_file_that_cannot_be_written_during_a_run_is_one_warning(file, caplog):
    folder = file.parent / "folder"
    folder.mkdir()
    with caplog.at_level(logging.WARNING), running(folder / "x.prom", DONE) as progress:
        (folder / "x.prom").unlink()
        folder.rename(file.parent / "renamed")
        progress.checkpoint(REPORT)
    (warning,) = caplog.messages
    assert "The run goes on" in warning


@pytest.mark.parametrize("target", ['d.a"b\\c\n题库', r"d.\n", 'd."', "d.{x=y}"])
def test_the_name_of_the_target_may_hold_any_character(file, target):
    text = as_text(target, {("dedup_last_run_exit_code", ""): 1e18})
    (family,) = text_string_to_metric_families(text)
    assert (family.samples[0].labels, family.samples[0].value) == ({"target": target}, 1e18)
    file.write_text(text)
    MetricsFile(file).set_target(target)  # it is read as the same name
