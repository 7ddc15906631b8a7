"""CUDA vectorAdd: the shortest proof that a container can put work on an NVIDIA card and gets the right answer.

Output and failure texts are those of the CUDA sample. Its stdout is buffered, so errors come before the first line.
"""

from __future__ import annotations

import re

import msgspec

from validations.suites.engine.base import (
    Campaign,
    Demo,
    Image,
    Lines,
    Needs,
    Past,
    Policy,
    Reading,
    Suite,
    Target,
    Values,
    Workload,
    gettext_noop,
)
from validations.suites.engine.figures import count, name
from validations.suites.engine.options import common, image, linux
from validations.suites.engine.phrases import Phrase
from validations.suites.engine.placement import with_api
from validations.suites.shared import cuda_texts
from wording.said import sentence

VERSION = 3
_HEADER = re.compile(r"\[Vector addition of (\d{1,16}) elements\]")
_LAUNCH = re.compile(r"CUDA kernel launch with (\d{1,16}) blocks of (\d{1,16}) threads")
_FAILED = re.compile(r"Failed to [a-zA-Z0-9 ]{1,80} \(error code (?P<message>.{1,300})\)!")
_VERIFICATION = re.compile(r"Result verification failed at element \d{1,16}!")


class _Marks(msgspec.Struct):
    """Where the lines of a run are, as places in the log, with the numbers that they carry."""

    headers: list[tuple[int, int | None]] = []
    launches: list[tuple[int, int | None, int | None]] = []
    passed: list[int] = []
    done: list[int] = []


def read(lines: Lines) -> Reading:
    """The proof is the whole sequence of one run, each line alone on its line, once and in order."""
    reading = Reading(missing=sentence("The log has no complete vectorAdd run."))
    marks = _Marks()
    for at, raw in enumerate(lines.texts):
        text = raw.strip()
        if text == "Test PASSED":
            marks.passed.append(at)
        elif text == "Done":
            marks.done.append(at)
        elif text.startswith("[V") and (match := _HEADER.fullmatch(text)):
            marks.headers.append((at, count(match[1])))
        elif text.startswith("CUDA k") and (match := _LAUNCH.fullmatch(text)):
            marks.launches.append((at, count(match[1]), count(match[2])))
        else:
            _failure(reading, text, lines.numbers[at])
    _sizes(reading, marks)
    _proof(reading, marks, lines)
    return reading


def _failure(reading: Reading, text: str, line: int) -> None:
    if text.startswith("Failed to ") and (match := _FAILED.match(text)):
        cuda_texts.report(reading, match["message"], text, line)
    elif text.startswith("Failed to allocate host vectors!"):
        reading.errored("out-of-memory", sentence("Not enough host memory in the container."), line)
    elif text.startswith("Result v") and _VERIFICATION.match(text):
        reading.failed("verification", sentence("Wrong result: {text}", text=name(text)), line)
    elif text.startswith("Test FAILED"):
        reading.failed("verification", sentence("The test reports a failure."), line)


def _sizes(reading: Reading, marks: _Marks) -> None:
    """Facts only from a log with one header and one launch: of two runs no number is right."""
    found: dict[str, int | None] = {}
    if len(marks.headers) == 1:
        found["elements"] = marks.headers[0][1]
    if len(marks.launches) == 1:
        _, found["blocks"], found["threads_per_block"] = marks.launches[0]
    reading.facts |= {key: value for key, value in found.items() if value is not None}


def _proof(reading: Reading, marks: _Marks, lines: Lines) -> None:
    places = [[one[0] for one in marks.headers], [one[0] for one in marks.launches], marks.passed, marks.done]
    if twice := next((found for found in places if len(found) > 1), None):
        reading.errored("mixed-log", sentence("The log contains lines of more than one run."), lines.numbers[twice[1]])
        return
    order = [found[0] for found in places if found]
    if len(order) < len(places) or order != sorted(order):
        return
    elements, blocks, threads = (reading.facts.get(key, 0) for key in ("elements", "blocks", "threads_per_block"))
    if not elements:
        reading.missing = sentence("The run added no elements.")
        return
    if not (blocks - 1) * threads < elements <= blocks * threads:
        text = sentence(
            "{blocks} blocks of {threads} threads do not match {elements} elements: the log mixes several runs.",
            blocks=blocks,
            threads=threads,
            elements=elements,
        )
        reading.errored("mixed-log", text, lines.numbers[order[1]])
        return
    reading.proof = lines.numbers[marks.passed[0]]


def _workload(target: Target, values: Values) -> Workload:
    return Workload(image=str(values["image"]), host_memory=str(values["host_memory"]))


SUITE = Suite(
    id="cuda-vectoradd",
    title="CUDA vectorAdd",
    proves=gettext_noop("A container gets an NVIDIA card, runs a kernel on it and reads back the right result."),
    level="checked",
    os=("linux",),
    families=with_api("cuda", os="linux"),
    parser_version=VERSION,
    options=(
        image("nvcr.io/nvidia/k8s/cuda-sample:vectoradd-cuda12.5.0"),
        *linux(),
        *common(deadline_s=1800, host_memory="1Gi"),
    ),
    read=read,
    pod_security="restricted",
    workload=_workload,
    needs={"linux": Needs(cuda="12.5", capability="5.0")},
    demo=Demo(
        images=(Image(mark="vectoradd", seconds=3), Image(mark="cuda-vector-add", seconds=3)),
        nodes={"gpu-t4-04": "driver-too-old", "gpu-v100-02": "verification"},
        exits={"driver-too-old": 1, "verification": 1, "no-device": 1},
        past=Past(
            runs=3,
            campaigns=(
                Campaign(name="Before the driver upgrade", nodes=("dgx-", "gpu-l40s-", "mig-h100-", "kai-"), ago=7),
                Campaign(name="After the driver upgrade", nodes=("dgx-", "gpu-l40s-", "kai-"), ago=5),
                Campaign(name="Shared cards", nodes=("gpu-t4-", "gpu-v100-", "cn-hangzhou.")),
            ),
            policies=(
                Policy(name="NVIDIA cards", stack="nvidia", days=7, window_cron="0 1 * * *", window_minutes=4 * 60),
                Policy(name="Shared cards", stack="gpushare", days=7, window_cron="0 22 * * *", window_minutes=8 * 60),
            ),
        ),
    ),
    proof="Test PASSED",
    source="NVIDIA/cuda-samples `vectorAdd.cu`",
    phrases=(
        Phrase("Result verification failed at element 7!", "verification", "Wrong result"),
        Phrase(
            "Failed to allocate host vectors!", "out-of-memory", "Not enough host memory in the container", "errored"
        ),
        *cuda_texts.phrases("Failed to launch vectorAdd kernel (error code {})!"),
    ),
)
