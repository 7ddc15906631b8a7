"""Alert rules and the dashboard: promtool tries the rules, and both ask for what gpudash exports and for nothing else."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml

from inventory.condition import State as MirrorState
from inventory.models.choices import ComponentState, Severity
from inventory.models.cluster import Kind
from runtime.models import Role
from tests.docs.reading import ROOT, table_rows
from tests.promtool import promtool
from validations.models import ACTIVE

RULES = ROOT / "deploy" / "prometheus" / "alerts.yaml"
DASHBOARD = ROOT / "deploy" / "grafana" / "gpudash.json"
#: promtool evaluates all rules at each step of a file: what takes days has a file with longer steps.
CASES = sorted((ROOT / "tests" / "deploy").glob("*.test.yaml"))
#: Of labels of which all values are known, these, by the metric that has them.
VALUES = {
    ("gpudash_heartbeat_timestamp_seconds", "role"): set(Role.values),
    ("gpudash_mirror_state", "state"): set(MirrorState.values),
    ("gpudash_mirror_state", "kind"): set(Kind.values),
    ("gpudash_mirror_synced", "kind"): set(Kind.values),
    ("gpudash_mirror_last_event_timestamp_seconds", "kind"): set(Kind.values),
    ("gpudash_mirror_audit_timestamp_seconds", "kind"): set(Kind.values),
    ("gpudash_validation_runs", "state"): set(ACTIVE),
    ("gpudash_findings", "severity"): set(Severity.values),
    ("gpudash_component_state", "state"): set(ComponentState.values),
    ("gpudash_card_health", "state"): {"healthy", "degraded", "unhealthy", "unknown"},
    ("gpudash_node_health", "state"): {"healthy", "degraded", "unhealthy", "unknown"},
    ("gpudash_validation_run_last_verdict", "verdict"): {"passed", "failed", "warning", "errored", "skipped"},
}
SELECTOR = re.compile(r"\b(gpudash_[a-z_]+)(?:\{([^}]*)\})?")
MATCHER = re.compile(r'(\w+)\s*(=~|!=|!~|=)\s*"([^"]*)"')


def rules() -> list[dict[str, Any]]:
    return [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]


def expressions() -> dict[str, str]:
    """Where it stands → what is asked for."""
    panels = json.loads(DASHBOARD.read_text())["panels"]
    shown = {
        f"panel {panel['title']} {target['refId']}": target["expr"]
        for panel in panels
        for target in panel.get("targets", ())
    }
    return {f"alert {rule['alert']}": rule["expr"] for rule in rules()} | shown


def exported() -> set[str]:
    """Metrics of the page that is written from a scrape."""
    rows = table_rows(ROOT / "docs" / "reference" / "metrics.md")
    return {row[0].strip("`") for row in rows if row[0].startswith("`gpudash_")}


def test_what_is_asked_for_is_exported() -> None:
    found = expressions()
    assert len(found) > 20
    for where, text in found.items():
        selectors = SELECTOR.findall(text)
        assert selectors, where
        for metric, matchers in selectors:
            assert metric in exported(), where
            for label, _, values in MATCHER.findall(matchers):
                if known := VALUES.get((metric, label)):
                    assert set(values.split("|")) <= known | {""}, f"{where}: {metric}{{{label}}}"


def test_promtool_takes_the_rules() -> None:
    assert f"SUCCESS: {len(rules())} rules found" in promtool("check", "rules", str(RULES))


def test_each_alert_fires_when_it_should_and_not_else() -> None:
    assert promtool("test", "rules", *map(str, CASES)).count("SUCCESS") == len(CASES)
    tests = [test for file in CASES for test in yaml.safe_load(file.read_text())["tests"]]
    cases = [case for test in tests for case in test["alert_rule_test"]]
    fired = {case["alertname"] for case in cases if case.get("exp_alerts")}
    quiet = {case["alertname"] for case in cases if not case.get("exp_alerts")}
    assert fired == quiet == {rule["alert"] for rule in rules()}


def test_every_alert_has_a_severity_and_a_summary() -> None:
    assert len({rule["alert"] for rule in rules()}) == len(rules())
    assert all(rule["labels"]["severity"] in ("critical", "warning", "info") for rule in rules())
    assert all(rule["annotations"]["summary"] for rule in rules())


def test_the_dashboard_is_one_that_grafana_can_import() -> None:
    board = json.loads(DASHBOARD.read_text())
    assert board["uid"] == "gpudash"
    assert board["schemaVersion"] >= 39
    assert [one["name"] for one in board["templating"]["list"]] == ["datasource", "cluster"]
    ids = [panel["id"] for panel in board["panels"]]
    assert len(ids) == len(set(ids)) > 8
    places = [tuple(panel["gridPos"][key] for key in "xywh") for panel in board["panels"]]
    for number, (x, y, w, h) in enumerate(places):
        assert x + w <= 24
        others = places[:number]
        assert not [
            one for one in others if x < one[0] + one[2] and one[0] < x + w and y < one[1] + one[3] and one[1] < y + h
        ]
    for panel in board["panels"]:
        assert panel["type"] == "row" or panel["datasource"]["uid"] == "${datasource}"


def test_the_docs_list_every_alert() -> None:
    page = (ROOT / "docs" / "metrics.md").read_text()
    assert {rule["alert"]: rule["labels"]["severity"] for rule in rules()} == {
        name.strip("` "): row[0]
        for row in table_rows(ROOT / "docs" / "metrics.md")
        if row[0] in ("critical", "warning", "info")
        for name in row[2].split(",")
    }
    assert "rule_files" in page


@pytest.mark.parametrize("where", ["deploy/prometheus/alerts.yaml", "deploy/grafana/gpudash.json"])
def test_the_docs_name_them(where: str) -> None:
    assert where in (ROOT / "docs" / "metrics.md").read_text()
