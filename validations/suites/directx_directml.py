"""HelloDirectML: an identity operator on 24 numbers. It proves that DirectML works, not that a GPU did the work.

The program names no adapter and takes a software one silently; a pass says so.
"""

from __future__ import annotations

from validations.suites.engine.adapters import is_software
from validations.suites.engine.base import (
    Demo,
    Image,
    Lines,
    Past,
    Reading,
    ReasonWords,
    Suite,
    Target,
    Values,
    Workload,
    gettext_noop,
)
from validations.suites.engine.figures import name, number
from validations.suites.engine.phrases import Phrase
from validations.suites.engine.placement import with_api
from validations.suites.shared.tensorworks import NEEDS, example, options, workload
from wording.said import sentence

VERSION = 2
_IMAGE = example("directml")
_LENGTH = 24
_ADAPTER_LABELS = ("adapter:", "description:", "gpu:", "device:", "using adapter")


def read(lines: Lines) -> Reading:
    """The proof is an output line of 24 finite numbers equal to the input line."""
    reading = Reading(missing=sentence("The log is missing a tensor."))
    tensors: dict[str, list[tuple[int, list[float | None]]]] = {"input": [], "output": []}
    for line, text in lines:
        low = text[:32].lower()
        for kind, seen in tensors.items():
            if low.startswith(f"{kind} tensor:"):
                seen.append((line, [number(word) for word in text.partition(":")[2].split()]))
        if low.startswith(_ADAPTER_LABELS):
            _adapter(reading, text, line)
    if "gpu_name" not in reading.facts:
        reading.lower("none", sentence("The program does not name its adapter, so this proves nothing about the card."))
    if len(tensors["input"]) == len(tensors["output"]) == 1:
        _compare(reading, tensors["input"][0][1], *tensors["output"][0])
    return reading


def _adapter(reading: Reading, text: str, line: int) -> None:
    adapter = name(text.partition(":")[2])
    if adapter:
        reading.facts.setdefault("gpu_name", adapter)
    if is_software(adapter):
        reading.failed("software-adapter", sentence("Ran on a software adapter: {adapter}.", adapter=adapter), line)


def _compare(reading: Reading, given: list[float | None], line: int, got: list[float | None]) -> None:
    if len(given) != _LENGTH or None in given:
        reading.missing = sentence("The input line does not have {length} numbers.", length=_LENGTH)
    elif len(got) < _LENGTH:
        reading.missing = sentence("The output line does not have {length} numbers.", length=_LENGTH)
    elif not any(given):
        reading.missing = sentence("The input is all zeros, so an equal output proves nothing.")
    elif got != given:
        reading.failed("verification", sentence("The output tensor differs from the input tensor."), line)
    else:
        reading.proof = line
        if "gpu_name" not in reading.facts:
            reading.remark("adapter-not-named", sentence("DirectML works. The adapter is unidentified."), line)


def _workload(target: Target, values: Values) -> Workload:
    return workload(values)


SUITE = Suite(
    id="directx-directml",
    title=gettext_noop("DirectML check"),
    proves=gettext_noop("DirectML returns the right result in a container, on the adapter that the log names."),
    level="checked",
    os=("windows",),
    families=with_api("directx"),
    parser_version=VERSION,
    options=options(_IMAGE),
    read=read,
    pod_security="baseline",
    workload=_workload,
    needs={"windows": NEEDS},
    demo=Demo(
        images=(Image(mark="example-directml", seconds=3, size=3_500_000_000),),
        past=Past(runs=1),
    ),
    proof="output tensor: 1.62 1.62 1.62 … (24 numbers, equal to those of the input)",
    source="TensorWorks example `directml`",
    phrases=(
        Phrase(
            "output tensor: other numbers than input tensor:",
            "verification",
            "Wrong DirectML result",
            example=f"input tensor:{' 1.62' * _LENGTH}\noutput tensor:{' 0.00' * _LENGTH}",
        ),
        Phrase("Adapter: Microsoft Basic Render Driver", "software-adapter", "Ran on a software adapter"),
    ),
    reasons=(
        ReasonWords(
            "adapter-not-named",
            gettext_noop("adapter unidentified"),
            "No action. The pass proves nothing about the card, since the program does not name its adapter.",
        ),
    ),
)
