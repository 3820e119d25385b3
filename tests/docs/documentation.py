"""The pages as tests read them: sections, code, links and figures."""

import re
from functools import cache
from pathlib import Path

from typer.testing import CliRunner

from dedup_job.cli import app

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
HELP = {"-h", "--help"}  # every command has it; the pages say so once
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
    """Return the name of a page as a test shows it."""
    return str(page.relative_to(ROOT))


def without_fences(text):
    """Return a text without its blocks of code."""
    return _FENCE.sub("", text)


def fences(text):
    """Return language and content of each block of code, comments and Chinese left out."""
    return [(found[2], _COMMENT.sub("", found[3])) for found in _FENCE.finditer(text)]


def headings(text):
    """Return level and words of each heading."""
    found = re.findall(r"^(#+) (.*)$", without_fences(text), re.M)
    return [(len(marks), words) for marks, words in found]


def section(page, heading):
    """Return what stands below a heading, up to the next one."""
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#+ |\Z)", read(page), re.M | re.S)
    assert found, f"{page.name} has no heading {heading!r}"
    return found[1]


def first_column(text):
    """Return the first cell of each row of the tables in a text."""
    return [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| ")]


def spans(text):
    """Return what stands in backticks."""
    return re.findall(r"`([^`\n]+)`", without_fences(text))


def code(text):
    """Yield what stands in backticks, and each line of the blocks of code."""
    yield from spans(text)
    for found in _FENCE.finditer(text):
        yield from found[3].splitlines()


def flags(text):
    """Return the names of options in a text, long ones."""
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text))


def slug(heading):
    """Return the anchor of a heading, as both the site and the repository have it."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


@cache
def options_in_help(path):
    """Return the names of the options that --help of a command lists."""
    result = CliRunner().invoke(app, [*path, "--help"], env={"COLUMNS": "200"})
    assert result.exit_code == 0
    rows = re.findall(r"^  (-[^ ].*?)(?:  |$)", result.stdout, re.M)
    return frozenset(name for row in rows for name in re.findall(r"(?<!\S)--?[a-z][a-z-]*", row))


def options_in(text):
    """Return the names of the options in the first column of the tables of a text."""
    cells = first_column(text)
    return {name for cell in cells for name in re.findall(r"(?<=`)--?[a-z][a-z-]*", cell)}
