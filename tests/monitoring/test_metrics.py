"""The file of metrics, read back as Prometheus reads it."""

from __future__ import annotations

import logging
import os
import re
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from dedup_job.errors import UsageError
from dedup_job.files import write_whole
from dedup_job.monitoring import metrics
from dedup_job.monitoring.metrics import HELP, Metrics, as_text
from dedup_job.monitoring.observer import End
from dedup_job.report.counts import Counts
from dedup_job.report.run import About, Checkpoint, Report, Scope, Status
from dedup_job.report.survey import RunLine

THEN = datetime(2026, 1, 2, tzinfo=UTC)
COUNTS = Counts(kept=5, exact=2, near=1, skipped=1, quarantined=1)
ABOUT = About("d.source", "d.target", {}, {}, dry_run=False)
REPORT = Report(
    ABOUT, Status.DONE, Checkpoint(2, Scope(), THEN, COUNTS, 4.0), datetime.now(UTC), 0, {}
)
FIRST = RunLine(1, "done", THEN, THEN, Counts(kept=10, exact=1), 0, 3.0)
EVERY = {name: {"": 1.5} for name in HELP if "documents" not in name} | {
    name: ({"kept": 3} if name.endswith(("_total", "last_run_documents")) else {"": 3})
    for name in HELP
    if "documents" in name
}


def values(file: Path) -> dict[tuple[str, str], float]:
    """Return what a file holds, by name and decision; each value is labelled by the target."""
    found = {}
    for family in text_string_to_metric_families(file.read_text()):
        for sample in family.samples:
            assert sample.labels.pop("target") == "d.target"
            assert set(sample.labels) <= {"decision"}
            found[sample.name, sample.labels.get("decision", "")] = sample.value
    return found


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "dedup.prom"


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "WRITE_SECONDS", 0.05)


def told(file: Path, end: End, *runs: RunLine, report: Report = REPORT) -> Iterator[Metrics]:
    """Tell of a run; yield while it is at work."""
    kept = Metrics(file)
    kept.named("d.target")
    kept.began(replace(report, status=Status.RUNNING), runs)
    kept.total(100)
    yield kept
    kept.ended(end)


def whole(file: Path, end: End, *runs: RunLine) -> dict[tuple[str, str], float]:
    """Tell of a whole run; return what the file then holds."""
    for kept in told(file, end, *runs):
        kept.advance(10, COUNTS)
    return values(file)


def test_during_a_run_the_file_tells_how_far_it_is(file: Path) -> None:
    for kept in told(file, End(0, 1.0, REPORT), FIRST):
        kept.advance(4, Counts(kept=3, near=1))
        time.sleep(0.3)
        found = values(file)
        assert found["dedup_run_in_progress", ""] == 1
        assert found["dedup_run_documents", ""] == 4
        assert found["dedup_run_expected_documents", ""] == 100
        assert found["dedup_documents_total", "kept"] == 13
        assert found["dedup_documents_total", "duplicate"] == 2
        assert found["dedup_last_success_timestamp_seconds", ""] == THEN.timestamp()
        assert found["dedup_run_resident_memory_bytes", ""] > 1_000_000
        assert abs(found["dedup_run_updated_timestamp_seconds", ""] - time.time()) < 5


def test_after_a_run_the_file_tells_how_it_ended(file: Path) -> None:
    found = whole(file, End(3, 12.5, REPORT), FIRST)
    assert found["dedup_last_run_exit_code", ""] == 3
    assert found["dedup_last_run_duration_seconds", ""] == 12.5
    assert abs(found["dedup_last_success_timestamp_seconds", ""] - time.time()) < 5
    assert found["dedup_last_run_documents", "duplicate"] == 3
    assert found["dedup_documents_total", "kept"] == 15
    assert [name for name, _ in found if name.startswith("dedup_run_")] == ["dedup_run_in_progress"]
    assert found["dedup_run_in_progress", ""] == 0


def test_a_failed_run_carries_the_last_success_forward(file: Path) -> None:
    first = whole(file, End(0, 1.0, REPORT))
    success = first["dedup_last_success_timestamp_seconds", ""]
    failed = End(6, 2.0, None, "StateMismatch", "no")
    after = whole(file, failed, replace(FIRST, number=1, counts=COUNTS))
    assert after["dedup_last_success_timestamp_seconds", ""] == success
    assert after["dedup_last_run_exit_code", ""] == 6


