"""A run whose index would not fit says so before it begins."""

from __future__ import annotations

import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pymongo.database import Database

from dedup_job.commands import memory_plan as memory
from dedup_job.commands.memory_plan import IndexPlan, check_memory, index_memory
from dedup_job.documents import Channel
from dedup_job.errors import UsageError
from dedup_job.index import IndexSettings
from tests.running import dedup, refusal, uri_of

Db = Database[dict[str, Any]]
DEFAULT = IndexSettings()
EACH = DEFAULT.bytes_each(judged=True)
SIMHASH = IndexSettings(candidate_generators=(Channel.SIMHASH,))


def test_an_index_that_fits_into_the_memory_allowed_is_no_matter(
    caplog: pytest.LogCaptureFixture,
) -> None:
    check_memory(int(1e9), DEFAULT, IndexPlan(EACH, kept=1_000_000, more=900_000))
    assert not caplog.messages


def test_one_that_does_not_fit_is_told_with_the_figures_and_what_to_do(
    caplog: pytest.LogCaptureFixture,
) -> None:
    check_memory(int(4e9), DEFAULT, IndexPlan(EACH, kept=10_000_000, more=40_000_000))
    for words in (
        "13.6 GB",
        "10,000,000 documents kept",
        "40,000,000 to be decided",
        "262 bytes each",
        "run.max_memory allows 4.0 GB",
        "put into files",
        "raise --max-memory",
        "72 bytes each",
    ):
        assert words in caplog.text, caplog.text


def test_no_other_channels_are_proposed_where_there_are_none_to_leave_out(
    caplog: pytest.LogCaptureFixture,
) -> None:
    check_memory(int(1e9), SIMHASH, IndexPlan(62, kept=10_000_000, more=1))
    assert "raise --max-memory" in caplog.text
    assert "candidate_generators" not in caplog.text


def test_what_an_index_may_take_is_what_a_run_leaves_of_the_memory_allowed() -> None:
    assert index_memory(int(1.6e9)) == pytest.approx(1e9)
    assert index_memory(int(0.6e9)) == pytest.approx(0.1e9)
    with pytest.raises(UsageError, match=r"allows 0\.3 GB; a run takes 0\.6 GB at least"):
        index_memory(int(0.3e9))


def test_a_machine_with_little_memory_gets_a_warning_and_the_least_index(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    available(monkeypatch, 2_000_000_000)
    with caplog.at_level(logging.WARNING, "dedup"):
        check_memory(None, DEFAULT, IndexPlan(EACH, kept=0, more=1_000_000))
        assert not caplog.messages
        check_memory(None, DEFAULT, IndexPlan(EACH, kept=0, more=50_000_000))
    assert "this machine has 2.0 GB available" in caplog.text
    available(monkeypatch, 300_000_000)
    assert index_memory(None) == 100e6


def available(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(memory, "_CGROUP", Path("/nowhere"))
    monkeypatch.setattr(memory.psutil, "virtual_memory", lambda: SimpleNamespace(available=size))


@pytest.mark.parametrize(("most", "warned"), [("max\n", False), ("3000000000\n", True)])
def test_a_container_has_what_is_left_of_its_own_limit(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    tmp_path: Any,
    most: str,
    warned: bool,
) -> None:
    monkeypatch.setattr(memory, "_CGROUP", tmp_path)
    monkeypatch.setattr(
        memory.psutil, "virtual_memory", lambda: SimpleNamespace(available=64_000_000_000)
    )
    (tmp_path / "memory.max").write_text(most)
    (tmp_path / "memory.current").write_text("1000000000\n")
    with caplog.at_level(logging.WARNING, "dedup"):
        check_memory(None, DEFAULT, IndexPlan(EACH, kept=0, more=50_000_000))
    assert bool(caplog.messages) is warned


def test_a_run_that_may_not_fit_ends_with_2_and_writes_nothing(database: Db) -> None:
    database.source.insert_many({"_id": i, "text": f"第{i}段不同的正文内容"} for i in range(20))
    names = ("--db", database.name, "--source", "source", "--target", "target", "--yes")
    refused = dedup("run", *names, "--max-memory", "100MB", uri=uri_of(database))
    assert refused.returncode == 2, refused.stderr
    assert "run.max_memory allows 0.1 GB" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert database.list_collection_names() == ["source"]
    allowed = dedup("run", *names, "--max-memory", "2GiB", uri=uri_of(database))
    assert allowed.returncode == 0, allowed.stderr


@pytest.mark.parametrize(
    ("flag", "value", "words"),
    [
        ("--threads", "0", "greater than or equal to 1, not 0"),
        ("--threads", "257", "less than or equal to 256, not 257"),
        ("--max-rate", "0", "greater than 0, not 0"),
        ("--max-rate", "-5", "greater than 0, not -5"),
        ("--max-rate", "nan", "finite number"),
        ("--max-memory", "0", "greater than 0"),
        ("--max-memory", "much", "'much' is not a size; write 8GB"),
    ],
)
def test_what_a_run_cannot_work_with_is_refused_by_name_and_value(
    flag: str, value: str, words: str
) -> None:
    message = str(refusal("run", "--source", "d.a", "--target", "d.b", f"{flag}={value}"))
    assert flag in message
    assert words in message


@pytest.mark.parametrize("value", ["0", "100001"])
def test_a_batch_of_no_or_too_many_documents_is_refused(value: str) -> None:
    names = ("--source", "d.a", "--target", "d.b")
    message = str(refusal("run", *names, DEDUP_RUN__BATCH_DOCUMENTS=value))
    assert "batch_documents" in message
    assert value in message
