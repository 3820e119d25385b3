"""Wheel and source archive: their content, their use, and a machine without build tools.

A wheel needs a compilation of the core, so its tests are thorough.
"""

import importlib.util
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pydantic
import pytest
import yaml

from dedup_job import __version__

ROOT = Path(__file__).parent.parent
DEPENDENCIES = Path(pydantic.__file__).parents[1]
PARTS = {
    *(f"dedup_job/configs/{name}.toml" for name in ("articles", "classic", "questions")),
    *(f"dedup_job/judgment/{name}.txt" for name in ("alike", "form_words", "relations")),
    "dedup_job/judgment/model.json",
    *(f"dedup_job/pages/{name}" for name in ("review.html.j2", "page.css", "words.toml")),
    *(f"dedup_job/pages/assets/htmx.{name}" for name in ("min.js", "LICENSE")),
    *("dedup_job/demo.toml", "dedup_job/py.typed", "dedup_job/__main__.py"),
    f"dedup_job-{__version__}.dist-info/licenses/LICENSE",
}


def build(source, folder, kind):
    command = [sys.executable, "-P", "-m", "build", f"--{kind}", "--no-isolation"]
    subprocess.run([*command, "--outdir", str(folder)], cwd=source, check=True, capture_output=True)
    (built,) = folder.iterdir()
    return built


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return build(ROOT, tmp_path_factory.mktemp("wheel"), "wheel")


def content(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.thorough
def test_a_wheel_holds_word_lists_presets_types_and_license_but_no_tests(wheel):
    names = set(content(wheel))
    assert names >= PARTS
    tops = {name.split("/")[0] for name in names}
    assert tops == {"dedup_job", f"dedup_job-{__version__}.dist-info"}
    assert not [name for name in names if "test" in Path(name).name or "__pycache__" in name]


def backend():
    """Return the build backend as a module."""
    spec = importlib.util.spec_from_file_location("backend", ROOT / "src" / "backend.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sdist")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        built = backend().build_sdist(str(folder))
    with tarfile.open(folder / built) as archive:
        archive.extractall(folder, filter="data")
    return folder / built.removesuffix(".tar.gz")


def test_the_source_archive_holds_all_that_is_tested_and_compiled(source):
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if names.returncode:
        pytest.skip("no checkout of git")
    tracked = [name for name in names.stdout.split() if not name.startswith((".ci/", ".github/"))]
    assert not [name for name in tracked if not (source / name).exists()]


@pytest.mark.thorough
def test_the_source_archive_makes_the_same_wheel(wheel, source, tmp_path):
    names = content(build(source, tmp_path / "again", "wheel")).keys()
    assert names == content(wheel).keys()


@pytest.mark.thorough
def test_an_installed_wheel_runs_without_the_checkout(wheel, tmp_path):
    installed, elsewhere = tmp_path / "installed", tmp_path / "elsewhere"
    elsewhere.mkdir()
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    pip += ["--no-deps", "--no-index", "--no-compile", "--target", str(installed), str(wheel)]
    subprocess.run(pip, check=True)

    def output(*words):
        return subprocess.run(  # -S: the checkout may be installed in this environment
            [sys.executable, "-S", "-P", *words],
            cwd=elsewhere,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": f"{installed}:{DEPENDENCIES}"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    assert output("-c", "import dedup_job; print(dedup_job.__file__)").startswith(str(installed))
    assert output("-m", "dedup_job", "--version") == f"dedup {__version__}\n"
    shown = output("-m", "dedup_job", "config", "show", "--config", "questions")
    assert "收录" in shown
    assert str(ROOT) not in shown


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
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tmp_path))
    with pytest.raises(SystemExit, match=r"lacks Python\.h .*sudo apt install python3-dev"):
        backend().get_requires_for_build_wheel()


@pytest.mark.parametrize(
    ("language", "message"),
    [("en", "This machine lacks venv, Python.h"), ("zh", "这台机器缺少 venv, Python.h")],
)
def test_missing_packages_are_reported_before_an_environment_is_made(tmp_path, language, message):
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
    assert ended.stderr.startswith(message)
    assert "sudo apt install python3-venv python3-dev" in ended.stderr
    assert not (tmp_path / "venv").exists()


DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def test_tables_are_made_and_used_with_the_same_variables():
    first, second = re.findall(r"^ENV (.*?[^\\])$", DOCKERFILE, re.M | re.S)
    made = set(first.replace("\\\n", " ").split())
    assert made <= {*second.replace("\\\n", " ").split()}
    assert any(value.startswith("XDG_CACHE_HOME=") for value in made)
