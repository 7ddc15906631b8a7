"""The lists of files in CONTRIBUTING.md: each file and folder that they name is there, and each resource has what it says."""

from __future__ import annotations

import importlib
import pkgutil
import re

import resources
from resources.declared import Resource
from tests.processes import ROOT
from tests.resources.test_declared import ALL

#: What stands for a name of your own.
_FREE = re.compile(r"NAME|my-suite|my_suite|…|\*")
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def named_files() -> set[str]:
    """Paths in backquotes, from the root of the repository or below `validations/suites/`, as the section says."""
    words = re.findall(r"`([A-Za-z0-9_./-]+)`", TEXT)
    return {
        word
        for word in words
        if "/" in word and not _FREE.search(word) and not word.startswith(("/", "..", ".venv", "var/"))
    }


def test_every_file_that_is_named_is_there() -> None:
    found = named_files()
    assert len(found) > 30
    bases = (
        "",
        "validations/",
        "validations/suites/",
        "inventory/",
        "stacks/",
        "templates/",
        "pages/",
        "tests/",
    )
    missing = sorted(name for name in found if not any((ROOT / base / name).exists() for base in bases))
    assert missing == []


def test_every_resource_is_declared_in_a_module_of_its_own_and_tested() -> None:
    declared = set()
    for module in pkgutil.iter_modules(resources.__path__):
        loaded = importlib.import_module(f"resources.{module.name}")
        declared |= {id(one) for one in vars(loaded).values() if isinstance(one, Resource)}
    assert declared == {id(one) for one in ALL}


def test_every_resource_of_rest_is_in_its_docs() -> None:
    text = (ROOT / "docs" / "rest.md").read_text(encoding="utf-8")
    assert [one.name for one in ALL if f"`{one.name}`" not in text and one.name != "campaign-matrix"] == []
