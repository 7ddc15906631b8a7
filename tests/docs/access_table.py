"""`python -m tests.docs.access_table`: writes docs/reference/access-table.md from REST's views and the rules of roles and scopes.

A test compares the file with what this would write, and `tests/accounts/test_access_table.py` asks every address as each column.
"""

from __future__ import annotations

import os
import re

import django

from tests.processes import ROOT

PAGE = ROOT / "docs" / "reference" / "access-table.md"
HEAD = """\
# REST permissions

<!-- Written by `python -m tests.docs.access_table` from the views; do not edit. -->

Every address for programs, by role and scope. Of what may be read there is only what the scope has
([access.md](../access.md#scopes)); a thing outside of it does not exist (404). An administrator has no scope.

A token may what the lesser of its own role and its user's may, with the narrower of both scopes; it makes other tokens with the role
admin only. Who is not signed in, or has no role, is refused everywhere (401, 403).
"""


def page() -> str:
    """The whole page, as Markdown: the counts, then a row for each method of each address."""
    from tests.docs.access_rows import COLUMNS, READ, REFUSED, WRITE, rows  # models are there once Django is set up

    every = rows()
    titles = [f"{column.role.value}, {column.scope}" for column in COLUMNS]
    told = [[row.told(column) for column in COLUMNS] for row in every]
    counts = [
        f"| {word} | {' | '.join(str(sum(line[at] == kind for line in told)) for at in range(len(COLUMNS)))} |"
        for word, kind in (("may read", READ), ("may write", WRITE), ("refused", REFUSED))
    ]
    addresses = len({row.route for row in every})
    lines = [
        f"| `{row.method} {_address(row.route)}` | {' | '.join(cells)} |"
        for row, cells in zip(every, told, strict=True)
    ]
    sums = f"{len(every)} operations at {addresses} addresses, each for {len(COLUMNS)} columns.\n"
    return "\n".join([HEAD, sums, *_table(["", *titles], counts), "", *_table(["Operation", *titles], lines)]) + "\n"


def _address(route: str) -> str:
    """As the OpenAPI document writes it."""
    return "/" + re.sub(r"<\w+:(\w+)>", r"{\1}", route)


def _table(titles: list[str], lines: list[str]) -> list[str]:
    return [f"| {' | '.join(titles)} |", f"|{' --- |' * len(titles)}", *lines]


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gpudash.settings")
    django.setup()
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.name}: written")
