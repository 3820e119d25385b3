"""The public API: its names and its examples."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from pymongo import MongoClient

import dedup_job
from tests.docs.documentation import DOCS, read

PRINTED = re.findall(r"^```text\n(.*?)^```$", read(DOCS / "api.md"), re.M | re.S)
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", read(DOCS / "api.md"), re.M | re.S)


@pytest.fixture
def school(replica_set: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Make the collection that the examples read."""
    monkeypatch.setenv("DEDUP_URI", replica_set)
    with MongoClient[dict[str, Any]](replica_set) as client:
        texts = ("水是生命之源。", "<p>水是生命之源。</p>", "火是文明之源。")
        client.school.questions.insert_many([{"_id": i, "text": t} for i, t in enumerate(texts)])
        yield client.school
        client.drop_database("school")


def test_the_examples_of_the_page_run_and_print_what_it_says(
    school: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    names: dict[str, Any] = {}
    for example in EXAMPLES:
        exec(compile(example, "docs/api.md", "exec"), names)
    printed = re.sub(" +$", "", capsys.readouterr().out, flags=re.M)
    assert printed.startswith("".join(PRINTED))
    assert "\n3 2 1\n" in printed
    assert printed.endswith("texts are str; give an iterable of str or (id, str).\n")
    assert school.questions_unique.count_documents({}) == 2


def test_dir_shows_every_public_name_and_all_can_be_loaded() -> None:
    assert {*dir(dedup_job)} == {*dedup_job.__all__, "__version__"}
    for name in dedup_job.__all__:
        assert getattr(dedup_job, name).__doc__


def test_the_package_is_imported_without_numpy_and_pymongo() -> None:
    program = "import sys, dedup_job; print({'numpy', 'pymongo'} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert found.stdout == "set()\n"