def test_a_run_that_never_began_carries_forward_what_the_file_holds(file: Path) -> None:
    before = whole(file, End(0, 1.0, REPORT), FIRST)
    kept = Metrics(file)
    kept.named("d.target")
    kept.ended(End(5, 30.0, None, "DatabaseUnreachable", "no"))
    after = values(file)
    for key in before:
        if key[0] in ("dedup_last_success_timestamp_seconds", "dedup_documents_total"):
            assert after[key] == before[key]
    assert after["dedup_last_run_exit_code", ""] == 5


def test_a_resumed_run_is_not_counted_twice(file: Path) -> None:
    own = replace(FIRST, number=2, status="running", counts=Counts(kept=4))
    found = whole(file, End(0, 1.0, REPORT), FIRST, own)
    assert found["dedup_documents_total", "kept"] == 15


def test_the_file_of_another_run_at_work_is_left_alone(file: Path) -> None:
    whole(file, End(0, 1.0, REPORT))
    before = file.read_bytes()
    kept = Metrics(file)
    kept.named("d.target")
    kept.ended(End(11, 1.0, None, "LeaseHeld", "another", held=True))
    assert file.read_bytes() == before


def test_the_file_of_another_target_is_refused(file: Path) -> None:
    whole(file, End(0, 1.0, REPORT))
    with pytest.raises(UsageError, match=r"the target d\.target: name a file of its own for d\.o"):
        Metrics(file).named("d.other")


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"no metrics {", b'a{b="c\n', b"x 1\n"])
def test_what_is_no_metrics_is_replaced(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    assert whole(file, End(0, 1.0, REPORT))["dedup_last_run_exit_code", ""] == 0


def test_a_path_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "no" / "x.prom"):
        with pytest.raises(UsageError, match="--metrics-file"):
            Metrics(path)


def test_a_file_that_cannot_be_written_later_is_one_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with caplog.at_level(logging.WARNING):
        for _ in told(folder / "x.prom", End(0, 1.0, REPORT)):
            time.sleep(0.1)
            (folder / "x.prom").unlink()
            folder.rename(tmp_path / "gone")
            time.sleep(0.3)
    assert len(caplog.messages) == 1
    assert "The run goes on" in caplog.messages[0]


def test_names_are_as_promtool_wants_them() -> None:
    families = list(text_string_to_metric_families(as_text("d.target", EVERY)))
    names = {sample.name for family in families for sample in family.samples}
    assert names == set(HELP)
    for family in families:
        assert family.documentation, family.name
        (name,) = {sample.name for sample in family.samples}
        assert re.fullmatch(r"[a-z][a-z0-9_]*", name)
        assert (family.type == "counter") == name.endswith("_total")
        assert not name.endswith(("_count", "_sum", "_bucket", "_info"))
        assert not re.search(r"gauge|counter|histogram|summary", name)
        units = r"milli|micro|minutes|hours|days|kilo|mega|kb|mb|_ms|percent"
        assert not re.search(units, name)
        if re.search("timestamp|duration|silence", name):
            assert name.endswith("_seconds")
        if "memory" in name:
            assert name.endswith("_bytes")


def test_labels_may_hold_anything() -> None:
    target = 'd.a"b\\c\n题库'
    (family,) = text_string_to_metric_families(as_text(target, {"dedup_run_in_progress": {"": 1}}))
    assert family.samples[0].labels == {"target": target}


def _write_for_ever(file: Path) -> None:
    while True:
        write_whole(file, as_text("d.target", EVERY) * 200)


def test_a_process_killed_while_it_writes_leaves_the_old_or_the_new_file(file: Path) -> None:
    lengths = set()
    for round_ in range(8):
        process: Any = get_context("fork").Process(target=_write_for_ever, args=(file,))
        process.start()
        deadline = time.monotonic() + 20
        while not file.exists() and time.monotonic() < deadline:
            time.sleep(0.001)
        time.sleep(0.003 * round_)
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        lengths.add(len(file.read_text()))
    assert lengths == {len(as_text("d.target", EVERY) * 200)}
