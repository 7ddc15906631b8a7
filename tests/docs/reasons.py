"""`python -m tests.docs.reasons`: writes docs/reference/reasons.md from the reasons of the suites.

Knows the declared reasons and nothing of runs. A test compares the file with what this would write.
"""

from __future__ import annotations

from collections.abc import Iterable

from tests.processes import ROOT
from validations.suites import reasons, registry
from validations.suites.engine.reason_words import ReasonWords
from validations.suites.engine.reasons import REASONS

PAGE = ROOT / "docs" / "reference" / "reasons.md"

HEAD = """\
# Reason codes

<!-- Written by `python -m tests.docs.reasons` from validations/suites; do not edit. -->

Reasons explain the verdict of a run. Each reason has a code, a text with details and, if it comes from the log, the line number.
The first reason decided the verdict. A pass can have reasons too: they are remarks. Reasons are shown on the page of a run, in
`/api/v1/runs`, and by `gpudash validate` and `parse_log`. Codes are stable.
"""


def page() -> str:
    """The whole page, as Markdown: the codes that any run can have, then those of single suites."""
    parts = [HEAD, "## All suites\n", *_table(REASONS.values())]
    for suite in registry().values():
        if suite.reasons:
            parts += [f"\n## {suite.id} only\n", *_table(suite.reasons)]
    return "\n".join(parts) + "\n"


def _table(rows: Iterable[ReasonWords]) -> list[str]:
    ordered = sorted(rows, key=lambda one: one.code)
    return [
        "| Code | Meaning | Remedy |",
        "| --- | --- | --- |",
        *(f"| `{one.code}` | {one.headline} | {one.action} |" for one in ordered),
    ]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.name}: {len(reasons())} reasons")
