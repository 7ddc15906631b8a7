"""A suite is one module: what has to be there for each is there, and no suite is named or imported anywhere else."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.reading import table_rows
from tests.processes import ROOT
from tests.validations.suites.golden import ROOT as GOLDEN
from tests.validations.suites.golden import cases
from validations.suites import registry
from validations.suites.engine.demo import START_ERROR, recordings

SUITES = sorted(registry())
MODULES = [suite_id.replace("-", "_") for suite_id in SUITES]
PACKAGE = ROOT / "validations" / "suites"
LOOKED_AT = ("validations", "pages", "api", "resources", "templates", "fleetsim", "gpudash", "accounts", "static")
#: The list of modules names each of them: that is the registration.
#: The tuple of all, and the format of the tool that a suite runs too.
NAMES_SUITES = {PACKAGE / "__init__.py", *(PACKAGE.parent / "imports" / "dcgmi_diag").glob("*.py")}
#: A suite has the name of the program that it runs. Where these sentences say it, they mean the program: how it counts cards, and
#: which tests of DCGM do work on a card.
OF_THE_PROGRAM = (
    "Index of the scheduler; may differ from nvidia-smi.",
    "scheduler index, may differ from nvidia-smi",
    "nvidia-smi --gpu-reset -i",
    '"nvbandwidth",',
)


def module_of(suite_id: str) -> str:
    return suite_id.replace("-", "_")


def own_files(suite_id: str) -> list[Path]:
    """The module of a suite, or the modules of its package."""
    name = module_of(suite_id)
    return [*PACKAGE.glob(f"{name}.py"), *PACKAGE.glob(f"{name}/**/*.py")]


def texts() -> Iterator[tuple[Path, str]]:
    for folder in LOOKED_AT:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and path.suffix in (".py", ".html", ".js", ".css", ".log", ".svg", ".json", ".txt"):
                yield path, path.read_text("utf-8", "replace")


def without_sentences(text: str) -> str:
    for sentence in OF_THE_PROGRAM:
        text = text.replace(sentence, "")
    return text


def is_own(path: Path, suite_id: str) -> bool:
    return path in own_files(suite_id) or recordings(suite_id) in path.parents


def test_no_suite_is_named_outside_of_its_own_module() -> None:
    found = []
    files = [(path, without_sentences(text)) for path, text in texts() if path not in NAMES_SUITES]
    assert len(files) > 300
    for suite_id, suite in registry().items():
        words = "|".join(re.escape(word) for word in (suite_id, module_of(suite_id), suite.title))
        named = re.compile(rf"(?<![\w-])(?:{words})(?![\w-])", re.IGNORECASE)
        for path, text in files:
            if is_own(path, suite_id):
                continue
            if named.search(text) or named.search(path.name):
                found.append((suite_id, str(path.relative_to(ROOT))))
    assert found == []


def test_the_sentences_about_a_program_are_still_said() -> None:
    said = "".join(text for _, text in texts())
    assert [sentence for sentence in OF_THE_PROGRAM if sentence not in said] == []


def imported(path: Path) -> set[str]:
    """Full names of what a module imports; `from a import b` counts as a.b, which is a module or a thing of a."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            found |= {f"{node.module}.{one.name}" for one in node.names}
    return found


def suites_imported(path: Path) -> set[str]:
    """Modules of suites that a module imports."""
    parts = [name.split(".") for name in imported(path)]
    return {part[2] for part in parts if part[:2] == ["validations", "suites"] and len(part) > 2 and part[2] in MODULES}


def test_only_a_suite_imports_its_own_module() -> None:
    wrong = {}
    for path in [path for folder in LOOKED_AT for path in (ROOT / folder).rglob("*.py") if path not in NAMES_SUITES]:
        others = {name for name in suites_imported(path) if path not in own_files(name.replace("_", "-"))}
        if others:
            wrong[str(path.relative_to(ROOT))] = others
    assert wrong == {}


def test_the_engine_does_not_import_the_package_that_registers_the_suites() -> None:
    for path in [*(PACKAGE / "engine").glob("*.py"), *(PACKAGE / "shared").glob("*.py")]:
        rooms = {name.split(".")[2] for name in imported(path) if name.startswith("validations.suites.")}
        assert rooms <= {"engine", "shared"}, path.name


def test_no_import_is_hidden() -> None:
    """All imports stand at the top of their modules: none waits for a function or for the type checker."""
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        hidden = [
            one for one in ast.walk(tree) if isinstance(one, ast.Import | ast.ImportFrom) and one not in tree.body
        ]
        assert hidden == [], path.name


def listed() -> list[str]:
    """The paths that CONTRIBUTING.md lists for a new suite."""
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    section = page.partition("## Add a suite\n")[2].partition("\n## ")[0]
    first = [line.split(" | ")[0] for line in section.splitlines() if line.startswith("| `")]
    return [path for cell in first for path in re.findall(r"`([^`]+)`", cell)]


def test_the_list_of_what_a_new_suite_needs_is_read() -> None:
    assert len(listed()) == 13


@pytest.mark.parametrize("suite_id", SUITES)
def test_each_suite_has_what_the_docs_list(suite_id: str) -> None:
    name = module_of(suite_id)
    assert own_files(suite_id)
    for path in listed():
        if path in ("validations/suites/my_suite.py", "my_suite/") or path.startswith("…") or path == "django.mo":
            continue
        there = path.replace("my-suite", suite_id).replace("my_suite", name)
        assert list(ROOT.glob(there)), there
    assert list((GOLDEN / "manifests" / suite_id).glob("*.json"))
    assert [row for row in table_rows(ROOT / "docs" / "reference" / "suites.md") if row[0] == f"`{suite_id}`"]


@pytest.mark.parametrize("suite_id", SUITES)
def test_each_suite_has_its_recordings_for_the_demo(suite_id: str) -> None:
    demo, folder = registry()[suite_id].demo, recordings(suite_id)
    names = {path.stem for path in folder.glob("*.log")}
    assert names & {"passed", "linux", "windows"}
    wanted = {*demo.nodes.values(), demo.everywhere, *demo.exits} - {"passed", START_ERROR}
    assert wanted <= names
    assert all(image.mark == image.mark.lower() for image in demo.images)


@pytest.mark.parametrize("suite_id", SUITES)
def test_a_suite_that_says_that_it_measures_does(suite_id: str) -> None:
    passed = [case.expected for case in cases() if case.suite.id == suite_id and case.expected["verdict"] == "passed"]
    assert any(one["measurements"] for one in passed) is registry()[suite_id].measures


def test_nothing_is_left_of_a_suite_that_is_gone() -> None:
    folders = {path.name for path in (PACKAGE / "demo").iterdir()}
    assert folders == set(SUITES)
    assert {path.name for path in GOLDEN.iterdir()} - {"manifests"} == set(SUITES)
    assert {path.name for path in (GOLDEN / "manifests").iterdir()} - {"fit.json"} == set(SUITES)
