"""What is built runs on each Python that is named, and what a machine lacks is said first."""

import importlib.util
import re
import subprocess
import sysconfig
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PYTHON = """#!/bin/sh
case "$*" in *version_info*) ;; *--version*) echo Python 3.99 ;; *) exit 1 ;; esac
"""


def test_each_python_that_is_named_has_a_wheel_and_a_run_of_the_checks():
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["project"]["classifiers"]))
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())
    assert workflow["jobs"]["checks"]["strategy"]["matrix"]["python"] == named
    wheels = [f"cp{version.replace('.', '')}-*" for version in named]
    assert PROJECT["tool"]["cibuildwheel"]["build"] == wheels


def test_without_python_h_a_build_ends_before_it_asks_for_packages(monkeypatch, tmp_path):
    spec = importlib.util.spec_from_file_location("backend", ROOT / "src" / "backend.py")
    backend = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(backend)
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tmp_path))
    with pytest.raises(SystemExit, match=r"lacks Python\.h .*sudo apt install python3-dev"):
        backend.get_requires_for_build_wheel()


@pytest.mark.parametrize(
    ("language", "said"),
    [("en", "This machine lacks venv, Python.h"), ("zh", "这台机器缺少 venv, Python.h")],
)
def test_what_a_bare_machine_lacks_is_said_before_an_environment_is_made(tmp_path, language, said):
    python = tmp_path / "python"
    python.write_text(PYTHON)
    python.chmod(0o700)
    made = {"PATH": "/usr/bin:/bin", "PYTHON": str(python), "DEDUP_VENV": str(tmp_path / "venv")}
    ended = subprocess.run(
        ["bash", "-c", "source scripts/environment.sh embedded"],
        env={**made, "DEDUP_LANG": language},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1), ended.stderr
    assert ended.stderr.startswith(said)
    assert "sudo apt install python3-venv python3-dev" in ended.stderr
    assert not (tmp_path / "venv").exists()


DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def test_tables_are_made_and_used_with_the_same_variables():
    first, second = re.findall(r"^ENV (.*?[^\\])$", DOCKERFILE, re.M | re.S)
    made = set(first.replace("\\\n", " ").split())
    assert made <= {*second.replace("\\\n", " ").split()}
    assert any(value.startswith("XDG_CACHE_HOME=") for value in made)
