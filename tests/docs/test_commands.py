"""The pages name the commands, options and exit codes that there are."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from dedup_job.cli.run import QUARANTINED
from dedup_job.errors import DedupError, Interrupted
from scripts import make_docs
from tests.docs.documentation import (
    DOCS,
    HELP,
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
)

COMMAND_PAGES = [DOCS / "commands.md", DOCS / "commands.zh.md"]
CODES = {"commands.md": "Exit codes", "commands.zh.md": "退出码"}
SHARED = {f"--{name.replace('_', '-')}" for name in make_docs.SHARED}
COMMANDS = [tuple(path.split()[1:]) for path, _ in make_docs.commands()]
GROUPS = {path[0] for path in COMMANDS if len(path) > 1}
EVERY = [(), *COMMANDS]


def unknown(text: str) -> Iterator[str]:
    """Yield each command and option in a piece of code that does not exist."""
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
def test_the_options_of_each_command_are_those_of_its_help(
    path: tuple[str, ...], page: Path
) -> None:
    listed = options_in_help(path)
    elsewhere = HELP if path == ("run",) else HELP | SHARED
    assert listed >= HELP
    assert options_in(section(page, f"`{' '.join(('dedup', *path))}`")) == listed - elsewhere


@pytest.mark.parametrize("page", COMMAND_PAGES, ids=name_of)
def test_the_page_describes_every_command_and_no_other(page: Path) -> None:
    described = [words for _, words in headings(read(page)) if words.startswith("`dedup")]
    assert sorted(described) == sorted(f"`{' '.join(('dedup', *path))}`" for path in COMMANDS)


@pytest.mark.parametrize("name", CODES)
def test_the_exit_codes_are_those_of_the_errors(name: str) -> None:
    def codes(error: type[DedupError]) -> set[int]:
        return {error.exit_code}.union(*(codes(child) for child in error.__subclasses__()))

    signals = {Interrupted("", s).code for s in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)}
    cells = first_column(section(DOCS / name, CODES[name]))
    assert {int(cell) for cell in cells if cell.isdigit()} == {0, QUARANTINED} | codes(
        DedupError
    ) | signals


@pytest.mark.parametrize("page", USER_PAGES, ids=name_of)
def test_every_command_and_option_that_a_page_names_exists(page: Path) -> None:
    assert [wrong for text in code(read(page)) for wrong in unknown(text)] == []
