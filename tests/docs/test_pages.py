"""Pages are fresh, link to what exists, and hold nothing of one machine."""

from __future__ import annotations

import re
import tomllib
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
STANDARD = {"/usr/sbin/sendmail"}  # the same on every machine, as the Linux Standard Base has it
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


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Here\n[a](page.md#here) [b](page.md#there) [c](gone.md) `[d](e.md)`\n")
    assert broken(page) == ["page.md#there", "gone.md"]


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


def test_a_file_that_is_gone_is_found() -> None:
    text = "`scripts/test` `mongo/source` `report/gone.py` `room.py`\n```\ndocs/no.md\n```\n"
    assert gone(text) == ["docs/no.md", "report/gone.py", "room.py"]


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


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_page_holds_a_path_of_one_machine(page: Path) -> None:
    named = re.findall(r"(?<![\w$.])/(?:home|root|tmp|work|usr|Users)/\S*", read(page))
    assert set(named) <= STANDARD


@pytest.mark.parametrize("name", ["README.md", "README.zh-CN.md"])
def test_the_readme_is_short_and_lists_its_sections(name: str) -> None:
    text = read(ROOT / name)
    assert len(text.splitlines()) <= 250
    listed = re.findall(r"^- \[(.*?)\]\(#", text, re.M)
    assert listed == [words for level, words in headings(text) if level == 2]


def test_every_page_is_in_the_navigation_of_the_site() -> None:
    listed = re.findall(r"^ +- [^:]+: (\S+\.md)$", read(ROOT / "mkdocs.yml"), re.M)
    assert sorted(listed) == sorted(
        page.name for page in DOCS.glob("*.md") if not page.name.endswith(".zh.md")
    )


def test_links_that_leave_the_site_become_text() -> None:
    text = site_hooks.on_page_markdown("see [the README](../README.md#x) and [this](index.md)")
    assert text == "see the README and [this](index.md)"


def test_chinese_lines_are_joined_and_lists_are_not() -> None:
    text = "保留的\n文档，\n`_id` 不变：\n\n- 一\n- 二\n\n```\nx\n```\n以及 a\nb"
    joined = site_hooks.on_page_markdown(text)
    assert joined == "保留的文档，`_id` 不变：\n\n- 一\n- 二\n\n```\nx\n```\n以及 a\nb"


def test_a_block_of_code_keeps_its_chinese_lines() -> None:
    text = "完成：\n\n```text\n第 1 次运行（完成）\n文档\n```\n\n完\n成\n"
    joined = site_hooks.on_page_markdown(text)
    assert joined == "完成：\n\n```text\n第 1 次运行（完成）\n文档\n```\n\n完成\n"


def test_short_code_is_marked_to_stay_whole() -> None:
    html = site_hooks.on_page_content("<code>--limit</code> <code>" + "x" * 50 + "</code>")
    assert html == '<code class="whole">--limit</code> <code>' + "x" * 50 + "</code>"


def test_a_bar_within_code_is_a_bar_in_a_table() -> None:
    assert (
        site_hooks.on_page_content(r"<td><code>a \| b</code></td>") == "<td><code>a | b</code></td>"
    )


def test_contributing_says_why_each_dependency_is_there() -> None:
    project = tomllib.loads(read(ROOT / "pyproject.toml"))["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    text = read(ROOT / "CONTRIBUTING.md")
    rows = re.findall(
        r"^\| ([a-z][\w, -]*?)(?: \((?:dev|extra `(?:embedded|docs|files|learn|ray|review)`)\))?"
        r" \|",
        text,
        re.M,
    )
    assert {name for row in rows for name in row.split(", ")} == {
        re.split(r"[\[<>=;]", requirement)[0].strip() for group in groups for requirement in group
    }
