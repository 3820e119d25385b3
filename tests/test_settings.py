"""Settings: presets, files, environment, refusals, and the stamp."""

import os
from pathlib import Path

import pytest

from dedup_job import settings as settings_module
from dedup_job.messages import ConfigurationError, UsageError
from dedup_job.settings import load, preset_files

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("name", sorted(preset_files()))
def test_a_preset_is_found_by_its_name_and_by_its_path(name):
    by_name = load(file=Path(name)).settings
    assert by_name == load(file=ROOT / "configs" / f"{name}.toml").settings
    assert by_name.decision.judges == (name != "classic")


def test_a_preset_is_found_in_an_installed_package(tmp_path, monkeypatch):
    installed = tmp_path / "configs"
    installed.mkdir()
    (installed / "questions.toml").write_text("[index]\ndistance = 5\n", encoding="utf-8")
    monkeypatch.setattr(settings_module, "_PRESETS", (installed, ROOT / "configs"))
    assert load(file=Path("questions")).settings.index.distance == 5
    assert load(file=Path("classic")).settings.decision.judge == "none"


def test_a_file_with_the_name_of_a_preset_is_used_and_logged(tmp_path, monkeypatch, caplog):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "questions").write_text("[index]\ndistance = 6\n", encoding="utf-8")
    (tmp_path / "classic").mkdir()
    with caplog.at_level("INFO", "dedup"):
        assert load(file=Path("questions")).settings.index.distance == 6
    assert "the file questions in this folder, not the preset of that name" in caplog.text
    assert load(file=Path("classic")).settings.decision.judge == "none"


def test_an_unknown_preset_is_refused_with_the_names_of_the_presets():
    with pytest.raises(ConfigurationError, match="articles, classic, questions"):
        load(file=Path("question"))


def test_the_stamp_has_the_content_of_a_model(tmp_path):
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    first.write_text("{}", encoding="utf-8")
    second.write_text("{}", encoding="utf-8")

    def stamp(file, **more):
        flags = {"decision.model": file, **{f"decision.{k}": v for k, v in more.items()}}
        return load(flags).settings.stamp()["decision"]

    assert stamp(first)["model"] == stamp(second)["model"]
    second.write_text("{ }", encoding="utf-8")
    assert stamp(first)["model"] != stamp(second)["model"]
    assert "model" not in stamp(first, judge="similarity")


def test_a_value_instead_of_a_section_is_refused_beside_other_origins(tmp_path, monkeypatch):
    file = tmp_path / "c.toml"
    file.write_text("connection = 5\n", encoding="utf-8")
    monkeypatch.setenv("DEDUP_CONNECTION__URI_FILE", "x")
    with pytest.raises(ConfigurationError, match="connection: input should be a valid dict"):
        load({"connection.uri": "mongodb://host"}, file)


def test_a_problem_found_by_pydantic_can_be_translated():
    with pytest.raises(ConfigurationError) as refused:
        load({"run.max_rate": 0.0})
    (problem,) = refused.value.problems
    assert problem == "--max-rate: input should be greater than 0, not 0.0"
    (why,) = (value for value in problem.values.values() if value != "--max-rate")
    assert why.values["why"].template == "input should be greater than {gt}"


def test_an_endless_file_is_refused_and_a_pipe_is_read():
    with pytest.raises(ConfigurationError, match="holds more than 1 MiB"):
        load(file=Path("/dev/zero"))
    reader, writer = os.pipe()
    os.write(writer, b"[run]\nthreads = 3\n")
    os.close(writer)
    assert load(file=Path(f"/dev/fd/{reader}")).settings.run.threads == 3
    os.close(reader)


def test_a_file_with_a_byte_order_mark_is_read_and_another_encoding_refused(tmp_path):
    file = tmp_path / "c.toml"
    file.write_bytes(b"\xef\xbb\xbf[run]\r\nthreads = 3\r\n")
    assert load(file=file).settings.run.threads == 3
    file.write_bytes("# 设置".encode("gb18030"))
    with pytest.raises(ConfigurationError, match=r"is not UTF-8: .* at byte 2"):
        load(file=file)
    uri = tmp_path / "uri"
    uri.write_bytes(b"\xef\xbb\xbfmongodb://host\r\n")
    connection = load({"connection.uri_file": uri}).settings.connection
    assert connection.connection_string() == "mongodb://host"


@pytest.mark.parametrize("name", ["dedup_uri", "Dedup_Uri"])
def test_the_variable_of_the_uri_in_lower_case_is_refused_and_not_ignored(name, monkeypatch):
    monkeypatch.setenv(name, "mongodb://host")
    with pytest.raises(ConfigurationError, match=rf"{name} \(perhaps you meant DEDUP_URI\)"):
        load()


def test_an_empty_variable_of_the_uri_is_not_the_server_on_this_machine(monkeypatch):
    monkeypatch.setenv("DEDUP_URI", "")
    with pytest.raises(UsageError, match="the connection string is empty"):
        load().settings.connection.connection_string()
    connection = load({"connection.uri": "mongodb://host"}).settings.connection
    assert connection.connection_string() == "mongodb://host"


@pytest.mark.parametrize("name", ["decision.model", "index.folder", "connection.uri_file"])
def test_a_path_that_holds_a_nul_is_refused_by_its_name(name):
    with pytest.raises(ConfigurationError, match=rf"{name}: a path holds no NUL"):
        load({name: "a\0b"})


def test_of_a_uri_and_a_file_with_one_the_stronger_origin_counts(tmp_path, monkeypatch):
    config, uri = tmp_path / "c.toml", tmp_path / "uri"
    config.write_text(f'[connection]\nuri_file = "{uri}"\n', encoding="utf-8")
    assert load(file=config).settings.connection.uri_file == uri
    monkeypatch.setenv("DEDUP_URI", "mongodb://host")
    assert load(file=config).settings.connection.uri_file is None
    assert load({"connection.uri_file": uri}, config).settings.connection.uri_file == uri
