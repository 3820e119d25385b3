"""A command that is printed or copied means in a shell what it says: nothing in it is expanded."""

import html
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st

import dedup_job
from dedup_job.cli import app
from dedup_job.mongo import id_keys
from dedup_job.mongo.id_keys import readings, unmistakable
from dedup_job.pages import report_page
from dedup_job.printing import command_line
from dedup_job.runs.status import Check, Finding
from tests.mongo.test_id_keys import IDS, key_of, same
from tests.pages.test_report_page import survey_with

HOSTILE = ["q$(touch x)", "`touch x`", "'; touch x; '", '"; touch x; "', "a b", *"*~\\", "!!"]
CLI = typer.main.get_command(app)


def run_in_shell(line, folder, **environment):
    """Run a shell line with a `dedup` that prints its arguments; return the arguments."""
    stub = folder / "bin" / "dedup"
    stub.parent.mkdir(exist_ok=True)
    stub.write_text("#!/bin/sh\nfor word; do printf '%s\\0' \"$word\"; done\n")
    stub.chmod(0o755)
    path = f"{stub.parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-c", line],
        cwd=folder,
        env={**os.environ, "PATH": path, **environment},
        capture_output=True,
        check=True,
    )
    assert done.stderr == b""
    assert [file.name for file in folder.iterdir()] == ["bin"], line
    return done.stdout.decode().split("\0")[:-1]


@pytest.mark.parametrize("name", HOSTILE)
def test_what_the_copy_buttons_hold_runs_nothing(name, tmp_path):
    survey = survey_with("text", name, written=unmistakable(key_of(name)))
    found = re.findall(r'data-copy="(.*?)"', report_page(survey))
    lines = [html.unescape(line) for line in found]
    words = [run_in_shell(line, tmp_path) for line in lines]
    assert len({word[0] for word in words}) == 5
    for word in words:
        assert word[1 + word.index("--target")] == name
    restored = [word[-1] for word in words if word[0] == "restore" and word[-1] != "ID"]
    grouped = [word[-1] for word in words if "--of" in word]
    for written in (*restored, *grouped):
        assert next(readings(written)) == name
    assert restored
    assert grouped


@pytest.mark.parametrize("name", [name for name in HOSTILE if "`" not in name])
def test_what_a_check_advises_runs_nothing(name, tmp_path):
    advice = [Finding(check, 1, 1, ()).advice(name) for check in Check]
    lines = [line for one in advice for line in re.findall("`(dedup [^`]*--target[^`]*)`", one)]
    assert len(lines) == 7
    for line in lines:
        assert run_in_shell(line, tmp_path)[-1] == name


def test_no_command_is_put_together_elsewhere():
    root = Path(dedup_job.__file__).parent
    files = [file for end in ("py", "j2", "toml", "js") for file in root.rglob(f"*.{end}")]
    with_value = re.compile(
        r"dedup (?:undo|inspect|restore|list|lock|index|run|check|report|status) [^\"`\n]*\{"
        r"|--(?:target|source|of|db|uri|what) \{"
    )
    assert len(files) > 50
    assert [file.name for file in files if with_value.search(file.read_text("utf-8"))] == []


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]))), max_size=30
    )
)
def test_a_shell_reads_the_words_that_were_written(lists):
    script = "\n".join(
        "set -- " + command_line(*words) + "; printf '%s\\0' \"$@\" ''" for words in lists
    )
    done = subprocess.run(["sh", "-c", script], capture_output=True, check=True)
    words_read = done.stdout.decode().split("\0")
    assert words_read[:-1] == [word for words in lists for word in ("dedup", *words, "")]


def test_control_characters_are_escaped_and_a_huge_id_is_written_whole():
    line = command_line("list", "--target", "a.\x1b[201~\ntouch x\n\t\u202e")
    assert line == r"dedup list --target 'a.\x1b[201~\ntouch x\n\t\u202e'"
    key = key_of("题" * 5000)
    assert id_keys.key_from_value(next(readings(unmistakable(key)))) == key


def parsed(line):
    """Return the parameters that the command line itself makes of a printed command."""
    _, name, *words = shlex.split(line)
    one = CLI.get_command(None, name)
    return one.make_context(name, words).params


@given(IDS, st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1))
def test_an_id_in_a_command_is_read_back_as_the_same_of_the_same_type(value, name):
    key = key_of(value)
    for words, argument in (
        (("restore", "--target", name, unmistakable(key)), "id_"),
        (("inspect", "--target", name, unmistakable(key)), "items"),
        (("list", "--target", name, "--what", "dropped", "--of", unmistakable(key)), "of"),
    ):
        found = parsed(command_line(*words))
        assert found["target"] == name
        (written,) = [*found[argument]] if argument == "items" else [found[argument]]
        (read,) = map(id_keys.key_from_value, readings(written))
        assert read[0] == key[0]
        assert same(id_keys.id_value(read), id_keys.id_value(key))
