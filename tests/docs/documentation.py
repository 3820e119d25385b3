"""Parsing of the pages: sections, code, tables and options."""

import re
from functools import cache
from pathlib import Path

from typer.testing import CliRunner

from dedup_job.cli import app

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
HELP = {"-h", "--help"}  # an option of every command, listed once
READMES = ("README.md", "README.zh-CN.md")
TRANSLATED = [(ROOT / READMES[0], ROOT / READMES[1])] + [
    (page.with_name(page.name.replace(".zh.md", ".md")), page) for page in DOCS.glob("*.zh.md")
]
USER_PAGES = sorted([*(ROOT / name for name in READMES), *DOCS.glob("*.md")])
PAGES = [*USER_PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
_FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.M | re.S)
_COMMENT = re.compile(r"(?:^|\s)(?:#|//) .*|(?<=\")(?:[^\"\x00-\x7f][^\"]*)(?=\")", re.M)


def read(page):
    """Return the text of a page."""
    return page.read_text(encoding="utf-8")


def name_of(page):
    """Return the path of a page relative to the repository."""
    return str(page.relative_to(ROOT))


def without_fences(text):
    """Return a text without its code blocks."""
    return _FENCE.sub("", text)


def fences(text):
    """Return language and content of each code block, without comments and Chinese."""
    return [(block[2], _COMMENT.sub("", block[3])) for block in _FENCE.finditer(text)]


def headings(text):
    """Return level and words of each heading."""
    headings = re.findall(r"^(#+) (.*)$", without_fences(text), re.M)
    return [(len(marks), words) for marks, words in headings]


def section(page, heading):
    """Return the text below a heading, up to the next one; AssertionError without the heading."""
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#+ |\Z)", read(page), re.M | re.S)
    assert found, f"{page.name} has no heading {heading!r}"
    return found[1]


def first_column(text):
    """Return the first cell of each row of the tables in a text."""
    return [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| ")]


def spans(text):
    """Return the texts in backticks outside code blocks."""
    return re.findall(r"`([^`\n]+)`", without_fences(text))


def code(text):
    """Yield the texts in backticks, and each line of the code blocks."""
    yield from spans(text)
    for block in _FENCE.finditer(text):
        yield from block[3].splitlines()


def flags(text):
    """Return the long options in a text."""
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text))


def slug(heading):
    """Return the anchor of a heading, on the site and on GitHub."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


@cache
def options_in_help(path):
    """Return the options in the --help of a command."""
    result = CliRunner().invoke(app, [*path, "--help"], env={"COLUMNS": "200"})
    assert result.exit_code == 0
    rows = re.findall(r"^  (-[^ ].*?)(?:  |$)", result.stdout, re.M)
    return frozenset(name for row in rows for name in re.findall(r"(?<!\S)--?[a-z][a-z-]*", row))


def options_in(text):
    """Return the options in the first column of the tables of a text."""
    cells = first_column(text)
    return {name for cell in cells for name in re.findall(r"(?<=`)--?[a-z][a-z-]*", cell)}
