"""The pages of commands and settings agree with the program."""

import re
import signal

import pytest

from dedup_job.cli.decide import QUARANTINED
from dedup_job.documents import Reason
from dedup_job.judgment.features import RULES
from dedup_job.messages import DedupError, Interrupted
from dedup_job.runs.run_record import Status
from dedup_job.settings import Settings, load
from scripts import make_docs
from tests.docs.documentation import (
    DOCS,
    HELP,
    ROOT,
    USER_PAGES,
    code,
    first_column,
    flags,
    headings,
    name_of,
    options_in,
    options_in_help,
    read,
    section,
    spans,
)

COMMAND_PAGES = [DOCS / "commands.md", DOCS / "commands.zh.md"]
CODES = {"commands.md": "Exit codes", "commands.zh.md": "退出码"}
SHARED = {f"--{name.replace('_', '-')}" for name in make_docs.SHARED}
COMMANDS = [tuple(path.split()[1:]) for path, _ in make_docs.commands()]
GROUPS = {path[0] for path in COMMANDS if len(path) > 1}
EVERY = [(), *COMMANDS]


def unknown(text):
    """Yield each command and option in a line of code that does not exist."""
    call = re.search(r"(?<![\w./-])dedup ([a-z]+)(?: ([a-z]+)|(?=[\s`]|$))([^|;&]*)", text)
    if call and call[1] != "did":  # of a message: documents that dedup did not write
        path = (call[1], call[2]) if call[1] in GROUPS and call[2] else (call[1],)
        if path in COMMANDS:
            yield from sorted(flags(call[3]) - options_in_help(path) - HELP)
        elif path[0] not in GROUPS or path[1:]:
            yield f"dedup {' '.join(path)}"
    elif text.startswith("--"):
        yield from sorted(flags(text) - {name for path in EVERY for name in options_in_help(path)})


@pytest.mark.parametrize("page", COMMAND_PAGES, ids=name_of)
@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_the_page_lists_the_options_of_each_command(path, page):
    listed = options_in_help(path)
    elsewhere = HELP if path == ("run",) else HELP | SHARED
    assert listed >= HELP
    assert options_in(section(page, f"`{' '.join(('dedup', *path))}`")) == listed - elsewhere


@pytest.mark.parametrize("page", COMMAND_PAGES, ids=name_of)
def test_the_page_describes_every_command_and_no_other(page):
    described = [words for _, words in headings(read(page)) if words.startswith("`dedup")]
    assert sorted(described) == sorted(f"`{' '.join(('dedup', *path))}`" for path in COMMANDS)


@pytest.mark.parametrize("name", CODES)
def test_the_page_lists_the_exit_codes_of_all_errors(name):
    def codes(error):
        return {error.code}.union(*(codes(child) for child in error.__subclasses__()))

    signals = {Interrupted("", s).code for s in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)}
    cells = first_column(section(DOCS / name, CODES[name]))
    assert {int(cell) for cell in cells if cell.isdigit()} == {0, QUARANTINED} | codes(
        DedupError
    ) | signals


@pytest.mark.parametrize("page", USER_PAGES, ids=name_of)
def test_every_command_and_option_that_a_page_names_exists(page):
    assert [wrong for text in code(read(page)) for wrong in unknown(text)] == []


PAGE = DOCS / "settings.md"
NAMES = {name for name, *_ in load().rows()}


def test_the_page_lists_all_settings_and_marks_the_stamp_with_stars():
    tables = re.findall(r"<!-- begin settings: \w+ -->(.*?)<!-- end -->", read(PAGE), re.S)
    cells = [cell for table in tables for cell in first_column(table) if cell.startswith("`")]
    assert {cell.strip("`* ") for cell in cells} == NAMES
    stamp = load().settings.stamp()
    assert stamp.pop("rules") == RULES
    assert {cell.strip("`* ") for cell in cells if cell.endswith("*")} == {
        f"{part}.{name}" for part, values in stamp.items() for name in values
    }


@pytest.mark.parametrize("page", USER_PAGES, ids=name_of)
def test_every_setting_that_a_page_names_exists(page):
    sections = "|".join(Settings.model_fields)
    words = (re.match(rf"(?:{sections})\.[a-z_]+(?![\w./])", span) for span in spans(read(page)))
    named = {word[0] for word in words if word}
    assert named <= NAMES


@pytest.mark.parametrize("word", [*Reason, *Status])
def test_every_reason_and_status_is_explained(word):
    cells = [line for line in read(DOCS / "data-format.md").splitlines() if line.startswith("| ")]
    assert any(f"`{word}`" in cell for cell in cells)


def test_the_page_lists_the_presets():
    listed = re.findall(r"\(\.\./configs/([a-z]+)\.toml\)", read(PAGE))
    assert sorted(listed) == sorted(file.stem for file in (ROOT / "configs").glob("*.toml"))
