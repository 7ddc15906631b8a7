"""CUDA n-body benchmark: sustained work on a card, in GFLOP/s. It measures; it checks no result.

The architecture name that the sample prints in quotes comes from an old table and is not used.
"""

from __future__ import annotations

import re

from validations.suites.engine.base import (
    Demo,
    Image,
    Lines,
    Needs,
    Option,
    Reading,
    Suite,
    Target,
    Values,
    Workload,
    gettext_noop,
)
from validations.suites.engine.demo import START_ERROR, Campaign, Container, Past
from validations.suites.engine.figures import count, duration, name
from validations.suites.engine.options import common, image, linux
from validations.suites.engine.phrases import Phrase
from validations.suites.engine.placement import with_api
from validations.suites.shared import cuda_texts
from wording.said import sentence

VERSION = 3
#: What the demo prints for a container that was not told how many.
_SAMPLE_BODIES = 59_392
_DEVICE = re.compile(r"> Compute (\d{1,3}\.\d{1,3}) CUDA device: \[(.{1,200})\]\s*\Z")
_USED = re.compile(r"> (\d{1,6}) Devices used for simulation")
_PRECISION = re.compile(r"> (Single|Double) precision floating point simulation")
_TOTAL = re.compile(r"(\d{1,12}) bodies, total time for (\d{1,9}) iterations: (\S{1,40}) ms")
_INTERACTIONS = re.compile(r"= (\S{1,40}) billion interactions per second")
_FLOPS = re.compile(r"= (\S{1,40}) (single|double)-precision GFLOP/s at (\d{1,4}) flops per interaction\s*\Z")
#: The sample ends with success after some of these.
_BAD = ('Error: "number of ', "You can't use --numdevices and --device", "Invalid command line parameter")
_BEGINS = frozenset(text[:3] for text in _BAD)
_TOO_FEW = re.compile(r"Error: only (\d{1,6}) Devices available, (\d{1,6}) requested")


def read(lines: Lines) -> Reading:
    """The proof is the GFLOP/s line with a number above zero, on one named CUDA device or more."""
    reading = Reading(missing=sentence("The log has no GFLOP/s line."))
    unmeasured = False
    for line, text in lines:
        head = text[:2]
        if head == "> ":
            _setup(reading, text, line)
        elif head == "= ":
            _speed(reading, text, line)
        elif match := _TOTAL.match(text):
            reading.facts |= {"bodies": count(match[1]), "iterations": count(match[2])}
            spent = duration(match[3])
            reading.measure("time", spent, "ms")
            unmeasured = unmeasured or not (int(match[1]) and int(match[2]) and spent)
        else:
            _failure(reading, text, line)
    if unmeasured and reading.proof is not None:
        reading.proof = None
        reading.missing = sentence("Invalid values for bodies, iterations or time.")
    elif reading.proof is not None and "gpu_name" not in reading.facts:
        reading.proof = None
        reading.missing = sentence("No CUDA device in the log.")
    return reading


def _setup(reading: Reading, text: str, line: int) -> None:
    if match := _DEVICE.match(text):
        reading.facts.setdefault("compute_capability", match[1])
        reading.facts.setdefault("gpu_name", name(match[2]))
    elif match := _USED.match(text):
        reading.facts["devices_used"] = int(match[1])
        if int(match[1]) == 0:
            reading.failed("no-device", sentence("No device was used for the simulation."), line)
    elif match := _PRECISION.match(text):
        reading.facts["precision"] = match[1].lower()
    elif text.startswith("> Simulation with CPU"):
        reading.failed("cpu-only", sentence("The simulation ran on the CPU."), line)


def _speed(reading: Reading, text: str, line: int) -> None:
    if match := _INTERACTIONS.match(text):
        reading.measure("billion_interactions_per_second", duration(match[1]), "1e9/s")
    elif match := _FLOPS.match(text):
        value = duration(match[1])
        reading.measure("gflops", value, "GFLOP/s")
        if value is None:
            reading.missing = sentence("Invalid speed: {speed}.", speed=name(match[1]))
        else:
            reading.proof = line


