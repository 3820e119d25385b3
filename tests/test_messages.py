"""Sentences in the language of the user; errors stay what they are on the way elsewhere."""

import ast
import pickle
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dedup_job.messages import (
    ConfigurationError,
    DedupError,
    Interrupted,
    LeaseHeld,
    Message,
    RunAborted,
    UsageError,
    chosen_language,
    in_language,
    joined,
)
from scripts import make_catalogue
from tests.running import dedup, environment_for

PACKAGE = Path(__file__).parent.parent / "dedup_job"
# what a person reads as it is: of the terminal, of errors that end a command, of questions
SAID = {"Interrupted", "NotFollowed", "say", "paragraph", "confirm", "stage"}
# callers in Python, other processes and the review page read these in English
IN_ENGLISH = ("cluster/__init__.py", "dedup_job/server.py")


def test_sentences_are_joined_by_a_space_in_english_only():
    said = joined([Message("One."), Message("Two.")])
    assert (str(said), in_language(said, "zh")) == ("One. Two.", "One.Two.")


@pytest.mark.parametrize(("separator", "chinese"), [(", ", "，"), ("; ", "；"), ("\n", "\n")])
def test_separators_are_those_of_the_language(separator, chinese):
    said = joined(["a", "b", "c"], separator)
    assert str(said) == separator.join("abc")
    assert in_language(said, "zh") == chinese.join("abc")
    assert in_language(joined([]), "zh") == ""


def test_a_text_within_a_sentence_stays_as_it_is():
    text = "一。 二, 三"
    assert in_language(Message("{name}: {text}", name="甲", text=text), "zh").endswith(text)


def test_what_is_joined_comes_whole_from_another_process():
    said = pickle.loads(pickle.dumps(joined(["a", "b"], ", ")))
    assert (str(said), in_language(said, "zh")) == ("a, b", "a，b")


def test_every_sentence_is_translated_and_the_catalogue_holds_those_of_today_and_is_compiled():
    catalog = make_catalogue.updated()
    assert [*make_catalogue.problems(catalog)] == []
    for file in (make_catalogue.CATALOGUE, make_catalogue.COMPILED):
        stale = file.read_bytes() != make_catalogue.as_bytes(catalog, file)
        assert not stale, "run scripts/make_catalogue.py"


def plain_sentences(file):
    """Yield what a file says to a person that is no Message: a text, or one with values in it."""
    for call in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if not isinstance(call, ast.Call) or not call.args:
            continue
        name = getattr(call.func, "id", getattr(call.func, "attr", ""))
        said = call.args[0]
        parts = said.values if isinstance(said, ast.JoinedStr) else [said]
        texts = [part.value for part in parts if isinstance(part, ast.Constant)]
        is_error = name in make_catalogue.ERRORS and isinstance(said, ast.JoinedStr)
        if (name in SAID or is_error) and any(c.isalpha() for text in texts for c in str(text)):
            yield f"{file.relative_to(PACKAGE)}:{call.lineno}: {ast.unparse(said)}"


def test_whatever_a_person_reads_is_a_message():
    files = (f for f in PACKAGE.rglob("*.py") if not str(f).endswith(IN_ENGLISH))
    assert [line for file in files for line in plain_sentences(file)] == []


@pytest.mark.parametrize(
    ("variables", "language"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LANGUAGE": "en_GB:zh"}, "en"),
        ({"LANG": "en_US.UTF-8", "DEDUP_LANG": "zh"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "DEDUP_LANG": "en"}, "en"),
        ({"DEDUP_LANG": "zh-Hans"}, "zh"),
        ({"DEDUP_LANG": "fr"}, "en"),
    ],
)
def test_the_first_variable_that_is_set_decides(monkeypatch, variables, language):
    for name in ("DEDUP_LANG", "LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    chosen_language.cache_clear()
    try:
        assert chosen_language() == language
    finally:
        monkeypatch.undo()
        chosen_language.cache_clear()


def test_errors_help_and_reports_are_chinese_and_json_is_english(tmp_path):
    assert "缺少 --target" in dedup("run", "--source", "d.a", DEDUP_LANG="zh").stderr
    assert "用法：" in dedup("run", "--help", DEDUP_LANG="zh").stdout
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"text": "水是生命之源。"}\n' * 2, encoding="utf-8")
    out, report = str(tmp_path / "out.jsonl"), tmp_path / "report.json"
    done = dedup("file", str(rows), out, "--report", str(report), DEDUP_LANG="zh")
    assert "完全重复" in done.stdout
    assert '"status": "done"' in report.read_text(encoding="utf-8")


def test_where_the_output_cannot_hold_chinese_it_is_english():
    environment = environment_for(None, DEDUP_LANG="zh", PYTHONIOENCODING="ascii")
    words = [sys.executable, "-m", "dedup_job", "run", "--source", "d.a"]
    said = subprocess.run(words, env=environment, capture_output=True, check=False).stderr
    assert b"--target is missing" in said


@pytest.mark.parametrize(
    "error",
    [
        DedupError("unexpected"),
        UsageError("--source is missing"),
        ConfigurationError(["one", "two"]),
        RunAborted("found", "limit", "abort_if.without_text", "example"),
        LeaseHeld("held"),
        Interrupted("stopped", signal.SIGTERM),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_of_another_process_has_its_type_its_words_and_its_code(error):
    there = pickle.loads(pickle.dumps(error))
    assert (type(there), str(there), there.code) == (type(error), str(error), error.code)
    assert vars(there) == vars(error)


def test_an_error_of_another_process_knows_what_its_words_were_made_from():
    found = Message("{number:,} documents have no text", number=5000)
    error = RunAborted(found, "1,000", "abort_if.without_text", "_id 5")
    there = pickle.loads(pickle.dumps(error)).message
    assert there == error.message
    assert there.template == error.message.template
    assert there.values["found"].values == {"number": 5000}
