"""`python -m tests.docs.findings`: writes docs/findings.md from the catalogue of findings.

Knows the catalogue and nothing of the mirror. A test compares the file with what this would write.
"""

from __future__ import annotations

import os

from inventory.stacks.engine.base import ERROR, INFO, WARNING
from inventory.stacks.engine.stack import Entry
from tests.processes import ROOT

PAGE = ROOT / "docs" / "findings.md"

HEAD = """\
# Findings

<!-- Written by `python -m tests.docs.findings` from inventory/catalogue.py and the sharing systems; do not edit. -->

A finding is something wrong that the mirror shows. It is there as long as its cause is, and then stays as history with
the time at which it ended. Each has a code, a severity, a text with its numbers and what to do, and the time at which it
was first seen. You find them on the findings page, at the node and card, in `/api/v1/findings`, in
`gpudash_finding_count` and in `manage.py inspect`.

- **error**: a number is not kept, or a workload will fail.
- **warning**: something will go wrong, or a number is not known that could be.
- **info**: nothing is wrong; you should know it.
"""


def page() -> str:
    """The whole page, as Markdown: a table of all codes, worst first, then a section for each."""
    from inventory.catalogue import CATALOGUE  # it asks the settings what apps add

    ordered = sorted(CATALOGUE.items(), key=lambda one: ((ERROR, WARNING, INFO).index(one[1].severity), one[0]))
    rows = [f"| [`{code}`](#{code}) | {entry.severity} | {entry.title} |" for code, entry in ordered]
    table = ["| Code | Severity | |", "| --- | --- | --- |", *rows]
    return "\n".join([HEAD, *table, *(_section(code, entry) for code, entry in ordered)]) + "\n"


def _section(code: str, entry: Entry) -> str:
    return f"\n## {code}\n\n{entry.title} ({entry.severity}). {entry.meaning}\n\nWhat to do: {entry.action}"


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gpudash.settings")
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.name}: written")
