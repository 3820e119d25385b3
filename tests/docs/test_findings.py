"""What `dedup check` finds stands in the pages: each finding has one sentence, and no other has."""

from __future__ import annotations

import re

import pytest

from dedup_job.runs.status import NOTES, Check
from tests.docs.documentation import DOCS, read


@pytest.mark.parametrize(("page", "no"), [("operations.md", "no"), ("operations.zh.md", "否")])
def test_each_finding_has_one_sentence_that_says_whether_it_is_an_error(page: str, no: str) -> None:
    table = read(DOCS / page).split("|---|---|---|\n")[1].split("\n\n")[0]
    rows = re.findall(r"^\| (.+?) \| (\S+) \| (.+?) \|$", table, re.M)
    assert [name for name, _, _ in rows] == [*map(str, Check)]
    assert [said == no for _, said, _ in rows] == [check in NOTES for check in Check]
    sentences = [re.split(r"(?<=\.) |(?<=。)", sentence.strip("。")) for _, _, sentence in rows]
    assert {*map(len, sentences)} == {1}
