"""The Chinese pages are in step with the English ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.documentation import (
    DOCS,
    TRANSLATED,
    fences,
    figures,
    headings,
    name_of,
    read,
    sections,
    spans,
    without_generated,
)

NEEDED = {"index", "first-run", "how-it-decides", "data-format", "operations", "scaling"}
NEEDED |= {"troubleshooting", "settings", "commands", "presets", "api"}
SAME = {"bash", "cron", "dockerfile", "ini", "js", "python", "toml", "yaml"}
pages = pytest.mark.parametrize(
    ("english", "chinese"), TRANSLATED, ids=[name_of(chinese) for _, chinese in TRANSLATED]
)


def test_the_pages_that_a_user_needs_are_there_in_chinese() -> None:
    assert {page.name.removesuffix(".zh.md") for page in DOCS.glob("*.zh.md")} >= NEEDED


@pages
def test_the_headings_are_the_same(english: Path, chinese: Path) -> None:
    assert [level for level, _ in headings(read(chinese))] == [
        level for level, _ in headings(read(english))
    ]


@pages
def test_the_blocks_of_code_are_the_same(english: Path, chinese: Path) -> None:
    theirs, ours = fences(read(english)), fences(read(chinese))
    assert [language for language, _ in ours] == [language for language, _ in theirs]
    assert [block for block in ours if block[0] in SAME] == [
        block for block in theirs if block[0] in SAME
    ]


@pages
def test_the_figures_are_the_same(english: Path, chinese: Path) -> None:
    for here, there in _pairs(english, chinese):
        assert figures(here) == figures(there), f"{here}\n\n{there}"


@pages
def test_what_stands_in_backticks_is_the_same(english: Path, chinese: Path) -> None:
    for here, there in _pairs(english, chinese):
        assert set(spans(here)) == set(spans(there)), f"{here}\n\n{there}"


@pages
def test_the_links_are_the_same(english: Path, chinese: Path) -> None:
    for here, there in _pairs(english, chinese):
        assert here.count("](") == there.count("]("), f"{here}\n\n{there}"


def _pairs(english: Path, chinese: Path) -> list[tuple[str, str]]:
    one, other = (sections(without_generated(read(page))) for page in (english, chinese))
    return list(zip(one, other, strict=True))
