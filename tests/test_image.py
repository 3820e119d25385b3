"""The layout of the image without docker: tables made by root, used by somebody else, read only.

The same command as in the Dockerfile makes them.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pymongo.database import Database

from tests.running import uri_of

ROOT = Path(__file__).parent.parent
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
TEXT = "光合作用是绿色植物利用太阳光能，把二氧化碳和水合成为有机物，同时释放氧气的过程。"
UID = 10001
OTHER_USER = ["setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups"]
# where Python itself lies in a folder of root's: to read everything, and write no more for that
READS_ALL = ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]


def variables(made: Path) -> dict[str, str]:
    """Return the environment of the image, with another folder for /opt/dedup."""
    *_, last = re.findall(r"^ENV (.*?[^\\])$", DOCKERFILE, re.M | re.S)
    values = dict(pair.split("=", 1) for pair in last.replace("\\\n", " ").split())
    values = {name: value.replace("/opt/dedup", str(made)) for name, value in values.items()}
    return {**values, "PATH": os.environ["PATH"], "PYTHONPATH": str(made / "code")}


def by_another_user() -> list[str]:
    """Return the beginning of a command that another user runs."""
    for file in (Path(sys.executable), Path(pytest.__file__), Path(os.__file__)):
        if not all(folder.stat().st_mode & 0o005 == 0o005 for folder in file.resolve().parents):
            return [*OTHER_USER, *READS_ALL]
    return OTHER_USER


def test_tables_are_made_and_used_with_the_same_variables() -> None:
    first, second = re.findall(r"^ENV (.*?[^\\])$", DOCKERFILE, re.M | re.S)
    made = set(first.replace("\\\n", " ").split())
    assert made <= {*second.replace("\\\n", " ").split()}
    assert any(value.startswith("XDG_CACHE_HOME=") for value in made)


@pytest.fixture(scope="module")
def image() -> Iterator[Path]:
    """Return a folder made by root as the Dockerfile makes /opt/dedup."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("only root becomes another user, with setpriv")
    (command,) = re.findall(r"bin/python (-m dedup_job\S+)", DOCKERFILE)
    made = Path(tempfile.mkdtemp(prefix="dedup-image-"))  # others cannot read pytest's own folder
    try:
        nothing = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "dedup_job", made / "code" / "dedup_job", ignore=nothing)
        environment = variables(made)
        subprocess.run([sys.executable, *command.split()], env=environment, cwd="/", check=True)
        subprocess.run(["chmod", "-R", "a+rX,go-w", made], check=True)
        yield made
    finally:
        shutil.rmtree(made)


def printed(image: Path, *arguments: str, **more: str) -> str:
    """Return what `dedup` prints, run by another user; all tables are found."""
    environment = {**variables(image), "HOME": "/nonexistent", **more}
    done = subprocess.run(
        [*by_another_user(), sys.executable, "-B", "-m", "dedup_job", *arguments],
        env=environment,
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "building the dictionary" not in done.stderr
    assert "cannot be kept" not in done.stderr  # so it is said of tables that are made anew
    return done.stdout


@pytest.mark.thorough
def test_nothing_is_made_in_a_container_of_another_user(
    image: Path, database: Database[dict[str, Any]]
) -> None:
    for file in (image, *image.rglob("*")):
        readable = 0o005 if file.is_dir() else 0o004
        assert (file.stat().st_mode & 0o022, file.stat().st_mode & readable) == (0, readable)
    texts = [TEXT, TEXT[:-1], f"<p>1+1={{2}}</p><table><tr><td>{TEXT}</td></tr></table>"]
    database.source.insert_many({"_id": i, "text": text} for i, text in enumerate(texts))
    place = ["--source", f"{database.name}.source", "--target", f"{database.name}.target"]
    target, uri = place[2:], {"DEDUP_URI": uri_of(database)}
    assert "光合作用" in printed(image, "inspect", TEXT)
    assert "duplicates" in printed(image, "inspect", TEXT, f"<b>{TEXT[:-1]}</b>")
    with tempfile.TemporaryDirectory() as volume:
        os.chown(volume, UID, UID)
        uri["DEDUP_INDEX__FOLDER"] = volume
        for words in (
            ["run", *place, "--field", "text"],
            ["run", *place, "--field", "text"],  # with an index that is read
            ["check", *place],
            ["inspect", "--text", TEXT, *target],
            ["inspect", "1", *target],
        ):
            printed(image, *words, **uri)
    assert database.target.count_documents({}) == 2
