"""The pages explain every setting, reason, status and preset, and name no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dedup_job.documents import Reason
from dedup_job.judgment import RULES
from dedup_job.runs.run import Status
from dedup_job.settings import Settings, load
from tests.docs.documentation import DOCS, ROOT, USER_PAGES, first_column, name_of, read, spans

PAGE = DOCS / "settings.md"
NAMES = {name for name, *_ in load().rows()}


def generated() -> list[str]:
    """Return the first cells of the generated tables."""
    parts = re.findall(r"<!-- begin settings: \w+ -->(.*?)<!-- end -->", read(PAGE), re.S)
    return [cell for part in parts for cell in first_column(part) if cell.startswith("`")]


def test_the_settings_are_those_of_the_program() -> None:
    assert {cell.strip("`* ") for cell in generated()} == NAMES


def test_the_settings_marked_with_a_star_are_those_of_the_stamp() -> None:
    starred = {cell.strip("`* ") for cell in generated() if cell.endswith("*")}
    stamp = load().settings.stamp()
    assert stamp.pop("rules") == RULES
    assert starred == {f"{part}.{name}" for part, values in stamp.items() for name in values}


@pytest.mark.parametrize("page", USER_PAGES, ids=name_of)
def test_every_setting_that_a_page_names_exists(page: Path) -> None:
    sections = "|".join(Settings.model_fields)
    words = (re.match(rf"(?:{sections})\.[a-z_]+(?![\w./])", span) for span in spans(read(page)))
    named = {word[0] for word in words if word}
    assert named <= NAMES


@pytest.mark.parametrize("word", [*Reason, *Status])
def test_every_reason_and_status_is_explained(word: str) -> None:
    cells = [line for line in read(DOCS / "data-format.md").splitlines() if line.startswith("| ")]
    assert any(f"`{word}`" in cell for cell in cells)


def test_the_presets_listed_are_those_in_configs() -> None:
    listed = re.findall(r"\(\.\./configs/([a-z]+)\.toml\)", read(PAGE))
    assert sorted(listed) == sorted(file.stem for file in (ROOT / "configs").glob("*.toml"))
