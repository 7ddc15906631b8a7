"""`python -m tests.docs.csv_columns`: writes docs/reference/csv.md from the declarations of the resources.

A test compares the file with what this would write.
"""

from __future__ import annotations

import os

from tests.processes import ROOT

PAGE = ROOT / "docs" / "reference" / "csv.md"

HEAD = """\
# CSV

<!-- Written by `python -m tests.docs.csv_columns` from resources/; do not edit. -->

Every list can be downloaded as CSV: *CSV* below the list on a page, or `?format=csv` in REST ([rest.md](../rest.md#csv)). Both return
the same file with all rows that match the filters.

- The file is UTF-8, comma-separated. The first line contains the column names.
- **An empty cell** is unknown, not metered or absent, never 0. A value of 0 is `0`.
- Memory is in bytes, as integers. A column without a unit in its name is a plain number, described here.
- `true` and `false` are lower case.
- **Times** are given twice. The column itself is ISO 8601 in UTC (`2026-11-22T02:00:00Z`), for programs. The last columns repeat the
  times with the suffix `_utc`, as `2026-11-22 02:00:00` in UTC: spreadsheets recognize this as a date.
- A text that a spreadsheet would run as a formula starts with an apostrophe.
- Texts are in English, in every language of the pages.
"""


def page() -> str:
    """The whole page, as Markdown: a table of columns for each list."""
    from tests.resources.test_declared import ALL  # the resources ask the settings

    return "\n".join([HEAD, *(_section(one) for one in ALL)])


def _section(resource: object) -> str:
    from resources.declared import Resource

    assert isinstance(resource, Resource)
    rows = [f"| `{one.head}` | {one.unit} | {_cell(one.text)} |" for one in resource.csv_columns()]
    return "\n".join([f"## {resource.name}", "", "| Column | Unit | |", "| --- | --- | --- |", *rows, ""])


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gpudash.settings")
    import django

    django.setup()
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.name}: written")
