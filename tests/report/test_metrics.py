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
OTHERS = Counts(kept=10, exact=1)
DONE = (0, 1.0, REPORT)


def values(file):
    """Return what a file holds, by name and decision; each value is labelled by the target."""
    found = {}
    for family in text_string_to_metric_families(file.read_text()):
        for sample in family.samples:
            assert sample.labels.pop("target") == "d.target"
            assert set(sample.labels) <= {"decision"}
            found[sample.name, sample.labels.get("decision", "")] = sample.value
    return found


@pytest.fixture
def file(tmp_path):
    return tmp_path / "dedup.prom"


@pytest.fixture(autouse=True)
def _often(monkeypatch):
    monkeypatch.setattr(metrics, "WRITE_SECONDS", 0)


@contextmanager
def at_work(file, end, success=THEN):
    """Tell of a run; within the block it is at work."""
    kept = MetricsFile(file)
    kept.named("d.target")
    progress = Progress(kept)
    checkpoint = replace(REPORT.checkpoint, counts=Counts())
    progress.began(replace(REPORT, status=Status.RUNNING, checkpoint=checkpoint), OTHERS, success)
    progress.total(100)
    yield progress
    kept.ended(*end)


def after(file, end):
    """Tell of a whole run; return what the file then holds."""
    with at_work(file, end) as progress:
        progress.checkpoint(REPORT)
    return values(file)


def after_none(file, end):
    """Tell of a command that came to no run; return what the file then holds."""
    kept = MetricsFile(file)
    kept.named("d.target")
    kept.ended(*end)
    return values(file)


def test_during_a_run_the_file_tells_how_far_it_is(file):
    with at_work(file, DONE) as progress:
        progress.checkpoint(REPORT)
        progress.waiting(7)
        found = values(file)
    assert found["dedup_run_in_progress", ""] == 1
    assert found["dedup_run_documents", ""] == 10
    assert found["dedup_run_expected_documents", ""] == 100
    assert found["dedup_run_database_silence_seconds", ""] == 7
    assert found["dedup_documents_total", "kept"] == 15
    assert found["dedup_documents_total", "duplicate"] == 4
    assert found["dedup_last_success_timestamp_seconds", ""] == THEN.timestamp()
    assert found["dedup_run_resident_memory_bytes", ""] > 1_000_000
    assert abs(found["dedup_run_updated_timestamp_seconds", ""] - time.time()) < 60


def test_after_a_run_the_file_tells_how_it_ended(file):
    found = after(file, (3, 12.5, REPORT))
    assert found["dedup_last_run_exit_code", ""] == 3
    assert found["dedup_last_run_duration_seconds", ""] == 12.5
    assert abs(found["dedup_last_success_timestamp_seconds", ""] - time.time()) < 60
    assert found["dedup_last_run_documents", "duplicate"] == 3
    assert found["dedup_documents_total", "kept"] == 15
    assert [name for name, _ in found if name.startswith("dedup_run_")] == ["dedup_run_in_progress"]
    assert found["dedup_run_in_progress", ""] == 0


def test_a_failed_run_tells_what_it_wrote_and_when_another_one_succeeded(file):
    found = after(file, (6, 2.0))
    assert found["dedup_last_success_timestamp_seconds", ""] == THEN.timestamp()
    assert found["dedup_last_run_exit_code", ""] == 6
    assert found["dedup_last_run_documents", "kept"] == 5


def test_a_run_that_never_began_carries_forward_what_the_file_holds(file):
    before = after(file, DONE)
    found = after_none(file, (5, 30.0))
    for key in before:
        if key[0] in ("dedup_last_success_timestamp_seconds", "dedup_documents_total"):
            assert found[key] == before[key]
    assert found["dedup_last_run_exit_code", ""] == 5
    assert found["dedup_last_run_documents", "kept"] == 0


def test_a_target_that_never_succeeded_has_no_time_of_a_success(file):
    with at_work(file, (6, 2.0), success=None):
        pass
    assert ("dedup_last_success_timestamp_seconds", "") not in values(file)


def test_the_file_of_another_run_at_work_is_left_alone(file):
    before = after(file, DONE)
    assert after_none(file, (11, 1.0)) == before


def test_the_file_of_another_target_is_refused(file):
    after(file, DONE)
    with pytest.raises(UsageError, match=r"the target d\.target: name a file of its own for d\.o"):
        MetricsFile(file).named("d.other")


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"no metrics {", b'a{b="c\n', b"x 1\n"])
def test_what_is_no_metrics_is_replaced(file, content):
    file.write_bytes(content)
    assert after(file, DONE)["dedup_last_run_exit_code", ""] == 0


def test_a_path_that_cannot_be_written_is_refused(tmp_path):
    for path in (tmp_path, tmp_path / "no" / "x.prom"):
        with pytest.raises(UsageError, match="--metrics-file"):
            MetricsFile(path)


def test_a_file_that_cannot_be_written_later_is_one_warning(tmp_path, caplog):
    folder = tmp_path / "folder"
    folder.mkdir()
    with caplog.at_level(logging.WARNING), at_work(folder / "x.prom", DONE):
        time.sleep(0.1)
        (folder / "x.prom").unlink()
        folder.rename(tmp_path / "gone")
    assert len(caplog.messages) == 1
    assert "The run goes on" in caplog.messages[0]


@pytest.mark.parametrize("target", ['d.a"b\\c\n题库', r"d.\n", 'd."', "d.{x=y}"])
def test_the_name_of_the_target_may_hold_anything(file, target):
    text = as_text(target, {("dedup_last_run_exit_code", ""): 1e18})
    (family,) = text_string_to_metric_families(text)
    assert (family.samples[0].labels, family.samples[0].value) == ({"target": target}, 1e18)
    file.write_text(text)
    MetricsFile(file).named(target)  # it is read as the same name
