"""Golden transcripts: each file of transcripts/ holds commands and their output.

A line `$ [echo LINE ... |] [NAME=VALUE ...] dedup ...` is run, one that begins with `>` is Python
with the database as `db`, all others are output. `[2]` is the exit code before an error. A change
is written into the files by `WRITE_TRANSCRIPTS=1 pytest tests/cli/test_transcripts.py`.
"""

import json
import os
import re
import shlex
from pathlib import Path

import pytest
from bson import ObjectId
from typer.testing import CliRunner

from dedup_job.cli import app, usage_error_of
from dedup_job.messages import DedupError, chosen_language, in_language
from tests.running import run_here, uri_of

FILES = sorted((Path(__file__).parent / "transcripts").glob("*.txt"))
TEXT = (
    "光合作用是绿色植物利用太阳光能，把二氧化碳和水合成为有机物，同时释放氧气的过程。"
    "叶绿体是进行光合作用的细胞器。"
)
DOCUMENTS = [
    {"_id": 1, "text": f"1998年的考题：{TEXT}"},
    {"_id": 2, "text": f"1998年的考题：{TEXT}"},
    {"_id": 3, "text": f"（3分）1998年的考题：{TEXT[:-1]}"},
    {"_id": 4, "text": f"2007年的考题：{TEXT}"},
    {"_id": 5, "text": "   "},
    {"_id": 6, "text": 17},
    {"_id": 7, "text": "字" * 1_000_001},
    {"_id": 8, "text": "The quick brown fox jumps over the lazy dog while seven wizards brew tea."},
    {"_id": ObjectId("65a0a0a0a0a0a0a0a0a0a0a0"), "text": f"<p>1998年的考题：</p>{TEXT}"},
    {"_id": "17", "text": "短文"},
    {"_id": 17, "text": "短句"},
    {"_id": {"year": 2020, "no": 3}, "text": "短文"},
    {"_id": 9},
    {"_id": 20, "text": f"第一行\n\n第二\x1b[31m行{TEXT}"},
]
COMMAND = re.compile(r"\$ (?:echo (.*) \| )?((?:\w+=\S+ )*)dedup (.*)")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_commands_say_what_the_transcript_holds(database, tmp_path, monkeypatch, file):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DEDUP_URI", uri_of(database))
    monkeypatch.setenv("DEDUP_INDEX__FOLDER", str(tmp_path / "index"))
    database.source.insert_many(DOCUMENTS)
    run_here(database, index__folder=str(tmp_path / "index"))
    recorded = file.read_text(encoding="utf-8")
    lines = [line for line in recorded.splitlines() if line.startswith(("$ ", "> "))]
    output = "".join(f"{line}\n{answer(database, line)}" for line in lines)
    output = output.replace(str(tmp_path), "FOLDER")
    if os.environ.get("WRITE_TRANSCRIPTS"):
        file.write_text(output, encoding="utf-8")
    assert output == recorded


def answer(database, line):
    """Do what a line asks for; return the output without times and rates."""
    if line.startswith("> "):
        exec(line[2:], {"db": database, "json": json, "Path": Path})
        return ""
    found = COMMAND.fullmatch(line)
    assert found, line
    stdin, variables, words = found[1], dict(one.split("=") for one in found[2].split()), found[3]
    chosen_language.cache_clear()
    result = CliRunner().invoke(
        app,
        [re.sub(r"^d\.", f"{database.name}.", word) for word in shlex.split(words)],
        input=None if stdin is None else "\n".join(shlex.split(stdin)),
        env={"COLUMNS": "80", "DEDUP_CONNECTION__DB": database.name, **variables},
        standalone_mode=False,
    )
    output = result.output
    if isinstance(error := result.exception, Exception):
        wrong = error if isinstance(error, DedupError) else usage_error_of(error)
        assert wrong, error
        language = variables.get("DEDUP_LANG", "en")
        output += f"[{wrong.code}] {in_language(wrong.message, language)}\n"
    elif code := result.return_value:
        output += f"[{code}]\n"
    output = output.replace(database.name, "d")
    output = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", "TIME", output)
    output = re.sub(r"\b[\d,.]+ (s\b|docs/s|秒|篇/秒)", r"N \1", output)
    return "".join(f"{one.rstrip()}\n" for one in output.splitlines())
