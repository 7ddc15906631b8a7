"""What CONTRIBUTING.md says of adding an exporter is true, and the table of the golden cases says what the modules say."""

from __future__ import annotations

import re

from exporters import FORMATS
from tests.docs.reading import ROOT, table_rows

DEVELOP, GOLDEN = ROOT / "CONTRIBUTING.md", ROOT / "tests" / "exporters" / "golden"


def section() -> str:
    text = DEVELOP.read_text(encoding="utf-8")
    start = text.index("\n## Add an exporter\n")
    return text[start : text.index("\n## ", start + 1)]


def test_the_files_that_it_names_exist() -> None:
    named = {path for path in re.findall(r"`([\w./]+)`", section()) if "/" in path or path.endswith(".md")}
    paths = {path for path in named if "NAME" not in path}
    assert len(paths) > 6
    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []


def test_the_table_of_the_cases_says_of_each_exporter_what_its_module_says() -> None:
    rows = [row for row in table_rows(GOLDEN / "README.md") if row[0].startswith("`")]
    wanted = [[f"`{item.name}`", item.label, item.verified, item.not_verified or "—"] for item in FORMATS]
    assert rows == wanted


def test_each_exporter_has_cases_and_one_through_prometheus_where_it_can_be_asked_there() -> None:
    for item in FORMATS:
        kinds = {
            path.name
            for path in (GOLDEN / item.name).glob("*/*")
            if path.name in ("page.txt", "answer.json", "object.json")
        }
        assert kinds, item.name
        if item.bare:
            assert "answer.json" not in kinds, item.name
