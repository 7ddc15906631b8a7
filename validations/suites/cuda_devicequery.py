"""CUDA deviceQuery, on Linux and (TensorWorks' example) on Windows: the runtime sees a card and can read its properties.

`Result = PASS` is printed with zero devices too, so a pass needs devices, each with its details.
"""

from __future__ import annotations

import re
from typing import Any

from validations.suites.engine.base import (
    Demo,
    Image,
    Lines,
    Needs,
    Option,
    Past,
    Reading,
    ReasonWords,
    Suite,
    Target,
    Values,
    Workload,
    gettext_noop,
)
from validations.suites.engine.figures import count, name
from validations.suites.engine.options import IMAGE, common, linux
from validations.suites.engine.phrases import Phrase
from validations.suites.engine.placement import with_api
from validations.suites.shared import cuda_texts, tensorworks
from wording.said import sentence

VERSION = 3
_LINUX = "nvcr.io/nvidia/k8s/cuda-sample:devicequery-cuda12.5.0"
_WINDOWS = tensorworks.example("cuda-devicequery")
_DETECTED = re.compile(r"Detected (\d{1,6}) CUDA Capable device\(s\)\s*\Z")
_DEVICE = re.compile(r'Device \d{1,6}: "([^"]{1,200})"\s*\Z')
_VERSIONS = re.compile(r"  CUDA Driver Version / Runtime Version\s{1,40}([\d.]{1,12}) / ([\d.]{1,12})")
_CAPABILITY = re.compile(r"  CUDA Capability Major/Minor version number:\s{1,40}(\d{1,4}\.\d{1,4})")
_MEMORY = re.compile(r"  Total amount of global memory:\s{1,40}\d{1,12} MBytes \((\d{1,16}) bytes\)")
_MODE = re.compile(r"  CUDA Device Driver Mode \(TCC or WDDM\):\s{1,40}(\w{1,16})")
_PCI = re.compile(r"  Device PCI Domain ID / Bus ID / location ID:\s{1,20}(\d{1,6}) / (\d{1,3}) / (\d{1,3})")
_MULTIPROCESSORS = re.compile(r"  \(\s{0,4}(\d{1,4})\) Multiprocessors")
_COMPUTE_MODE = re.compile(r"     < (?P<mode>\w{1,16})\b")
#: What a CUDA runtime without a device once gave for its emulation, and what a device gives that cannot be read.
_NO_CAPABILITY = frozenset(("0.0", "9999.9999"))
_SUMMARY = re.compile(r"deviceQuery, CUDA Driver = .{0,200}NumDevs = (\d{1,6})\b")
_COUNT_FAILED = re.compile(r"cudaGetDeviceCount returned (\d{1,6})")


def read(lines: Lines) -> Reading:
    """Facts `devices`, `driver_version` and `runtime_version` (CUDA's); the proof is PASS with one device or more."""
    reading = Reading(missing=sentence("The log has no deviceQuery result."))
    devices: list[dict[str, Any]] = []
    seen: dict[str, list[tuple[int, int]]] = {"detected": [], "summary": [], "pass": []}
    for line, text in lines:
        if match := _DEVICE.match(text):
            devices.append({"name": name(match[1])})
        elif text.startswith("  "):
            _property(reading, devices, text, line)
        elif match := _DETECTED.match(text):
            seen["detected"].append((int(match[1]), line))
        elif match := _SUMMARY.match(text):
            seen["summary"].append((int(match[1]), line))
        elif text.rstrip() == "Result = PASS":
            seen["pass"].append((0, line))
        else:
            _failure(reading, text, line)
    reading.facts["devices"] = devices[:256]
    _conclude(reading, seen, devices)
    return reading


def _property(reading: Reading, devices: list[dict[str, Any]], text: str, line: int) -> None:
    if not devices:
        return
    device = devices[-1]
    if match := _VERSIONS.match(text):
        reading.facts |= {"driver_version": match[1], "runtime_version": match[2]}
    elif match := _CAPABILITY.match(text):
        device["compute_capability"] = match[1]
        if match[1] in _NO_CAPABILITY:
            reading.failed(
                "unreadable-card",
                sentence("{name} reports compute capability {capability}.", name=device["name"], capability=match[1]),
                line,
            )
    elif match := _MEMORY.match(text):
        device["memory_bytes"] = count(match[1]) or None
        if not count(match[1]):
            reading.failed("unreadable-card", sentence("{name} reports no memory.", name=device["name"]), line)
    elif (match := _MULTIPROCESSORS.match(text)) and not int(match[1]):
        reading.failed("unreadable-card", sentence("{name} reports no multiprocessors.", name=device["name"]), line)
    elif (match := _COMPUTE_MODE.match(text)) and match["mode"] == "Prohibited":
        device["compute_mode"] = match["mode"]
        reading.warning(
            "compute-mode",
            sentence("The compute mode of {name} is Prohibited: no program can use it.", name=device["name"]),
            line,
        )
    elif match := _MODE.match(text):
        device["driver_mode"] = match[1]
    elif match := _PCI.match(text):
        # deviceQuery prints decimals; the rest of the world writes PCI addresses in hexadecimal.
        domain, bus, slot = (int(part) for part in match.groups())
        device["pci_bus_id"] = f"{domain:08X}:{bus:02X}:{slot:02X}.0"


