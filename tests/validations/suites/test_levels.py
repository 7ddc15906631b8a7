"""How much a pass proves is declared by the suite, and lowered by options and by what the log says. Only "checked" is a proof."""

from __future__ import annotations

from typing import Any

import pytest

from tests.docs.reading import ROOT as PROJECT
from tests.docs.reading import table_rows
from tests.validations.suites.golden import ROOT
from validations.lifecycle.judging import graded, judged
from validations.suites import registry
from validations.suites.engine.base import LEVELS, Outcome

SUITES = registry()
PAGES = PROJECT / "docs"


def level(suite: str, log: bytes, **options: Any) -> str:
    result = judged(SUITES[suite], log, Outcome(exit_code=0))
    grade = graded(SUITES[suite], result, options).grade
    assert grade is not None
    return grade.level


def recorded(suite: str, case: str) -> bytes:
    return (ROOT / suite / f"{case}.log").read_bytes()


def test_every_suite_declares_the_level_that_the_docs_say() -> None:
    rows = {
        row[0].strip("`"): row[4].strip("`") for row in table_rows(PAGES / "reference" / "suites.md") if len(row) > 4
    }
    assert {name: rows[name] for name in SUITES} == {name: one.level for name, one in SUITES.items()}
    assert LEVELS == ("none", "detected", "ran", "checked")


@pytest.mark.parametrize("suite", sorted(SUITES))
def test_an_image_of_ones_own_proves_nothing(suite: str) -> None:
    found = SUITES[suite].grade({"image": "registry.example.com/mine:1"})
    assert found.level == "none"
    assert "registry.example.com/mine:1 is not the suite's own" in found.text
    own = next(option.default for option in SUITES[suite].options if option.name == "image")
    assert SUITES[suite].grade({"image": own} if own else {}).level != "none"


def test_the_first_level_of_the_diagnostic_only_sees() -> None:
    suite = SUITES["dcgm-diag"]
    assert [suite.grade({"level": number}).level for number in (1, 2, 3)] == ["detected", "checked", "checked"]
    assert suite.grade({}).level == "detected"


def test_a_report_in_which_no_test_worked_on_the_card_lowers_the_level_that_was_asked_for() -> None:
    test = b'{"name":"%s","results":[{"status":"Pass"}]}'
    log = b'{"DCGM Diagnostic":{"test_categories":[{"category":"Deployment","tests":[' + test + b"]}]}}\n"
    assert level("dcgm-diag", log % b"software", level=2) == "detected"
    assert level("dcgm-diag", log % b"memory", level=2) == "checked"
    assert level("dcgm-diag", log % b"memory", level=1) == "detected"


def test_directml_proves_a_card_only_when_the_log_names_it() -> None:
    numbers = b" ".join(b"%d" % number for number in range(24))
    tensors = b"input tensor: %s\noutput tensor: %s\n" % (numbers, numbers)
    assert level("directx-directml", tensors) == "none"
    assert level("directx-directml", b"Using adapter: NVIDIA A10\n" + tensors) == "checked"


def test_sums_that_were_not_checked_are_not_right() -> None:
    checked, unchecked = (
        [path for path in sorted((ROOT / "nccl-allreduce").glob("*.log")) if (b"N/A" in path.read_bytes()) is found]
        for found in (False, True)
    )
    assert unchecked
    assert {level("nccl-allreduce", path.read_bytes()) for path in unchecked} == {"ran"}
    assert "checked" in {level("nccl-allreduce", path.read_bytes()) for path in checked}


def test_options_that_the_suite_has_no_more_prove_nothing() -> None:
    assert SUITES["cuda-vectoradd"].grade({"no-such": 1}).level == "none"
