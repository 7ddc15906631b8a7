"""What CONTRIBUTING.md says of adding a stack is true: these files and no others."""

from __future__ import annotations

import importlib
import json
import re
from functools import cache
from pathlib import Path

import pytest

from stacks import DECLARED, STACKS
from stacks.engine.registry import registry
from stacks.engine.stack import Recognised, Stack
from tests.docs.reading import ROOT, table_rows
from tests.docs.test_tables import constant, settings_read
from tests.packages import sources
from tests.stacks import golden_case

DEVELOP, PACKAGE = ROOT / "CONTRIBUTING.md", ROOT / "stacks"
NAMES = [stack.name for stack in STACKS]
#: Modules and packages of the folder that are no machinery.
MODULES = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()} - {
    *("__init__", "engine", "shared", "__pycache__"),
}


def section() -> str:
    text = DEVELOP.read_text(encoding="utf-8")
    start = text.index("\n## Add a stack\n")
    return text[start : text.index("\n## ", start + 1)]


def declared() -> dict[str, Recognised]:
    """Name of each module → its declaration."""
    modules = {name: importlib.import_module(f"stacks.{name}") for name in sorted(MODULES)}
    return {name: getattr(module, "STACK", None) or module.RECOGNISED for name, module in modules.items()}


def files_of(module: str) -> set[Path]:
    return set((PACKAGE / module).rglob("*.py")) | ({PACKAGE / f"{module}.py"} & set(PACKAGE.glob("*.py")))


def test_the_files_that_it_names_exist() -> None:
    paths = {path for path in re.findall(r"`([\w./]+)`", section()) if "/" in path or path.endswith(".md")}
    named = {path for path in paths if "NAME" not in path}
    assert len(named) > 8
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def test_every_module_is_registered() -> None:
    assert {id(one) for one in declared().values()} == {id(one) for one in DECLARED}
    assert len(DECLARED) == len(MODULES)


@pytest.fixture(scope="module")
def cases() -> dict[str, list[str]]:
    """Name of a stack → its golden cases: those in whose account it takes part."""
    found: dict[str, list[str]] = {name: [] for name in NAMES}
    for case in golden_case.names():
        for name in json.loads((golden_case.GOLDEN / case / "expected.json").read_text())["stacks"]:
            found[name].append(case)
    return found


@pytest.mark.parametrize("stack", STACKS, ids=NAMES)
def test_each_system_has_golden_cases(stack: Stack, cases: dict[str, list[str]]) -> None:
    assert len(cases[stack.name]) >= 2, stack.name


@pytest.mark.parametrize("stack", STACKS, ids=NAMES)
def test_each_system_has_a_row_in_the_table_of_stacks(stack: Stack) -> None:
    rows = [row for row in table_rows(ROOT / "docs" / "stacks.md") if row[0].startswith(stack.label)]
    named = {resource for row in rows for resource in re.findall(r"`([^`]+)`", row[1])}
    wanted = set(stack.resources) or {"ResourceClaim"}
    assert named & wanted, f"no row of docs/stacks.md begins with {stack.label!r} and names its resources"


def test_settings_of_systems_are_settings_of_the_product_with_the_same_defaults() -> None:
    read = settings_read()
    assert {name: constant(read[f"GPUDASH_{name}"]) for name in registry.settings()} == registry.settings()


def domains(declaration: Recognised) -> set[str]:
    """Domains of the resources that a module declares."""
    names = {
        *declaration.resource_prefixes,
        *getattr(declaration, "resources", ()),
        *getattr(declaration, "divides", ()),
    }
    return {name.partition("/")[0] for name in names}


def words(module: str, declaration: Recognised) -> set[str]:
    """By what else a system may be named: its name, its label where that is one word, its module."""
    if not isinstance(declaration, Stack):
        return set()
    return {module, declaration.name, *([declaration.label] if " " not in declaration.label else [])}


@cache
def texts() -> dict[Path, str]:
    return {path: path.read_text(encoding="utf-8") for path in sources("inventory", "stacks", "exporters")}


@pytest.mark.parametrize("module", sorted(MODULES))
def test_no_system_is_named_in_the_inventory_outside_its_own_module(module: str) -> None:
    known = declared()
    mine = domains(known[module])
    names = [rf"(?<![\w.-]){re.escape(domain)}/" for domain in sorted(mine)]
    names += [rf"(?<![\w.-]){re.escape(word)}(?![\w.-]|/)" for word in sorted(words(module, known[module]))]
    if not names:
        return
    pattern = re.compile("|".join(names))
    # Two systems may have resources of one domain, as where one adds to the requests of the other.
    same = {name for name, other in known.items() if domains(other) & mine}
    apart = {PACKAGE / "__init__.py", *(path for name in {module, *same} for path in files_of(name))}
    # Exporters are named after whose they are, in modules of their own; the machinery that reads them names none.
    apart |= {path for path in sources("exporters") if path.parent.name != "engine"}
    # Tools that mark nodes, some of them by keys of a vendor's domain, are in one table.
    apart.add(ROOT / "inventory" / "marks" / "known.py")
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path, text in texts().items()
        if path not in apart and pattern.search(text)
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]
    assert found == []


def test_labels_of_apps_above_are_not_named_in_the_inventory() -> None:
    read = {path: path.read_text(encoding="utf-8") for path in sources("inventory", "stacks", "exporters", "runtime")}
    assert [str(path) for path, text in read.items() if re.search(r"gpudash\.io/(run|suite)", text)] == []
