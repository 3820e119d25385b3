"""The page on the output explains what the report names."""

from __future__ import annotations

import pytest

from dedup_job.judgment.guards import GUARDS
from dedup_job.report.labels import label
from tests.docs.documentation import DOCS, read

APART = [*(guard.name for guard in GUARDS), "unlikely", "similarity"]


@pytest.mark.parametrize("name", APART)
def test_whatever_keeps_similar_texts_apart_stands_there_as_the_report_calls_it(name: str) -> None:
    assert f"| {label(name)} | `{name}` |" in read(DOCS / "output.md")
