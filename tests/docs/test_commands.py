"""The pages name the commands, options and exit codes that there are."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer import Context
from typer.main import get_command

from dedup_job.cli import app
from dedup_job.cli.run import QUARANTINED
from dedup_job.errors import DedupError, Interrupted
from scripts import make_docs
from tests.docs.documentation import (
    DOCS,
    HELP,
    PAGES,
    READMES,
    ROOT,
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
OF_RUN = {"README.md": "Options of `dedup run`", "README.zh-CN.md": "`dedup run` 的选项"}
CODES = {"README.md": "Exit codes", "README.zh-CN.md": "退出码"}
CODES |= {"docs/commands.md": "Exit codes", "docs/commands.zh.md": "退出码"}
FOREIGN = {  # options of other tools
    "--from": "uvx",
    "--now": "systemctl",
    "--read-only": "docker",
    "--rm": "docker",
    "--spec": "pipx",
    "--strict": "mkdocs",
    "--tag": "docker",
}


COMMANDS = [tuple(path.split()[1:]) for path, _ in make_docs.commands()]
GROUPS = {path[0] for path in COMMANDS if len(path) > 1}


def shown_by(group: Any) -> list[tuple[str, str]]:
    """Return each command and what completion in a shell says of it, as does the list."""
    return [(one.value, one.help) for one in group.shell_complete(Context(group), "")]


@cache
def of_scripts() -> frozenset[str]:
    """Return the options of the scripts."""
    files = [*(ROOT / "scripts").rglob("*.py"), ROOT / "scripts" / "test"]
    files.append(ROOT / "tests" / "conftest.py")  # scripts/test takes the options of pytest
    found = (re.findall(r"\"(--[a-z][a-z-]*)\"", read(file)) for file in files)
    return frozenset(name for names in found for name in names)


def unknown(text: str) -> Iterator[str]:
    """Yield each command and option in a piece of code that does not exist."""
    calls = list(re.finditer(r"(?<![\w./-])dedup(?: ([a-z]+)(?: ([a-z]+))?)?(?=[\s`'\"]|$)", text))
    rest = text[: calls[0].start()] if calls else text
    ends = [call.start() for call in calls[1:]] + [len(text)] * bool(calls)
    for call, end in zip(calls, ends, strict=True):
        if call[1] == "did":  # of a message: documents that dedup did not write
            continue
        path = tuple(word for word in call.groups() if word)[: 1 + (call[1] in GROUPS)]
        if path and path not in COMMANDS and path != (call[1],) * (call[1] in GROUPS):
            yield f"dedup {' '.join(path)}"
        elif path in COMMANDS:
            given = text[call.end() : end]
            yield from sorted(flags(re.split(r"&&|\||;", given)[0]) - options_in_help(path) - HELP)
        else:
            rest += text[call.end() : end]
    every = {name for path in [(), *COMMANDS] for name in options_in_help(path)}
    yield from sorted(flags(rest) - every - set(FOREIGN) - of_scripts())


@pytest.mark.parametrize("page", COMMAND_PAGES, ids=name_of)
@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_the_options_of_each_command_are_those_of_its_help(
    path: tuple[str, ...], page: Path
) -> None:
    listed = options_in_help(path)
    assert listed >= HELP
    assert options_in(section(page, f"`{' '.join(('dedup', *path))}`")) == listed - HELP


def test_the_list_of_commands_says_how_the_help_of_each_begins() -> None:
    group = get_command(app)
    for name, told in shown_by(group):
        own = " ".join((group.get_command(Context(group), name).help or "").split())
        assert own.startswith(told.removesuffix(".")), name
        assert len(told) <= 65, "the list has a line for each"


@pytest.mark.parametrize("page", COMMAND_PAGES, ids=name_of)
def test_the_page_describes_every_command_and_no_other(page: Path) -> None:
    described = [words for _, words in headings(read(page)) if words.startswith("`dedup")]
    assert sorted(described) == sorted(f"`{' '.join(('dedup', *path))}`" for path in COMMANDS)


@pytest.mark.parametrize("page", COMMAND_PAGES, ids=name_of)
def test_the_options_of_dedup_alone_stand_above_the_commands(page: Path) -> None:
    above = read(page).split("<!-- begin")[0]
    assert {f"`{name}`" in above for name in options_in_help(())} == {True}


@pytest.mark.parametrize("name", READMES)
def test_the_readme_lists_the_options_of_a_run(name: str) -> None:
    assert options_in(section(ROOT / name, OF_RUN[name])) == options_in_help(("run",)) - HELP


@pytest.mark.parametrize("name", CODES)
def test_the_exit_codes_are_those_of_the_errors(name: str) -> None:
    def codes(error: type[DedupError]) -> set[int]:
        return {error.exit_code}.union(*(codes(child) for child in error.__subclasses__()))

    signals = {Interrupted("", s).code for s in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)}
    cells = first_column(section(ROOT / name, CODES[name]))
    assert {int(cell) for cell in cells if cell.isdigit()} == {0, QUARANTINED} | codes(
        DedupError
    ) | signals


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.name != "CHANGELOG.md"], ids=name_of
)
def test_every_command_and_option_that_a_page_names_exists(page: Path) -> None:
    assert [wrong for text in code(read(page)) for wrong in unknown(text)] == []


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("dedup run --source a --sorce b", ["--sorce"]),
        ("dedup check --limit 3", ["--limit"]),
        ("dedup config release", ["dedup config release"]),
        ("dedup config", []),
        ("dedup purge", ["dedup purge"]),
        ("--resume", ["--resume"]),
        ("uvx --from . dedup --help", []),
        ("dedup config show && mkdocs build --strict", []),
    ],
)
def test_a_command_or_option_that_is_gone_is_found(text: str, wrong: list[str]) -> None:
    assert list(unknown(text)) == wrong
