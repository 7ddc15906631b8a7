"""Every recorded log gets the verdict, reasons, facts and measurements that stand beside it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.validations.suites.golden import ROOT, Case, cases, check
from validations.suites import registry
from validations.suites.engine.base import read_log, stored_text, to_json

CASES = cases()
VERDICTS = {"passed", "failed", "warning", "errored", "skipped"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_recorded_log_gets_the_expected_result(case: Case) -> None:
    check(case.path.with_suffix(".json"), to_json(case.suite.parse(read_log(case.raw), case.outcome)))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_line_number_is_a_line_of_the_stored_text(case: Case) -> None:
    shown = stored_text(case.raw).split("\n")
    for reason in case.expected["reasons"]:
        assert reason["line"] is None or shown[reason["line"] - 1].strip(), reason


def test_every_suite_has_passes_and_refusals_on_record() -> None:
    for suite in registry().values():
        verdicts = [case.expected["verdict"] for case in CASES if case.suite is suite]
        assert set(verdicts) <= VERDICTS
        assert len(verdicts) >= 6, suite.id
        assert {"passed", "failed", "errored"} <= set(verdicts), suite.id


def test_no_expected_result_is_without_its_log() -> None:
    logs = {path.with_suffix("") for path in ROOT.glob("*/*.log")}
    results = {path.with_suffix("") for path in ROOT.glob("*/*.json") if not path.name.endswith(".outcome.json")}
    assert {path for path in results if path.parent.name in registry()} == logs


def test_every_source_is_that_of_a_recorded_log() -> None:
    """`sources.txt`: the upstream file or report whose format a log has that was written by hand."""
    found = [
        (path.parent, line.split(": ", 1))
        for path in ROOT.glob("*/sources.txt")
        for line in path.read_text("utf-8").splitlines()
    ]
    assert len(found) > 60
    assert [
        (folder.name, words) for folder, words in found if len(words) != 2 or not (folder / f"{words[0]}.log").exists()
    ] == []


def test_the_result_has_the_promised_form() -> None:
    case = next(case for case in CASES if case.name == "cuda-vectoradd/passed")
    found = json.loads(json.dumps(to_json(case.suite.parse(read_log(case.raw), case.outcome))))
    assert list(found) == ["suite", "parser_version", "verdict", "reasons", "facts", "measurements"]
    assert found["facts"] == {"elements": 50000, "blocks": 196, "threads_per_block": 256}
    assert found["verdict"] == "passed"


@pytest.mark.parametrize(
    ("name", "verdict", "codes"),
    [
        # The table of successes that are not.
        ("winml-tinyyolov2/c-software-adapter-exit-0", "failed", {"software-adapter"}),
        ("winml-tinyyolov2/gpu-failed-then-cpu-succeeded-exit-0", "failed", {"device-removed"}),
        ("winml-tinyyolov2/a-gpu-terse-100-iterations", "passed", set()),
        ("directx-device-discovery/zero-devices-exit-0", "failed", {"no-adapter"}),
        ("directx-device-discovery/error-exit-0", "errored", {"discovery-error"}),
        ("directx-directml/software-adapter-named", "failed", {"software-adapter"}),
        ("directx-opencl-enum/zero-platforms-exit-0", "failed", {"no-device"}),
        ("cuda-devicequery/pass-with-no-devices-exit-0", "failed", {"no-device"}),
        ("cuda-montecarlo/wrong-answer-exit-0", "failed", {"verification"}),
        ("directx-ffmpeg/mapping-names-nvenc-then-fails", "failed", {"driver-missing"}),
        ("winml-tinyyolov2/no-log-dll-missing", "errored", {"image", "no-verdict"}),
    ],
)
def test_a_success_that_is_none_is_not_passed(name: str, verdict: str, codes: set[str]) -> None:
    case = next(case for case in CASES if case.name == name)
    result = case.suite.parse(read_log(case.raw), case.outcome)
    assert result.verdict == verdict
    assert codes <= {reason.code for reason in result.reasons}


def test_the_measurements_of_the_sample_are_those_of_the_documented_example() -> None:
    measured = _result("winml-tinyyolov2/b-cpu-and-gpu-two-iterations")["measurements"]
    assert measured["speedup"]["value"] == pytest.approx(60.45 / 5.52, rel=1e-5)
    measured = _result("winml-tinyyolov2/a-gpu-terse-100-iterations")["measurements"]
    assert measured["gpu_inferences_per_second"]["value"] == pytest.approx(1000 / (0.283114 + 8.20447), rel=1e-5)
    assert measured["gpu_evaluate"] == {"value": 8.20447, "unit": "ms"}


@pytest.mark.parametrize(
    "other",
    [
        "console-wrapped-at-80",
        "utf-16-le-with-mark",
        "utf-16-be-with-mark",
        "utf-16-without-mark",
        "ansi-colours-and-cursor",
        "kubectl-timestamps",
        "nul-and-invalid-bytes",
        "csv-noise",
    ],
)
def test_the_same_run_in_another_encoding_gives_the_same_numbers(other: str) -> None:
    assert _result(f"winml-tinyyolov2/{other}") == _result("winml-tinyyolov2/a-gpu-terse-100-iterations")


def test_a_number_that_is_none_is_left_out_and_said() -> None:
    found = _result("winml-tinyyolov2/not-a-number")
    assert {"load", "gpu_evaluate", "gpu_inferences_per_second"}.isdisjoint(found["measurements"])
    assert found["facts"]["unreadable"] == ["load", "gpu_evaluate"]


def _result(name: str) -> dict[str, Any]:
    case = next(case for case in CASES if case.name == name)
    return to_json(case.suite.parse(read_log(case.raw), case.outcome))
