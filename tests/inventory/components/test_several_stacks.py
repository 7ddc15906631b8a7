"""Several stacks in one cluster: what one of them has is not missing of another."""

from __future__ import annotations

from typing import Any

import yaml

from tests.inventory.components.case import GOLDEN, Case, made


def both(*cases: str) -> Case:
    """The objects of several cases in one cluster."""
    found: list[dict[str, Any]] = [yaml.safe_load((GOLDEN / f"{name}.yaml").read_text()) for name in cases]
    return made([one for case in found for one in case["objects"]], str(found[0]["now"]), {})


def test_a_node_whose_cards_another_directx_plugin_gives_out_lacks_nothing() -> None:
    case = both("c11-alibaba-directx-nodes", "c10-directx-server-2025")
    here = case.of_node("win-1")
    assert here.statements["directx-alibaba"].state == "ready"
    for name in ("directx-wddm", "directx-mcdm"):
        assert here.statements[name].state == "not needed"
        assert "windows.alibabacloud.com/directx" in here.statements[name].why
    assert here.first_cause == ""
    assert case.of_node("win25").first_cause == "directx-wddm", "no other plugin offers anything there"
    assert case.of_node("win-2").first_cause == "directx-alibaba"
