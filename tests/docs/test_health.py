"""docs/health.md names what there is: every action, every finding of health, every condition of the clouds."""

from __future__ import annotations

import re

from exporters.conditions.known import KNOWN
from inventory.health.findings import FINDINGS
from inventory.health.words import ACTIONS
from tests.processes import ROOT

TEXT = (ROOT / "docs" / "health.md").read_text(encoding="utf-8")
NAMED = set(re.findall(r"`([A-Za-z0-9_-]+)`", TEXT))


def test_every_action_is_in_the_table_and_no_other() -> None:
    table = TEXT.partition("| Action | For |")[2].partition("## ")[0]
    assert set(re.findall(r"`([a-z-]+)`", table)) == set(ACTIONS)


def test_the_findings_of_figures_and_the_conditions_are_named() -> None:
    assert FINDINGS.keys() - NAMED == {"exporter-check", "card-unhealthy", "node-condition"}
    assert KNOWN.keys() - NAMED == {"GPUXIDErrors"}
