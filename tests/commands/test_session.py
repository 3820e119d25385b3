"""A session: settings of a target's last run, threads by the cores, memory of the index."""

import logging
import os
from types import SimpleNamespace

import psutil
import pytest

from dedup_job.commands import session
from dedup_job.commands.session import available_cores, index_memory, preparing_thread_count
from dedup_job.judgment.model import shipped_model
from dedup_job.messages import ConfigurationError, StateMismatch, UsageError
from dedup_job.settings import load_settings
from tests.proving import command, refused
from tests.running import refusal, run_here

TEXT = "在标准状况下，将一定量的二氧化碳通入澄清石灰水，观察到溶液先变浑浊后变澄清，请写出方程式。"
OTHER = TEXT.replace("澄清石灰水", "澄清石灰乳")


@pytest.fixture
def model(any_database, tmp_path):
    """Return the file of the model that a target was made with."""
    any_database.source.insert_many([{"_id": 1, "text": TEXT}, {"_id": 2, "text": f"1. {TEXT}"}])
    file = tmp_path / "model.json"
    file.write_text(shipped_model(), encoding="utf-8")
    run_here(any_database, decision__model=str(file))
    (tmp_path / "dedup.toml").write_text(f'decision.model = "{file}"\n', encoding="utf-8")
    return file


@pytest.mark.parametrize(
    "words", [("inspect", "2"), ("inspect", "--text", OTHER), ("restore", "2")]
)
def test_a_file_that_only_the_database_names_is_not_read(any_database, model, words):
    error = refused(any_database, *words)
    assert isinstance(error, UsageError)
    assert f"decision.model = '{model}'" in str(error)
    assert "--config FILE" in str(error)
    assert command(any_database, *words, "--config", str(model.with_name("dedup.toml")))


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (
            lambda file: file.write_text(f"{shipped_model()}\n", encoding="utf-8"),
            StateMismatch,
            "decision.model: the file holds something else now than it did then",
        ),
        (
            lambda file: file.unlink(),
            ConfigurationError,
            "decision.model: {file} cannot be read: No such file",
        ),
    ],
)
def test_a_file_that_changed_or_is_gone_is_named_with_its_setting(
    any_database, model, change, error, words
):
    change(model)
    found = refused(any_database, "inspect", "2", "--config", str(model.with_name("dedup.toml")))
    assert isinstance(found, error)
    assert words.format(file=model) in str(found)


def test_what_is_no_regular_file_is_refused_before_it_is_read(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for name in (str(pipe), "/dev/zero"):
        error = refusal("inspect", TEXT, OTHER, DEDUP_DECISION__MODEL=name)
        assert "it is not a regular file" in str(error)


@pytest.mark.parametrize(
    ("cores", "local", "remote"),
    [(1, 1, 1), (2, 2, 2), (3, 2, 2), (4, 2, 3), (8, 5, 7), (16, 11, 15), (64, 16, 16)],
)
def test_the_other_stages_have_a_core_and_a_local_database_a_quarter_but_two_threads_prepare(
    monkeypatch, cores, local, remote
):
    monkeypatch.setattr(session, "available_cores", lambda: cores)
    for host in ("localhost", "127.0.0.1", "::1", "/tmp/mongodb-27017.sock"):
        assert preparing_thread_count([host]) == local
    assert preparing_thread_count(["db1.example.com", "10.0.0.7"]) == remote


@pytest.mark.parametrize(
    ("quota", "expected"),
    [("max 100000", 8), ("200000 100000", 2), ("50000 100000", 1), ("1600000 100000", 8), ("", 8)],
)
def test_the_quota_of_a_container_and_the_affinity_of_the_process_count(
    monkeypatch, tmp_path, quota, expected
):
    monkeypatch.setattr(psutil.Process, "cpu_affinity", lambda _: [*range(8)], raising=False)
    monkeypatch.setattr(session, "_CGROUP", tmp_path)
    assert available_cores() == 8
    (tmp_path / "cpu.max").write_text(quota)
    assert available_cores() == expected


def allowing(memory=None, **values):
    """Return settings with this memory; others by name, `__` for the dot."""
    dotted = {name.replace("__", "."): value for name, value in values.items()}
    return load_settings(None, {**dotted, "run.max_memory": memory} if memory else dotted)


def test_an_index_that_fits_into_the_memory_allowed_is_no_matter(caplog):
    assert index_memory(allowing(1_600_000_000), 1_900_000) == pytest.approx(1e9)
    assert index_memory(allowing(600_000_000), 100_000) == pytest.approx(0.1e9)
    assert not caplog.messages


@pytest.mark.parametrize(
    ("more", "needed"),
    [
        ({}, "10.4"),
        ({"index__candidate_generators": ["simhash"], "decision__judge": "similarity"}, "3.6"),
    ],
)
def test_one_that_does_not_fit_is_told_with_the_figures_of_its_channels(caplog, more, needed):
    index_memory(allowing(2_000_000_000, **more), 50_000_000)
    warning = f"may need {needed} GB for an index of 50,000,000 documents, and it has 2.0 GB"
    assert warning in caplog.text


@pytest.mark.parametrize(
    ("available", "limit", "documents", "warned"),
    [
        (2_000_000_000, None, 1_000_000, False),
        (2_000_000_000, None, 50_000_000, True),
        (64_000_000_000, "max\n", 50_000_000, False),
        (64_000_000_000, "3000000000\n", 50_000_000, True),  # a container has 2 GB left
    ],
)
def test_without_a_limit_of_its_own_a_run_has_what_the_machine_has(
    monkeypatch, caplog, tmp_path, available, limit, documents, warned
):
    monkeypatch.setattr(session, "_CGROUP", tmp_path)
    memory = SimpleNamespace(available=available)
    monkeypatch.setattr(session.psutil, "virtual_memory", lambda: memory)
    if limit is not None:
        (tmp_path / "memory.max").write_text(limit)
        (tmp_path / "memory.current").write_text("1000000000\n")
    with caplog.at_level(logging.WARNING, "dedup"):
        index_memory(allowing(), documents)
    assert ("it has 2.0 GB" in caplog.text) is warned
