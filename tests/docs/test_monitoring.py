"""Metrics and events that pages, dashboard and alert rules name are those there are."""

from __future__ import annotations

import json
import logging
import re

import pytest

from dedup_job.cli.streams import JsonLines
from dedup_job.monitoring.ending import End
from dedup_job.monitoring.metrics import HELP
from dedup_job.report.progress import Log
from dedup_job.runs.counts import Counts
from dedup_job.runs.progress import Progress
from tests.docs.documentation import DOCS, first_column, read, section
from tests.monitoring.test_metrics import REPORT

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


def events(caplog: pytest.LogCaptureFixture) -> dict[str, set[str]]:
    """Return the names of the values of each event that a run logs."""
    caplog.set_level(logging.INFO, "dedup")
    progress = Progress(Log(seconds=0))
    progress.stage("loading the index")
    progress.advance(5)
    progress.began(REPORT, Counts(), None)
    progress.total(10)
    progress.checkpoint(REPORT)
    progress.waiting(5)
    progress.waiting(None)
    End(0, 1.0, REPORT).log()
    logging.getLogger("dedup").warning("words")
    lines = [json.loads(JsonLines().format(record)) for record in caplog.records]
    return {line["event"]: {*line} - {"time", "level", "event", "message"} for line in lines}


@pytest.mark.parametrize(
    ("page", "heading"), [("operations.md", "Events"), ("operations.zh.md", "事件")]
)
def test_the_page_lists_every_event_with_its_values(
    page: str, heading: str, caplog: pytest.LogCaptureFixture
) -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", section(DOCS / page, heading), re.M)
    listed = {name: set(re.findall(r"`(\w+)`", cell)) - {"message"} for name, cell in rows}
    assert listed == events(caplog)