def _failure(reading: Reading, text: str, line: int) -> None:
    if text[:3] in _BEGINS and _refused(reading, text, line):
        return
    if "CUDA error" in text or text.startswith(
        ("CUDA Runtime API error", "Error: ", "There is no device supporting CUDA")
    ):
        cuda_texts.report(reading, text, text, line)


def _refused(reading: Reading, text: str, line: int) -> bool:
    """What the sample says before it starts, and when it compares."""
    if match := _TOO_FEW.match(text):
        reading.failed(
            "no-device",
            sentence("{available} of {requested} requested devices available.", available=match[1], requested=match[2]),
            line,
        )
    elif text.startswith(_BAD):
        reading.errored("bad-arguments", name(text), line)
    elif text.startswith("Error: (host)"):
        reading.failed("verification", sentence("Results of card and CPU differ: {text}", text=name(text)), line)
    else:
        return False
    return True


def _workload(target: Target, values: Values) -> Workload:
    args = ["-gpu", "-benchmark", f"-numbodies={values['bodies']}"]
    if values["precision"] == "double":
        args.append("-fp64")
    return Workload(
        image=str(values["image"]),
        command=("/cuda-samples/nbody",),
        args=tuple(args),
        host_memory=str(values["host_memory"]),
    )


def _demo_values(container: Container) -> dict[str, str]:
    """Figures that suit the card: GFLOP/s from its cores, and from them the time that so many bodies take."""
    bodies = _bodies(container)
    gflops = container.cores * 1.684
    interactions = gflops / 20
    milliseconds = bodies * bodies * 10 / (interactions * 1e6) if interactions else 0.0
    return {
        "bodies": str(bodies),
        "nbody_ms": f"{milliseconds:.3f}",
        "nbody_interactions": f"{interactions:.3f}",
        "nbody_gflops": f"{gflops:.3f}",
    }


def _bodies(container: Container) -> int:
    for word in container.args:
        label, _, value = word.partition("=")
        if label == "-numbodies" and value.isascii() and value.isdigit() and 0 < len(value) < 9:
            return int(value)
    return _SAMPLE_BODIES


SUITE = Suite(
    id="cuda-nbody",
    title="CUDA n-body",
    proves=gettext_noop("A card sustains arithmetic work. The speed is measured, the result is not checked."),
    level="ran",
    os=("linux",),
    families=with_api("cuda", os="linux"),
    parser_version=VERSION,
    options=(
        image("nvcr.io/nvidia/k8s/cuda-sample:nbody-cuda11.7.1"),
        Option(
            name="bodies",
            help=gettext_noop("Number of bodies."),
            default=65_536,
            kind="number",
            minimum=256,
            maximum=4_194_304,
        ),
        Option(
            name="precision",
            help=gettext_noop("Arithmetic precision."),
            default="single",
            choices=("single", "double"),
        ),
        *linux(gpu_memory_mib=2048),
        *common(deadline_s=1800, host_memory="1Gi"),
    ),
    read=read,
    pod_security="restricted",
    workload=_workload,
    needs={"linux": Needs(cuda="11.7", capability="3.5")},
    measures=True,
    demo=Demo(
        images=(Image(mark="nbody", seconds=6),),
        nodes={"gpu-t4-04": START_ERROR},
        values=_demo_values,
        past=Past(
            runs=4,
            campaigns=(
                Campaign(
                    name="Speed of all T4 cards", nodes=("gpu-t4-",), ago=2, every_card=True, slow=(("gpu-t4-05", 2),)
                ),
            ),
        ),
    ),
    proof="= 12504.139 single-precision GFLOP/s at 20 flops per interaction",
    source="NVIDIA/cuda-samples `nbody.cpp`",
    phrases=(
        Phrase(
            "Error: only 1 Devices available, 2 requested.  Exiting.",
            "no-device",
            "Fewer cards available than requested",
        ),
        Phrase("> Simulation with CPU", "cpu-only", "The simulation ran on the CPU"),
        Phrase("Error: (host)1.0 != (device)0.0", "verification", "Results of card and CPU differ"),
        Phrase('Error: "number of bodies" specified 0 is invalid.', "bad-arguments", "An option is wrong", "errored"),
        *cuda_texts.phrases('CUDA error at bodysystemcuda_impl.h:160 code=999({}) "cudaSetDevice(0)"'),
    ),
)
