"""docs/health.md names what there is: every finding of health, every condition of the clouds."""

from __future__ import annotations

import re

from exporters.conditions.known import KNOWN
from inventory.health.findings import FINDINGS
from tests.docs import health_actions
from tests.processes import ROOT

TEXT = (ROOT / "docs" / "health.md").read_text(encoding="utf-8")
NAMED = set(re.findall(r"`([A-Za-z0-9_-]+)`", TEXT))


def test_the_page_of_actions_is_up_to_date() -> None:
    assert health_actions.PAGE.read_text(encoding="utf-8") == health_actions.page(), (
        "run: python -m tests.docs.health_actions"
    )


def test_the_findings_of_figures_and_the_conditions_are_named() -> None:
    assert FINDINGS.keys() - NAMED == {"exporter-check", "card-unhealthy", "node-condition"}
    assert KNOWN.keys() - NAMED == {"GPUXIDErrors"}
