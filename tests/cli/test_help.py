"""The help of `dedup`: 13 commands in groups, and the options of a run in groups."""

import pytest
from rich.cells import cell_len
from typer import Context
from typer.main import get_command

from dedup_job.cli import app, first_paragraph
from dedup_job.messages import Message, in_language
from tests.running import invoke

COMMANDS = get_command(app)


def test_thirteen_commands_stand_in_four_groups():
    sections = [*COMMANDS.sections(Context(COMMANDS))]
    assert [title for title, _ in sections] == ["Work:", "Look:", "Correct:", "Set up:"]
    texts = {name: Message(text) for _, rows in sections for name, text in rows}
    for name, text in texts.items():
        command = COMMANDS.get_command(Context(COMMANDS), name)
        assert text.rstrip(".") in first_paragraph(command.help)
        assert in_language(text, "zh") != text
    names = [*texts]
    assert names == COMMANDS.list_commands(Context(COMMANDS))
    assert len(names) == 13


def test_the_help_of_a_run_begins_with_examples_and_groups_23_options():
    lines = invoke("run", "--help", COLUMNS="80").stdout.splitlines()
    assert all(line.startswith("  dedup run --source ") for line in lines[2:4])
    assert sum(line.startswith(("  --", "  -h", "  -y")) for line in lines) == 23
    titles = [line for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert titles == ["Source and target:", "What is decided:", "How it runs:", "Output:"]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", ["", *COMMANDS.list_commands(Context(COMMANDS))])
def test_help_fits_80_columns(name, language):
    words = filter(None, (name, "--help"))
    lines = invoke(*words, COLUMNS="80", DEDUP_LANG=language).stdout.splitlines()
    assert max(map(cell_len, lines)) <= (87 if name == "list" else 80)  # of --what: its names
