"""Messages in the language of the user, and errors in other processes."""

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
# calls whose argument a person reads unchanged: on the terminal, in errors, in questions
SHOWN = {"Interrupted", "ChangesUnavailable", "say", "paragraph", "confirm", "stage"}
# read in English by callers in Python, by other processes and by the review page
IN_ENGLISH = ("cluster/__init__.py", "dedup_job/server.py")


@pytest.mark.parametrize(
    ("separator", "chinese"), [(" ", ""), (", ", "，"), ("; ", "；"), ("\n", "\n")]
)
def test_messages_are_joined_with_the_separator_of_the_language(separator, chinese):
    message = joined(["a", "b", "c"], separator)
    for same in (message, pickle.loads(pickle.dumps(message))):
        assert str(same) == separator.join("abc")
        assert in_language(same, "zh") == chinese.join("abc")
    assert in_language(joined([]), "zh") == ""


def test_a_text_within_a_message_is_not_translated():
    text = "一。 二, 三"
    assert in_language(Message("{name}: {text}", name="甲", text=text), "zh").endswith(text)


def test_every_sentence_is_translated_and_the_catalogue_is_up_to_date():
    catalog = make_catalogue.updated()
    assert [*make_catalogue.problems(catalog)] == []
    for file in (make_catalogue.CATALOGUE, make_catalogue.COMPILED):
        stale = file.read_bytes() != make_catalogue.as_bytes(catalog, file)
        assert not stale, "run scripts/make_catalogue.py"


def untranslatable(file):
    """Yield the texts and f-strings of a file that a person reads although they are no Message."""
    for call in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if not isinstance(call, ast.Call) or not call.args:
            continue
        name = getattr(call.func, "id", getattr(call.func, "attr", ""))
        text = call.args[0]
        parts = text.values if isinstance(text, ast.JoinedStr) else [text]
        texts = [part.value for part in parts if isinstance(part, ast.Constant)]
        is_error = name in make_catalogue.ERRORS and isinstance(text, ast.JoinedStr)
        if (name in SHOWN or is_error) and any(c.isalpha() for text in texts for c in str(text)):
            yield f"{file.relative_to(PACKAGE)}:{call.lineno}: {ast.unparse(text)}"


def test_a_person_reads_only_messages():
    files = (f for f in PACKAGE.rglob("*.py") if not str(f).endswith(IN_ENGLISH))
    assert [line for file in files for line in untranslatable(file)] == []


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
    assert chosen_language.__wrapped__() == language


def test_errors_help_and_reports_are_chinese_and_json_is_english(tmp_path):
    assert "缺少 --target" in dedup("run", "--source", "d.a", DEDUP_LANG="zh").stderr
    assert "用法：" in dedup("run", "--help", DEDUP_LANG="zh").stdout
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"text": "水是生命之源。"}\n' * 2, encoding="utf-8")
    out, report = str(tmp_path / "out.jsonl"), tmp_path / "report.json"
    ended = dedup("file", str(rows), out, "--report", str(report), DEDUP_LANG="zh")
    assert "完全重复" in ended.stdout
    assert '"status": "done"' in report.read_text(encoding="utf-8")


def test_an_output_that_cannot_hold_chinese_gets_english():
    environment = environment_for(None, DEDUP_LANG="zh", PYTHONIOENCODING="ascii")
    words = [sys.executable, "-m", "dedup_job", "run", "--source", "d.a"]
    stderr = subprocess.run(words, env=environment, capture_output=True, check=False).stderr
    assert b"--target is missing" in stderr


FOUND = Message("{number:,} documents have no text", number=5000)


@pytest.mark.parametrize(
    "error",
    [
        DedupError("unexpected"),
        UsageError("--source is missing"),
        ConfigurationError(["one", "two"]),
        RunAborted(FOUND, "1,000", "without_text", "_id 5"),
        LeaseHeld("held"),
        Interrupted("stopped", signal.SIGTERM),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_pickled_error_keeps_type_message_values_and_code(error):
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), copy.code) == (type(error), str(error), error.code)
    assert vars(copy) == vars(error)
    assert vars(copy.message) == vars(error.message)
    assert in_language(copy.message, "zh") == in_language(error.message, "zh")
