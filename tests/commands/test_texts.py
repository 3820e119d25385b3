"""`dedup_job.deduplicate`, and the errors of the API after misuse."""

import re

import pytest

import dedup_job
from dedup_job.messages import UsageError

SETTINGS = dedup_job.load_settings()


def test_a_generator_is_read_as_it_goes_and_ids_may_be_anything():
    texts = ((("id", i), f"第{i % 3}题") for i in range(4500))
    outcomes = list(dedup_job.deduplicate(texts, SETTINGS))
    assert [o.decision for o in outcomes].count("kept") == 3
    assert outcomes[-1].of == ("id", 4499 % 3)
    assert list(dedup_job.deduplicate(iter([]), SETTINGS)) == []


def test_what_is_not_compared_is_said():
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
        (lambda: dedup_job.deduplicate(type("DataFrame", (list,), {"columns": ()})()), "DataFrame"),
        (lambda: list(dedup_job.deduplicate(["a", 5])), "text 1 is int"),
        (lambda: list(dedup_job.deduplicate([("a", 5)])), "text 0 is int"),
        (lambda: dedup_job.deduplicate([], {"a": 1}), "settings are dict"),
        (lambda: dedup_job.inspect(SETTINGS, texts="a"), "sequence of str"),
        (lambda: dedup_job.inspect(None, texts=["a"]), "settings are NoneType"),
        (lambda: dedup_job.inspect(SETTINGS, ["1"]), "name it with --target"),
        (lambda: dedup_job.inspect(SETTINGS, texts=["a"] * 3), "expected one or two"),
        (lambda: dedup_job.run_job(None, dedup_job.Request("a.b", "a.c")), "settings are NoneType"),
        (lambda: dedup_job.load_settings("nosuch"), "presets: articles, classic, questions"),
        (lambda: dedup_job.load_settings(values={"source.nothing": 1}), "source.nothing"),
    ],
)
def test_misuse_raises_the_projects_own_errors(call, words):
    with pytest.raises(UsageError, match=re.escape(words)):
        call()
