"""What the docs list is what there is: settings with their defaults, findings, metrics, suites."""

from __future__ import annotations

import ast
import os
import re
from typing import Any

import pytest

from gpudash import settings as settings_module
from inventory.models import Cluster
from runtime.telemetry import figures
from tests.docs import access_table, exporters, findings, metrics, reasons, suites, verdicts
from tests.docs.reading import ROOT, table_rows

DOCS = ROOT / "docs"


def settings_read() -> dict[str, ast.Call]:
    """GPUDASH_ name → the call that reads it: in settings.py, or where the settings of external accounts stand."""
    sources = [ROOT / "gpudash" / f"{name}.py" for name in ("settings", "config/external_accounts")]
    nodes = [node for source in sources for node in ast.walk(ast.parse(source.read_text(encoding="utf-8")))]
    calls = [node for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    return {name: call for call in calls if (name := _name(call)) is not None and _function(call) != "BadSetting"}


def _name(call: ast.Call) -> str | None:
    first = call.args[0] if call.args else None
    value = first.value if isinstance(first, ast.Constant) else None
    return value if isinstance(value, str) and value.startswith("GPUDASH_") else None


def _function(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def constant(call: ast.Call) -> Any:
    """The default where it is written as a plain value or a shift of numbers; None when it is made at run time."""
    if len(call.args) < 2:
        return None
    try:
        return ast.literal_eval(call.args[1])
    except ValueError:
        shift = call.args[1]
        if isinstance(shift, ast.BinOp) and isinstance(shift.op, ast.LShift):
            return int(ast.literal_eval(shift.left)) << int(ast.literal_eval(shift.right))
        return None


def documented() -> dict[str, str]:
    """GPUDASH_ name → the default cell of the table."""
    rows = [row for row in table_rows(DOCS / "settings.md") if row[0].startswith("`GPUDASH_")]
    names = [row[0].strip("`") for row in rows]
    assert len(names) == len(set(names)), "a setting stands in the table twice"
    return dict(zip(names, (row[1] for row in rows), strict=True))


def test_every_setting_is_in_the_table_and_no_other() -> None:
    assert settings_module.DATA_DIR
    assert set(documented()) == set(settings_read())


def test_the_defaults_in_the_table_are_those_of_the_settings() -> None:
    shown, wrong = documented(), {}
    for name, call in settings_read().items():
        value = constant(call)
        if value is None or value == "":
            continue
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if shown[name] != f"`{text}`":
            wrong[name] = (shown[name], text)
    assert wrong == {}


def test_names_of_settings_in_all_docs_exist() -> None:
    of_the_program = re.findall(r"GPUDASH_[A-Z_]+", (ROOT / "client" / "access.py").read_text(encoding="utf-8"))
    known = {*settings_read(), *of_the_program}
    for page in (ROOT / "README.md", *DOCS.rglob("*.md")):
        named = set(re.findall(r"GPUDASH_[A-Z][A-Z_]*[A-Z]", page.read_text(encoding="utf-8")))
        assert named <= known, page.name


def test_the_page_of_findings_is_up_to_date() -> None:
    assert findings.PAGE.read_text(encoding="utf-8") == findings.page(), "run: python -m tests.docs.findings"


def test_the_page_of_what_logs_say_is_up_to_date() -> None:
    assert verdicts.PAGE.read_text(encoding="utf-8") == verdicts.page(), "run: python -m tests.docs.verdicts"


def test_the_page_of_suites_is_up_to_date() -> None:
    assert suites.PAGE.read_text(encoding="utf-8") == suites.page(), "run: python -m tests.docs.suites"


def test_the_page_of_exporters_is_up_to_date() -> None:
    assert exporters.PAGE.read_text(encoding="utf-8") == exporters.page(), "run: python -m tests.docs.exporters"


def test_the_page_of_reasons_is_up_to_date() -> None:
    assert reasons.PAGE.read_text(encoding="utf-8") == reasons.page(), "run: python -m tests.docs.reasons"


def test_the_page_of_who_may_what_is_up_to_date() -> None:
    assert access_table.PAGE.read_text(encoding="utf-8") == access_table.page(), (
        "run: python -m tests.docs.access_table"
    )


@pytest.mark.django_db
def test_the_page_of_metrics_is_up_to_date(fleet: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures._connections, "states", lambda: {"used": 1, "idle": 0, "waiting": 0})
    made = metrics.page(fleet)
    if os.environ.get("GOLDEN") == "rewrite":
        metrics.PAGE.write_text(made, encoding="utf-8")
    assert metrics.PAGE.read_text(encoding="utf-8") == made, (
        "run: GOLDEN=rewrite make test ARGS=tests/docs/test_tables.py"
    )


def test_examples_use_metrics_of_the_page() -> None:
    page = (DOCS / "metrics.md").read_text(encoding="utf-8")
    shown = {row[0].strip("`") for row in table_rows(metrics.PAGE)}
    assert set(re.findall(r"\bgpudash_[a-z_]+", page)) <= shown