def _failure(reading: Reading, text: str, line: int) -> None:
    if text.startswith("-> "):
        cuda_texts.report(reading, text[3:], text[3:], line)
    elif (match := _COUNT_FAILED.match(text)) and match[1] != "0":
        reading.remark("cuda-error", sentence("cudaGetDeviceCount returned {error}.", error=match[1]), line)
    elif "no available device(s) that support CUDA" in text:
        reading.failed("no-device", sentence("No CUDA device in the container."), line)
    elif text.rstrip() == "Result = FAIL" and not reading.has("failed", "errored"):
        reading.failed("cuda-error", sentence("deviceQuery reports FAIL."), line)


def _conclude(reading: Reading, seen: dict[str, list[tuple[int, int]]], devices: list[dict[str, Any]]) -> None:
    if not seen["pass"] or not seen["summary"]:
        return
    if any(len(found) > 1 for found in seen.values()):
        reading.errored("mixed-log", sentence("The log contains more than one run."), seen["pass"][-1][1])
        return
    number, line = seen["summary"][0]
    detected = seen["detected"][0][0] if seen["detected"] else None
    if number == 0:
        reading.failed("no-device", sentence("deviceQuery reports PASS without a device."), line)
    elif detected != number or len(devices) != number:
        reading.missing = sentence(
            "The log sums up {number} devices but has details of {detailed}.",
            number=number,
            detailed=len(devices),
        )
    else:
        reading.proof = seen["pass"][0][1]


def _workload(target: Target, values: Values) -> Workload:
    given = str(values["image"])
    if target.os == "windows":
        return tensorworks.workload(values | {"image": given or _WINDOWS})
    return Workload(image=given or _LINUX, host_memory=str(values["host_memory"]))


SUITE = Suite(
    id="cuda-devicequery",
    title="CUDA deviceQuery",
    proves=gettext_noop("The CUDA runtime in a container detects a card and reads its properties. No kernel runs."),
    level="detected",
    os=("linux", "windows"),
    families=with_api("cuda"),
    parser_version=VERSION,
    options=(
        Option(
            name="image",
            help=gettext_noop("Container image. Empty: the NVIDIA sample on Linux, the TensorWorks sample on Windows."),
            default="",
            pattern=IMAGE,
        ),
        *linux(),
        *common(deadline_s=7200, host_memory="1Gi"),
    ),
    read=read,
    pod_security="restricted",
    workload=_workload,
    needs={"linux": Needs(cuda="12.5"), "windows": tensorworks.NEEDS},
    demo=Demo(
        images=(Image(mark="devicequery", seconds=2),),
        nodes={"gpu-t4-04": "driver-too-old"},
        exits={"driver-too-old": 1},
        past=Past(runs=1),
    ),
    proof="Result = PASS",
    source="NVIDIA/cuda-samples `deviceQuery.cpp`",
    phrases=(
        Phrase(
            "There are no available device(s) that support CUDA",
            "no-device",
            "No CUDA device in the container",
        ),
        Phrase(
            "  Total amount of global memory:                 0 MBytes (0 bytes)",
            "unreadable-card",
            "The card properties are all zero",
            example='Device 1: "Tesla T4"\n  Total amount of global memory:                 0 MBytes (0 bytes)',
        ),
        Phrase(
            "     < Prohibited (no host thread can use ::cudaSetDevice() with this device) >",
            "compute-mode",
            "No program can use the card",
            "warning",
            example='Device 1: "Tesla T4"\n     < Prohibited (no host thread can use ::cudaSetDevice() with this device) >',
        ),
        *cuda_texts.phrases("-> {}"),
    ),
    reasons=(
        ReasonWords(
            "unreadable-card",
            gettext_noop("invalid card properties"),
            "Check the messages of the driver on the node. Reset the card or stop using it.",
            points_to="card",
        ),
    ),
)
