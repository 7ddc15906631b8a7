"""axe-core on a page that is open: what of it is not accessible."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

from tests.processes import ROOT

SOURCE = ROOT / ".tools/browser/axe-core/axe.min.js"
#: Everything that axe-core knows but what it calls experimental: WCAG's rules and the best practices.
ALL: dict[str, Any] = {"resultTypes": ["violations"], "rules": {"target-size": {"enabled": True}}}
#: What can come and go with the theme alone.
COLOURS: dict[str, Any] = {
    "resultTypes": ["violations"],
    "runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]},
}
#: What can come and go with the width alone.
PLACES: dict[str, Any] = {
    "resultTypes": ["violations"],
    "runOnly": {
        "type": "rule",
        "values": [
            *("color-contrast", "target-size", "scrollable-region-focusable", "link-in-text-block", "heading-order"),
            *("empty-table-header", "aria-hidden-focus", "link-name", "button-name", "label", "skip-link", "region"),
        ],
    },
}
_RUN = """async (options) => (await axe.run(document, options)).violations.flatMap((rule) =>
    rule.nodes.map((node) => `${rule.id}: ${node.target.join(" ")} · ${node.html.slice(0, 160)} · ${node.any
        .concat(node.all, node.none).map((check) => check.message).join("; ").slice(0, 300)}`))"""


def source() -> str:
    if not SOURCE.is_file():
        pytest.fail(f"{SOURCE.relative_to(ROOT)} is not there: `make setup` brings it")
    return SOURCE.read_text()


def violations(page: Page, script: str, options: dict[str, Any]) -> list[str]:
    """Rule, element and what is the matter, a line each. script: `source()`."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(script)
    found: list[str] = page.evaluate(_RUN, options)
    return found
