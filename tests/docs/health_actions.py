"""`python -m tests.docs.health_actions`: writes docs/reference/health-actions.md from inventory/health/words.py.

A test compares the file with what this would write.
"""

from __future__ import annotations

from inventory.health.words import ACTIONS
from tests.processes import ROOT

PAGE = ROOT / "docs" / "reference" / "health-actions.md"

HEAD = """\
# Health actions

<!-- Written by `python -m tests.docs.health_actions` from inventory/health/words.py; do not edit. -->

`action` of a report in REST and `inspect -o json` ([health.md](../health.md)), and the sentence that pages show.

| Action | Sentence |
| --- | --- |
"""


def page() -> str:
    """The whole page, as Markdown: a row for each action."""
    return HEAD + "".join(f"| `{name}` | {text} |\n" for name, text in sorted(ACTIONS.items()))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.name}: {len(ACTIONS)} actions")
