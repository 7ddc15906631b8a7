"""`python -m tests.docs.findings`: writes docs/reference/findings.md from the catalogue of findings.

Uses the catalogue only. A test compares the file with its output.
"""

from __future__ import annotations

import os

from stacks.engine.base import ERROR, INFO, WARNING
from stacks.engine.stack import Entry
from tests.processes import ROOT

PAGE = ROOT / "docs" / "reference" / "findings.md"

HEAD = """\
# Findings

<!-- Written by `python -m tests.docs.findings` from inventory/catalogue.py and the stacks; do not edit. -->

A finding is a problem that gpudash has detected. It stays active as long as its cause exists. Then it stays in the
history with its end time. Each finding has a code, a severity, a text with numbers and a remedy, and the time at which it
was first seen. Findings are on the findings page, on the pages of nodes and cards, in `/api/v1/findings`, in
`gpudash_findings` and in `gpudash inspect`.

- **error**: a workload will fail or a number is wrong.
- **warning**: likely to become an error, or data is missing.
- **info**: no action needed.
"""


def page() -> str:
    """The whole page, as Markdown: a table of all codes, worst first, then a section for each."""
    from inventory.catalogue import CATALOGUE  # apps add theirs when Django is ready

    ordered = sorted(CATALOGUE.items(), key=lambda one: ((ERROR, WARNING, INFO).index(one[1].severity), one[0]))
    rows = [f"| [`{code}`](#{code}) | {entry.severity} | {entry.title} |" for code, entry in ordered]
    table = ["| Code | Severity | |", "| --- | --- | --- |", *rows]
    return "\n".join([HEAD, *table, *(_section(code, entry) for code, entry in ordered)]) + "\n"


def _section(code: str, entry: Entry) -> str:
    return f"\n## {code}\n\n{entry.title} ({entry.severity}). {entry.meaning}\n\nWhat to do: {entry.action}"


if __name__ == "__main__":
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gpudash.settings")
    django.setup()  # apps add their findings then
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.name}: written")
