"""Metrics that pages, dashboard and alert rules name are those there are."""

from __future__ import annotations

import re

import pytest

from dedup_job.report.progress import HELP
from tests.docs.documentation import DOCS, first_column, read, section

DASHBOARD = DOCS / "monitoring" / "dashboard.json"
ALERTS = DOCS / "monitoring" / "alerts.yml"
METRIC = r"\bdedup_[a-z_]*[a-z]\b"


def test_dashboard_and_rules_use_every_metric_and_no_other() -> None:
    assert set(re.findall(METRIC, read(DASHBOARD) + read(ALERTS))) == set(HELP)


@pytest.mark.parametrize(
    ("page", "heading"), [("operations.md", "Metrics"), ("operations.zh.md", "指标")]
)
def test_the_page_lists_every_metric_in_the_order_of_the_file(page: str, heading: str) -> None:
    cells = first_column(section(DOCS / page, heading))
    assert [cell.strip("`") for cell in cells if cell.startswith("`dedup")] == [*HELP]
