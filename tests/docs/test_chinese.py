"""The Chinese pages are in step with the English ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.documentation import (
    DOCS,
    TRANSLATED,
    fences,
    headings,
    name_of,
    read,
)

NEEDED = {"first-run", "output", "recipes", "commands", "operations"}
SAME = {"bash", "cron", "dockerfile", "ini", "js", "python", "toml", "yaml"}
pages = pytest.mark.parametrize(
    ("english", "chinese"), TRANSLATED, ids=[name_of(chinese) for _, chinese in TRANSLATED]
)


def test_the_pages_that_a_user_needs_are_there_in_chinese() -> None:
    assert {page.name.removesuffix(".zh.md") for page in DOCS.glob("*.zh.md")} == NEEDED


@pages
def test_the_headings_are_the_same_where_a_chinese_page_has_them(
    english: Path, chinese: Path
) -> None:
    ours, theirs = ([level for level, _ in headings(read(page))] for page in (chinese, english))
    assert ours == theirs[: len(ours)]
    assert len(ours) == len(theirs) or chinese.name == "operations.zh.md", "the end is in English"


@pages
def test_the_blocks_of_code_are_the_same(english: Path, chinese: Path) -> None:
    ours = fences(read(chinese))
    theirs = fences(read(english))[: len(ours)]
    assert [language for language, _ in ours] == [language for language, _ in theirs]
    assert [block for block in ours if block[0] in SAME] == [
        block for block in theirs if block[0] in SAME
    ]
