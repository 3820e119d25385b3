"""The README says what the program does: options, settings, reasons and exit codes."""

from __future__ import annotations

import re
import signal
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from dedup_job.cli import app
from dedup_job.commands.run import QUARANTINED
from dedup_job.documents import Reason
from dedup_job.errors import DedupError, Interrupted
from dedup_job.judgment import RULES
from dedup_job.report.run import Status
from dedup_job.settings import load

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")
HELP = {"-h", "--help"}  # every command has it; the README says so once


def section(heading: str) -> str:
    """Return what stands below a heading, up to the next one."""
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#+ |\Z)", README, re.M | re.S)
    assert found, f"the README has no heading {heading!r}"
    return found[1]


def first_column(text: str) -> list[str]:
    """Return the first cell of each row of the tables in a text."""
    return [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| ")]


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the words of the command and of all below it, groups without options left out."""
    below = getattr(command, "commands", {})
    if not path or not below:
        yield path
    for name, child in below.items():
        yield from commands(child, (*path, name))


def options_in_help(path: tuple[str, ...]) -> set[str]:
    """Return the names of the options that --help of a command lists."""
    result = CliRunner().invoke(app, [*path, "--help"], env={"COLUMNS": "200"})
    assert result.exit_code == 0
    rows = re.findall(r"^  (-[^ ].*?)(?:  |$)", result.stdout, re.M)
    return {name for row in rows for name in re.findall(r"(?<!\S)--?[a-z][a-z-]*", row)}


def options_in_readme(path: tuple[str, ...]) -> set[str]:
    """Return the names of the options in the tables below a command's heading."""
    cells = first_column(section(f"`{' '.join(('dedup', *path))}`"))
    return {name for cell in cells for name in re.findall(r"(?<=`)--?[a-z][a-z-]*", cell)}


COMMANDS = list(commands(get_command(app)))


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: " ".join(("dedup", *path)))
def test_the_options_of_each_command_are_those_of_its_help(path: tuple[str, ...]) -> None:
    listed = options_in_help(path)
    assert listed >= HELP
    assert options_in_readme(path) == (listed - HELP if path else listed)


def test_the_readme_describes_every_command_and_no_other() -> None:
    described = re.findall(r"^### `(dedup[ a-z]*)`$", README, re.M)
    assert sorted(described) == sorted(" ".join(("dedup", *path)) for path in COMMANDS)


def test_the_exit_codes_are_those_of_the_errors() -> None:
    def codes(error: type[DedupError]) -> set[int]:
        return {error.exit_code}.union(*(codes(child) for child in error.__subclasses__()))

    signals = {Interrupted("", s).code for s in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)}
    described = {int(cell) for cell in first_column(section("Exit codes")) if cell.isdigit()}
    assert described == {0, QUARANTINED} | codes(DedupError) | signals


def test_the_settings_are_those_of_the_program() -> None:
    described = {
        cell.strip("`* ")
        for cell in first_column(section("Settings"))
        if cell.startswith("`") and not cell.endswith(".toml`")
    }
    assert described == {name for name, *_ in load().rows()}


def test_the_settings_marked_with_a_star_are_those_of_the_stamp() -> None:
    starred = {cell.strip("`* ") for cell in first_column(section("Settings")) if "*" in cell}
    stamp = load().settings.stamp()
    assert stamp.pop("rules") == RULES
    assert starred == {f"{part}.{name}" for part, values in stamp.items() for name in values}


@pytest.mark.parametrize("word", [*Reason, *Status])
def test_every_reason_and_status_is_explained(word: str) -> None:
    assert f"`{word}`" in README


def test_the_presets_listed_are_those_in_configs() -> None:
    listed = set(re.findall(r"^\| `(configs/[a-z]+\.toml)`", README, re.M))
    assert listed == {f"configs/{file.name}" for file in (ROOT / "configs").glob("*.toml")}


@pytest.mark.parametrize("page", PAGES)
def test_no_page_holds_a_path_of_one_machine(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert re.findall(r"(?<![\w$.])/(?:home|root|tmp|work|usr|Users)/\S*", text) == []


def test_contributing_says_why_each_dependency_is_there() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([a-z].*?)(?: \((?:dev|extra `embedded`)\))? \|", text, re.M)
    assert {name for row in rows for name in row.split(", ")} == {
        re.split(r"[\[<>=;]", requirement)[0].strip() for group in groups for requirement in group
    }
