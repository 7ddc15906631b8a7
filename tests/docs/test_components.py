"""docs/components.md names what there is: every state, every component of every stack, every kind that its roles let be read."""

from __future__ import annotations

import re

from inventory.models.choices import ComponentState
from inventory.models.cluster import SOFTWARE_KINDS
from stacks.engine.registry import registry
from tests.docs.reading import ROOT, table_rows
from tests.roles import shipped

PAGE = ROOT / "docs" / "components.md"
TEXT = PAGE.read_text(encoding="utf-8")


def test_every_state_is_in_the_table_and_no_other() -> None:
    table = TEXT.partition("## States")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| ([a-z][a-z -]+) \|", table, re.MULTILINE)) == set(ComponentState.values)


def test_the_components_of_each_stack_are_in_its_row_in_the_order_of_blame() -> None:
    rows = [row for row in table_rows(PAGE) if len(row) == 4 and "`" in row[1]]
    shown = [re.findall(r"`([a-z-]+)`", row[1]) for row in rows]
    declared = [[one.name for one in each.software.node] for each in registry.software if each.software.node]
    assert sorted(shown) == sorted(declared)


def test_the_role_and_the_docs_have_each_kind_that_is_read() -> None:
    (role,) = shipped("watcher-role.yaml")
    granted = {name for rule in role["rules"] for name in rule["resources"]}
    connect = (ROOT / "docs" / "connect-a-cluster.md").read_text(encoding="utf-8")
    for kind in SOFTWARE_KINDS:
        assert kind.value in granted
        assert f"`{kind.value}`" in connect
