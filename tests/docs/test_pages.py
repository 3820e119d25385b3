"""Pages are fresh, and name and link to what exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts import make_docs, site_hooks
from tests.docs.documentation import (
    DOCS,
    PAGES,
    ROOT,
    code,
    headings,
    name_of,
    read,
    slug,
    without_fences,
)

TAGS = r"<a id=\"([^\"]+)\">"
PACKAGE = ROOT / "dedup_job"
FOLDERS = "|".join(f.name for root in (ROOT, PACKAGE) for f in root.iterdir() if f.is_dir())
PATH = re.compile(rf"(?<![\w./$~:-])(?:(?:{FOLDERS})/[\w./-]*\w|[\w-]+\.py\b)")
EXAMPLES = {"docs/s", "docs/page.zh.md", "utils.py"}  # no files, and the text says so


def anchors(page: Path) -> set[str]:
    """Return what a link to this page may name behind its #."""
    text = read(page)
    return {slug(words) for _, words in headings(text)} | set(re.findall(TAGS, text))


def broken(page: Path) -> list[str]:
    """Return the links of a page that lead nowhere."""
    wrong = []
    for link in re.findall(r"(?<!!)\[[^\]\n]*(?:\n[^\]\n]*)?\]\(([^)\s]+)\)", _text(page)):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            wrong.append(link)
    return wrong


def _text(page: Path) -> str:
    return re.sub(r"`[^`\n]+`", "x", without_fences(read(page)))


def test_the_generated_parts_are_those_of_the_program() -> None:
    names = [name_of(page) for page in make_docs.stale()]
    assert names == [], "run scripts/make_docs.py"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    assert broken(page) == []


def gone(text: str) -> list[str]:
    """Return the files that a text names and that are not there; a module needs no ending."""
    named = {found[0] for line in code(text) for found in PATH.finditer(line)} - EXAMPLES
    return sorted(name for name in named if not _exists(name))


def _exists(name: str) -> bool:
    if "/" not in name:  # beside a file whose folder was named
        return any(next((ROOT / part).rglob(name), None) for part in ("dedup_job", "scripts"))
    names = (name, f"{name}.py", f"{name.rpartition('.')[0]}.py")  # the last of a function
    return any((root / each).exists() for root in (ROOT, PACKAGE) for each in names)


@pytest.mark.parametrize("page", [p for p in PAGES if p.name != "CHANGELOG.md"], ids=name_of)
def test_every_file_that_a_page_names_exists(page: Path) -> None:
    assert gone(read(page)) == []


def test_the_house_lists_every_folder_and_file_of_the_package() -> None:
    block = read(ROOT / "CONTRIBUTING.md").split("## The house")[1].split("```")[1]
    folders, listed = [ROOT], set()
    for indent, name in re.findall(r"^( *)(\S+)(?:  |$)", block, re.M):
        folders[1 + len(indent) // 2 :] = [folders[len(indent) // 2] / name]
        assert folders[-1].exists(), folders[-1]
        listed.add(folders[-1])
    own = {*PACKAGE.iterdir()} - {PACKAGE / "__main__.py", PACKAGE / "py.typed"}
    built = {"__pycache__", *(path.name for path in PACKAGE.glob("_core.*.so"))}
    assert {path for path in own if path.name not in built} <= listed


@pytest.mark.parametrize("name", ["README.md", "README.zh-CN.md"])
def test_the_readme_is_one_screen(name: str) -> None:
    assert len(read(ROOT / name).splitlines()) <= 60


def test_every_page_is_in_the_navigation_of_the_site() -> None:
    listed = re.findall(r"^ +- [^:]+: (\S+\.md)$", read(ROOT / "mkdocs.yml"), re.M)
    assert sorted(listed) == sorted(
        page.name for page in DOCS.glob("*.md") if not page.name.endswith(".zh.md")
    )


def test_what_the_site_changes_in_a_page() -> None:
    told = "[the README](../README.md#x)，\n[这](api.md)：\n\n- 一\n\n```\n第一\n行\n```\n"
    changed = told.replace("[the README](../README.md#x)，\n", "the README，")
    assert site_hooks.on_page_markdown(told) == changed
    assert site_hooks.on_page_content(r"<td>a \| b</td>") == "<td>a | b</td>"
