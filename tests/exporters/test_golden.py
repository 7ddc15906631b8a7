"""Recorded pages and answers give their readings. `GOLDEN=rewrite pytest tests/exporters/test_golden.py` writes them
anew.
"""

from __future__ import annotations

import os

import pytest

from exporters import FORMATS
from exporters.engine.problems import CODES
from tests.exporters import golden_case

REWRITE = os.environ.get("GOLDEN") == "rewrite"


@pytest.mark.parametrize("name", golden_case.names())
def test_what_an_exporter_said_gives_its_readings(name: str) -> None:
    case = golden_case.load(name)
    got = golden_case.rendered(golden_case.read(case))
    path = case.folder / "expected.json"
    if REWRITE:
        path.write_text(got)
    assert path.exists(), "GOLDEN=rewrite writes it"
    assert got == path.read_text()


@pytest.mark.parametrize("name", golden_case.names())
def test_a_case_is_recognised_as_its_format(name: str) -> None:
    found = golden_case.read(golden_case.load(name))
    assert name.partition("/")[0] in [item.format.name for item, _ in found]


def test_every_format_has_cases() -> None:
    assert {name.partition("/")[0] for name in golden_case.names()} == {format.name for format in FORMATS}


def test_every_measure_of_a_format_is_in_one_of_its_cases() -> None:
    missing: dict[str, list[str]] = {}
    for format in FORMATS:
        seen: set[str] = set()
        for name in golden_case.names():
            for item, report in golden_case.read(golden_case.load(name)):
                if item.format is format:
                    seen |= {measure for reading in report.readings for measure in reading.values}
                    seen |= {"xid" for reading in report.readings if reading.xids}
                    seen |= {"throttle_reasons" for reading in report.readings if reading.throttles}
                    seen |= {
                        "memory_used" for reading in report.readings if any(h.memory_used for h in reading.holders)
                    }
        left = sorted(format.measures - seen)
        if left:
            missing[format.name] = left
    assert missing == {}


def test_every_problem_that_is_told_has_a_sentence() -> None:
    told = {
        problem.code
        for name in golden_case.names()
        for _, report in golden_case.read(golden_case.load(name))
        for problem in report.problems
    }
    assert told <= CODES.keys()
    assert len(told) > 8
