"""`python -m tests.docs.csv_columns`: writes docs/csv.md from the declarations of the resources.

A test compares the file with what this would write.
"""

from __future__ import annotations

import os

from tests.processes import ROOT

PAGE = ROOT / "docs" / "csv.md"

HEAD = """\
# CSV

<!-- Written by `python -m tests.docs.csv_columns` from resources/; do not edit. -->

Every list is a CSV file too: *CSV* below the list on a page, or `?format=csv` in REST ([rest.md](rest.md#csv)). Both give the same
file, with all rows that the filters choose.

- The file is UTF-8 with a comma between cells; the first line has the heads.
- **An empty cell is not known**, not metered or none; it is never 0. A number that is known to be 0 is `0`.
- Memory is in bytes, as whole numbers. A name that says no unit has a plain number; what it counts stands beside it here.
- `true` and `false` are lower case.
- **Times** stand twice. The column itself is ISO 8601 in UTC (`2026-11-22T02:00:00Z`), for programs. Behind all others the same time
  is in a column of the same name with `_utc`, as `2026-11-22 02:00:00`: spreadsheets take that for a date; it is in UTC as well.
- A text that a spreadsheet would take for a formula has an apostrophe before it.
- Texts are English, whatever the language of the page.
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
