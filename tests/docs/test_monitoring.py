"""Metrics and events that pages, dashboard and alert rules name are those there are."""

from __future__ import annotations

import json
import logging
import re
from typing import Any

import pytest
import yaml

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


def rules() -> list[dict[str, Any]]:
    """Return the alert rules."""
    return [rule for group in yaml.safe_load(read(ALERTS))["groups"] for rule in group["rules"]]


def panels() -> list[dict[str, Any]]:
    """Return the panels of the dashboard."""
    found: list[dict[str, Any]] = json.loads(read(DASHBOARD))["panels"]
    return found


@pytest.mark.parametrize("file", [DASHBOARD, ALERTS], ids=lambda file: file.name)
def test_every_metric_of_dashboard_and_rules_exists(file: Any) -> None:
    assert set(re.findall(METRIC, read(file))) <= set(HELP)


def test_dashboard_and_rules_use_every_metric() -> None:
    assert set(re.findall(METRIC, read(DASHBOARD) + read(ALERTS))) == set(HELP)


def test_every_rule_has_what_prometheus_wants() -> None:
    assert len({rule["alert"] for rule in rules()}) == len(rules())
    for rule in rules():
        assert rule["expr"].count("(") == rule["expr"].count(")")
        assert rule["labels"]["severity"] in ("info", "warning", "critical")
        assert "$labels.target" in rule["annotations"]["summary"]


def test_every_panel_has_a_place_a_title_and_a_query() -> None:
    places = set()
    for panel in panels():
        assert panel["title"]
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        places.add((place["x"], place["y"]))
        for target in panel["targets"]:
            assert target["expr"].count("(") == target["expr"].count(")")
            assert re.search(METRIC, target["expr"])
            assert target["legendFormat"].startswith("{{target}}")
    assert len(places) == len(panels()) == len({panel["id"] for panel in panels()})


@pytest.mark.parametrize("page", ["monitoring.md", "monitoring.zh.md"])
def test_the_page_lists_every_metric_in_the_order_of_the_file(page: str) -> None:
    heading = {"monitoring.md": "Metrics", "monitoring.zh.md": "指标"}[page]
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


@pytest.mark.parametrize("page", ["operations.md", "operations.zh.md"])
def test_the_page_lists_every_event_with_its_values(
    page: str, caplog: pytest.LogCaptureFixture
) -> None:
    heading = {"operations.md": "Events", "operations.zh.md": "事件"}[page]
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", section(DOCS / page, heading), re.M)
    listed = {name: set(re.findall(r"`(\w+)`", cell)) - {"message"} for name, cell in rows}
    assert listed == events(caplog)
