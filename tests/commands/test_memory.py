"""What an index needs is said before a run, and what cannot work is refused."""

import logging
from types import SimpleNamespace

import pytest

from dedup_job.commands import session
from dedup_job.commands.session import index_memory
from dedup_job.messages import UsageError
from dedup_job.settings import load_settings


def allowing(memory=None, **values):
    """Return settings with so much memory; others by name, `__` for the dot."""
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
    said = f"may need {needed} GB for an index of 50,000,000 documents, and it has 2.0 GB"
    assert said in caplog.text


def test_too_little_memory_for_any_index_is_refused():
    with pytest.raises(UsageError, match=r"allows 0\.3 GB; a run takes 0\.6 GB at least"):
        index_memory(allowing(300_000_000))


@pytest.mark.parametrize(
    ("available", "limit", "documents", "warned"),
    [
        (2_000_000_000, None, 1_000_000, False),
        (2_000_000_000, None, 50_000_000, True),
        (64_000_000_000, "max\n", 50_000_000, False),
        (64_000_000_000, "3000000000\n", 50_000_000, True),  # a container has what is left of it
    ],
)
def test_without_a_limit_of_its_own_a_run_has_what_the_machine_has(
    monkeypatch, caplog, tmp_path, available, limit, documents, warned
):
    monkeypatch.setattr(session, "_CGROUP", tmp_path)
    has = SimpleNamespace(available=available)
    monkeypatch.setattr(session.psutil, "virtual_memory", lambda: has)
    if limit is not None:
        (tmp_path / "memory.max").write_text(limit)
        (tmp_path / "memory.current").write_text("1000000000\n")
    with caplog.at_level(logging.WARNING, "dedup"):
        index_memory(allowing(), documents)
    assert ("it has 2.0 GB" in caplog.text) is warned
