"""CUDA Monte Carlo estimate of pi (TensorWorks' Windows example): a kernel runs and its answer is checked here.

The sample exits with 0 after a wrong answer, so result, expected value and tolerance are compared again.
"""

from __future__ import annotations

import re

import msgspec

from validations.suites.engine.base import (
    Demo,
    Image,
    Lines,
    Past,
    Reading,
    Suite,
    Target,
    Values,
    Workload,
    gettext_noop,
)
from validations.suites.engine.figures import count, duration, name, number
from validations.suites.engine.phrases import Phrase
from validations.suites.engine.placement import with_api
from validations.suites.shared import cuda_texts
from validations.suites.shared.tensorworks import NEEDS, example, options, workload
from wording.said import sentence

VERSION = 3
_IMAGE = example("cuda-montecarlo")
_GPU = re.compile(r"Estimating Pi on GPU \((.{1,200})\)\s*\Z")
_FIELD = re.compile(
    r"(?P<label>Precision|Number of sims|Tolerance|GPU result|Expected|Absolute error|Relative error):"
    r"\s{1,20}(?P<value>\S{1,40})\s*\Z"
)
_PERFORMANCE = re.compile(
    r"MonteCarloEstimatePi\w?, Performance = (?P<rate>\S{1,40}) sims/s, Time = (?P<time>[^\s(]{1,40})\(ms\),"
    r" NumDevsUsed = (?P<devices>\d{1,6})"
)
_RUNTIME = re.compile(r"runtime error \((\w{1,60})\)")


class _Estimate(msgspec.Struct):
    """One estimate: what the program printed of it. measured: whether its performance is a number above zero."""

    fields: dict[str, str] = {}
    performance: int | None = None
    measured: bool = False


def read(lines: Lines) -> Reading:
    """The proof is a performance line after an estimate within its own tolerance."""
    reading = Reading(missing=sentence("The log has no complete estimate."))
    estimates: list[_Estimate] = []
    for line, text in lines:
        if match := _GPU.match(text):
            estimates.append(_Estimate())
            reading.facts.setdefault("gpu_name", name(match[1]))
        elif estimates and (match := _FIELD.match(text)):
            estimates[-1].fields.setdefault(match["label"], match["value"])
        elif match := _PERFORMANCE.match(text):
            _performance(reading, estimates, match, line)
        else:
            _failure(reading, text, line)
    if estimates:
        _conclude(reading, estimates)
    return reading


def _performance(reading: Reading, estimates: list[_Estimate], match: re.Match[str], line: int) -> None:
    if not estimates:
        return
    rate, time = duration(match["rate"]), duration(match["time"])
    estimates[-1].performance, estimates[-1].measured = line, rate is not None and time is not None
    reading.measure("sims_per_second", rate, "1/s")
    reading.measure("time", time, "ms")
    if not int(match["devices"]):
        reading.failed("no-device", sentence("No device was used."), line)


def _failure(reading: Reading, text: str, line: int) -> None:
    if "does not match expected result" in text:
        reading.failed("verification", sentence("Wrong result: {text}", text=name(text)), line)
    elif text.startswith("could not get device count"):
        reading.failed("no-device", sentence("The CUDA runtime could not count the devices."), line)
    elif "untime error" in text and (match := _RUNTIME.search(text)):
        cuda_texts.report(reading, match[1], text, line)
    elif text.startswith("CUDA error at "):
        cuda_texts.report(reading, text, text, line)


def _conclude(reading: Reading, estimates: list[_Estimate]) -> None:
    fields = estimates[0].fields
    reading.facts["precision"] = name(fields.get("Precision", "")) or None
    reading.facts["simulations"] = count(fields.get("Number of sims", ""))
    reading.measure("absolute_error", number(fields.get("Absolute error", "")), "1")
    right = [_right(estimate) for estimate in estimates]
    line = estimates[-1].performance
    if False in right:
        wrong = estimates[right.index(False)]
        reading.failed("verification", sentence("The estimate of pi is outside the tolerance."), wrong.performance)
    elif None not in right and line is not None:
        if all(estimate.measured for estimate in estimates):
            reading.proof = line
        else:
            reading.missing = sentence("Invalid performance value.")


def _right(estimate: _Estimate) -> bool | None:
    """Whether the result is within the tolerance, which is relative; None when the estimate is not complete."""
    words = [estimate.fields.get(label) for label in ("GPU result", "Expected", "Tolerance")]
    if None in words or estimate.performance is None or count(estimate.fields.get("Number of sims", "1")) == 0:
        return None
    result, expected, tolerance = (number(word or "") for word in words)
    if result is None or expected is None or tolerance is None:
        return False
    return 3.1 < expected < 3.2 and abs(result - expected) / expected <= tolerance < 1


def _workload(target: Target, values: Values) -> Workload:
    return workload(values)


SUITE = Suite(
    id="cuda-montecarlo",
    title="CUDA Monte Carlo",
    proves=gettext_noop("A CUDA kernel runs on the card in a Windows container with the right result."),
    level="checked",
    os=("windows",),
    families=with_api("cuda", os="windows"),
    parser_version=VERSION,
    options=options(_IMAGE),
    read=read,
    pod_security="baseline",
    workload=_workload,
    needs={"windows": NEEDS},
    measures=True,
    demo=Demo(
        images=(Image(mark="example-cuda-montecarlo", seconds=5, size=3_800_000_000),),
        nodes={"win-mcdm-01": "mismatch"},
        past=Past(runs=1),
    ),
    proof="MonteCarloEstimatePiP, Performance = 619920.52 sims/s, Time = 161.31(ms), NumDevsUsed = 1, Blocksize = 128",
    source="NVIDIA/cuda-samples `MC_EstimatePiP`",
    phrases=(
        Phrase(
            "computed result (2.9e+00) does not match expected result (3.1e+00).",
            "verification",
            "Wrong result, although the exit code is 0",
        ),
        Phrase("could not get device count.", "no-device", "The CUDA runtime could not count the devices"),
        *cuda_texts.phrases("CUDA error at piestimator.cu:152 code=999({})"),
    ),
)
