"""Metrics and events that pages, dashboard and alert rules name are those there are."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from typing import Any

import pytest
import yaml

from dedup_job.monitoring.events import Event
from dedup_job.monitoring.metrics import HELP
from tests.docs.documentation import DOCS, first_column, read, section

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
    named = set(re.findall(METRIC, read(file)))
    assert named
    assert named <= set(HELP)


def test_dashboard_and_rules_use_every_metric_but_those_of_the_file_itself() -> None:
    used = set(re.findall(METRIC, read(DASHBOARD) + read(ALERTS)))
    assert set(HELP) - used <= {"dedup_run_start_timestamp_seconds"}


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


@pytest.mark.parametrize("page", ["operations.md", "operations.zh.md"])
def test_the_page_lists_every_event_with_its_values(page: str) -> None:
    heading = {"operations.md": "Events", "operations.zh.md": "事件"}[page]
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", section(DOCS / page, heading), re.M)
    listed = {name: set(re.findall(r"`(\w+)`", cell)) for name, cell in rows}
    assert listed == {e.name(): {f.name for f in fields(e)} for e in Event.__subclasses__()}
