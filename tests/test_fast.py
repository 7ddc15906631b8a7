"""`make test-fast`: which tests are in it, by tests/conftest.py; and which folders `make test` does not read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import NOT_FAST, TIER_OF
from tests.processes import ROOT


@pytest.mark.parametrize("name", NOT_FAST)
def test_what_is_left_out_exists(name: str) -> None:
    assert Path(ROOT, name).exists()


@pytest.mark.parametrize("folder", TIER_OF)
def test_all_tests_of_a_folder_that_is_not_read_are_of_its_tier(folder: str) -> None:
    files = list((ROOT / "tests" / folder).rglob("test_*.py"))
    marked = re.compile(rf"^pytestmark = \[?pytest\.mark\.{TIER_OF[folder]}\b", re.MULTILINE)
    assert files
    assert [file.name for file in files if not marked.search(file.read_text())] == []


def test_it_is_given_to_what_needs_no_database(request: pytest.FixtureRequest) -> None:
    assert request.node.get_closest_marker("fast")


def test_it_is_not_given_to_what_needs_one(request: pytest.FixtureRequest, db: None) -> None:
    assert not request.node.get_closest_marker("fast")
