"""The public API: its names, its examples, and what it says of misuse."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from pymongo import MongoClient

import dedup_job
from dedup_job.errors import UsageError
from tests.docs.documentation import DOCS, read

PRINTED = re.findall(r"^```text\n(.*?)^```$", read(DOCS / "api.md"), re.M | re.S)
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", read(DOCS / "api.md"), re.M | re.S)
SETTINGS = dedup_job.load_settings()


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


def test_every_public_name_stands_on_the_page() -> None:
    missing = [name for name in dedup_job.__all__ if name not in read(DOCS / "api.md")]
    values = {"Checked", "Difference", "Inspected", "Outcome", "Run"}
    values |= {
        "Restored",
        "Sample",
        "Settings",
        "Status",
        "Undone",
        "Progress",
        "Interrupted",
    }
    assert set(missing) <= values


def test_the_package_is_imported_without_numpy_and_pymongo() -> None:
    program = "import sys, dedup_job; print({'numpy', 'pymongo'} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert found.stdout == "set()\n"


def test_a_name_that_does_not_exist_is_refused_as_python_does() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = dedup_job.nothing


def test_a_generator_is_read_as_it_goes_and_ids_may_be_anything() -> None:
    texts = ((("id", i), f"第{i % 3}题") for i in range(4500))
    outcomes = list(dedup_job.deduplicate(texts, SETTINGS))
    assert [o.decision for o in outcomes].count("kept") == 3
    assert outcomes[-1].of == ("id", 4499 % 3)


def test_no_texts_give_no_outcomes() -> None:
    assert list(dedup_job.deduplicate(iter([]), SETTINGS)) == []


def test_what_is_not_compared_is_said() -> None:
    settings = dedup_job.load_settings(values={"source.max_chars": 10})
    outcomes = dedup_job.deduplicate(["<p></p>", "长" * 11], settings)
    assert [(o.decision, o.reason) for o in outcomes] == [
        ("skipped", "empty"),
        ("quarantined", "too_large"),
    ]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: dedup_job.deduplicate("text"), "texts are str"),
        (lambda: dedup_job.deduplicate(None), "texts are NoneType"),
        (lambda: list(dedup_job.deduplicate(["a", 5])), "text 1 is int"),
        (lambda: list(dedup_job.deduplicate([("a", 5)])), "text 0 is int"),
        (lambda: dedup_job.deduplicate([], {"a": 1}), "settings are dict"),
        (lambda: dedup_job.inspect(SETTINGS, texts="a"), "sequence of str"),
        (lambda: dedup_job.inspect(None, texts=["a"]), "settings are NoneType"),
        (lambda: dedup_job.inspect(SETTINGS, ["1"]), "name it with --target"),
        (lambda: dedup_job.inspect(SETTINGS, texts=["a"] * 3), "expected one or two"),
        (lambda: dedup_job.run_job(None, dedup_job.Request("a.b", "a.c")), "settings are NoneType"),
        (lambda: dedup_job.load_settings(5), "config is int"),
        (lambda: dedup_job.load_settings("nosuch"), "presets: articles, classic, questions"),
        (lambda: dedup_job.load_settings(values=[1]), "values are list"),
        (lambda: dedup_job.load_settings(values={"source.nothing": 1}), "source.nothing"),
    ],
)
def test_misuse_raises_the_projects_own_errors(call: Any, words: str) -> None:
    with pytest.raises(UsageError, match=re.escape(words)):
        call()
