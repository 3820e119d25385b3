"""Commands take the settings of a target's last run, and no file that a database names."""

import os

import pytest

from dedup_job.judgment.model import shipped_model
from dedup_job.messages import ConfigurationError, StateMismatch, UsageError
from tests.proving import command, refused
from tests.running import refusal, run_here

TEXT = "在标准状况下，将一定量的二氧化碳通入澄清石灰水，观察到溶液先变浑浊后变澄清，请写出方程式。"
OTHER = TEXT.replace("澄清石灰水", "澄清石灰乳")


@pytest.fixture
def model(any_database, tmp_path):
    """Return the model that a target was made with."""
    any_database.source.insert_many([{"_id": 1, "text": TEXT}, {"_id": 2, "text": f"1. {TEXT}"}])
    file = tmp_path / "model.json"
    file.write_text(shipped_model(), encoding="utf-8")
    run_here(any_database, decision__model=str(file))
    return file


def configuration(model):
    """Return a file of settings that names the model."""
    file = model.with_name("dedup.toml")
    file.write_text(f'decision.model = "{model}"\n', encoding="utf-8")
    return file


@pytest.mark.parametrize("what", [("inspect", "2"), ("inspect", "--text", OTHER), ("restore", "2")])
def test_a_file_that_only_the_database_names_is_not_read(any_database, model, what):
    error = refused(any_database, *what)
    assert isinstance(error, UsageError)
    assert f"decision.model = '{model}'" in str(error)
    assert "--config FILE" in str(error)
    given = command(any_database, *what, "--config", str(configuration(model)))
    assert given


def test_a_file_that_changed_since_is_named(any_database, model):
    file = configuration(model)
    model.write_text(f"{shipped_model()}\n", encoding="utf-8")
    error = refused(any_database, "inspect", "2", "--config", str(file))
    assert isinstance(error, StateMismatch)
    assert "decision.model: the file holds something else now than it did then" in str(error)


def test_a_file_that_is_gone_is_named_with_its_setting(any_database, model):
    file = configuration(model)
    model.unlink()
    error = refused(any_database, "inspect", "2", "--config", str(file))
    assert isinstance(error, ConfigurationError)
    assert f"decision.model: {model} cannot be read: No such file" in str(error)


def test_what_is_no_regular_file_is_refused_before_it_is_read(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for name in (str(pipe), "/dev/zero"):
        error = refusal("inspect", TEXT, OTHER, DEDUP_DECISION__MODEL=name)
        assert "it is not a regular file" in str(error)
