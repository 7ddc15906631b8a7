"""What the docs list is what there is: settings with their defaults, findings, metrics, suites."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

import pytest

from api import self_metrics as scrape
from api.inventory import metrics as inventory_metrics
from api.validations import metrics as validation_metrics
from gpudash import settings as settings_module
from inventory.models import Cluster
from runtime.telemetry import figures, report
from tests.docs import access_table, findings, reasons, verdicts
from tests.docs.reading import ROOT, table_rows
from validations.suites import registry
from validations.suites.engine import placement
from validations.suites.engine.base import Needs, Suite
from validations.suites.engine.needs import driver_for

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
    known = set(settings_read())
    for page in (ROOT / "README.md", *DOCS.glob("*.md")):
        named = set(re.findall(r"GPUDASH_[A-Z][A-Z_]*[A-Z]", page.read_text(encoding="utf-8")))
        assert named <= known, page.name


def test_the_levels_of_pod_security_in_the_docs_are_those_of_the_suites() -> None:
    rows = {row[0]: row[1] for row in table_rows(DOCS / "validations.md") if row[0] in ("`restricted`", "`baseline`")}
    on_linux = [suite for suite in registry().values() if "linux" in suite.os]
    for suite in on_linux:
        assert [level for level in rows if f"`{suite.id}`" in rows[level]] == [f"`{suite.pod_security}`"], suite.id


def test_the_page_of_findings_is_up_to_date() -> None:
    assert findings.PAGE.read_text(encoding="utf-8") == findings.page(), "run: python -m tests.docs.findings"


def test_the_page_of_what_logs_say_is_up_to_date() -> None:
    assert verdicts.PAGE.read_text(encoding="utf-8") == verdicts.page(), "run: python -m tests.docs.verdicts"


def test_the_page_of_reasons_is_up_to_date() -> None:
    assert reasons.PAGE.read_text(encoding="utf-8") == reasons.page(), "run: python -m tests.docs.reasons"


def test_the_page_of_who_may_what_is_up_to_date() -> None:
    assert access_table.PAGE.read_text(encoding="utf-8") == access_table.page(), (
        "run: python -m tests.docs.access_table"
    )


@pytest.mark.django_db
def test_every_metric_is_documented_and_no_other(fleet: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures._connections, "states", lambda: {"used": 1, "idle": 0, "waiting": 0})
    report.Reporter("web").write()
    text = "".join([*inventory_metrics.families(), *validation_metrics.families(), scrape.text().decode()])
    scraped = {name for name in re.findall(r"^# TYPE (\S+)", text, re.MULTILINE) if name.startswith("gpudash_")}
    shown = {row[0].strip("`") for row in table_rows(DOCS / "metrics.md") if row[0].startswith("`gpudash_")}
    assert shown == scraped


def test_examples_use_metrics_of_the_tables() -> None:
    page = (DOCS / "metrics.md").read_text(encoding="utf-8")
    shown = {row[0].strip("`") for row in table_rows(DOCS / "metrics.md")}
    assert set(re.findall(r"\bgpudash_[a-z_]+", page)) <= shown


def needs_of(suite: Suite) -> str:
    """What its own image needs of a node, as the table has it."""
    return "; ".join(", ".join(_needs(one)) for one in suite.needs.values())


def _needs(one: Needs) -> Iterator[str]:
    if one.cuda:
        yield f"driver {driver_for(one.cuda)} (CUDA {one.cuda})"
    if one.driver:
        yield f"driver {one.driver}"
    if one.capability:
        yield f"compute capability {one.capability}"
    if one.builds:
        yield f"Windows build {', '.join(one.builds)}"


def test_every_suite_is_in_the_table_and_no_other() -> None:
    rows = {row[0].strip("`"): row for row in table_rows(DOCS / "validations.md") if len(row) == 4 and "`" in row[0]}
    assert set(rows) == set(registry())
    for suite_id, suite in registry().items():
        assert rows[suite_id][1:3] == [", ".join(suite.os).title(), needs_of(suite)], suite_id


def test_what_devices_need_is_in_a_table_of_its_own() -> None:
    rows = {row[0]: row[1] for row in table_rows(DOCS / "validations.md") if len(row) == 2}
    shown = {name.strip("`"): needs for names, needs in rows.items() for name in names.split(", ")}
    for family in placement.registry.families.values():
        needs, said = family.needs, []
        if needs.containerd:
            said.append(f"containerd {needs.containerd}")
        if needs.kubernetes:
            said.append(f"kubelet {needs.kubernetes}")
        assert [shown.get(name, "") for name in family.resources] == [", ".join(said)] * len(family.resources)
