"""OpenCL enumeration (TensorWorks' example, and clinfo): which OpenCL devices a container sees.

Exit code 0 comes with zero platforms too. Column padding differs between builds, so labels are matched, not columns.
"""

from __future__ import annotations

import re
from typing import Any

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
from validations.suites.engine.figures import count, name
from validations.suites.engine.phrases import Phrase
from validations.suites.engine.placement import with_api
from validations.suites.shared.tensorworks import NEEDS, example, options, workload
from wording.said import sentence

VERSION = 2
_IMAGE = example("opencl-enum")
_PLATFORMS = re.compile(r"(?:Enumerated (\d{1,6}) platforms?\.|Number of platforms {1,200}(\d{1,6}))\s*\Z")
_PLATFORM = re.compile(r"Platform(?:\[\d{1,6}\])?:")
_DEVICE = re.compile(r"\s{0,20}Device\[\d{1,6}\]:")
_ENUM_FIELD = re.compile(r"\s{1,20}(?P<label>Type|Name|Vendor|Device Version|Driver Version):\s*(?P<value>.*)")
_CLINFO_FIELD = re.compile(
    r"\s{1,20}(?P<label>Device Name|Device Type|Device Vendor|Driver Version|Global memory size) {2,200}(?P<value>.*)"
)
_LABELS = {
    "Type": "type",
    "Name": "name",
    "Vendor": "vendor",
    "Device Version": "opencl_version",
    "Driver Version": "driver_version",
    "Device Name": "name",
    "Device Type": "type",
    "Device Vendor": "vendor",
}


class _Walk:
    """State of one pass over the log: platforms seen, devices so far, whether the end was reached."""

    def __init__(self) -> None:
        self.platforms: tuple[int, int] | None = None
        self.devices: list[tuple[int, dict[str, Any]]] = []
        self.in_device = False
        self.clinfo = False
        self.done = False


def read(lines: Lines) -> Reading:
    """Facts `devices`; the proof is a device of type GPU on one of the platforms."""
    reading = Reading(missing=sentence("The enumeration in the log is incomplete."))
    walk = _Walk()
    for line, text in lines:
        if not text or text.isspace():
            continue
        _line(walk, reading, line, text)
    reading.facts["devices"] = [device for _, device in walk.devices][:256]
    _conclude(reading, walk)
    return reading


def _line(walk: _Walk, reading: Reading, line: int, text: str) -> None:
    if match := _PLATFORMS.match(text):
        walk.platforms = (int(match[1] or match[2]), line)
        walk.clinfo = match[2] is not None
    elif text.startswith("Error getting device info"):
        reading.failed("device-info", sentence("A device returned no information: {text}", text=name(text)), line)
    elif text.strip() == "Done.":
        walk.done = True
    elif _PLATFORM.match(text):
        walk.in_device = False
    elif _DEVICE.match(text):
        walk.in_device = True
        walk.devices.append((line, {}))
    elif walk.clinfo:
        _clinfo(walk, line, text)
    elif walk.in_device and (match := _ENUM_FIELD.match(text)):
        walk.devices[-1][1].setdefault(_LABELS[match["label"]], name(match["value"]))


def _clinfo(walk: _Walk, line: int, text: str) -> None:
    match = _CLINFO_FIELD.match(text)
    if match is None:
        return
    if match["label"] == "Device Name":
        walk.devices.append((line, {}))
        walk.done = True
    if not walk.devices:
        return
    if match["label"] == "Global memory size":
        memory = count(match["value"].split(" ")[0])
        if memory:
            walk.devices[-1][1]["memory_bytes"] = memory
    else:
        walk.devices[-1][1].setdefault(_LABELS[match["label"]], name(match["value"]))


def _conclude(reading: Reading, walk: _Walk) -> None:
    if walk.platforms is None or (not walk.done and walk.platforms[0]):
        return
    number, line = walk.platforms
    reading.facts["platforms"] = number
    gpus = [(at, device) for at, device in walk.devices if "GPU" in _types(device) and device.get("name")]
    hardware = [(at, device) for at, device in gpus if not is_software(device["name"])]
    if hardware and number:
        reading.proof = hardware[0][0]
    elif gpus:
        reading.failed(
            "software-adapter", sentence("Only software devices: {name}.", name=gpus[0][1]["name"]), gpus[0][0]
        )
    elif any("CPU" in _types(device) for _, device in walk.devices):
        reading.failed("cpu-only", sentence("OpenCL finds only CPU devices."), walk.devices[0][0])
    else:
        reading.failed("no-device", sentence("OpenCL finds no GPU device in the container."), line)


def _types(device: dict[str, Any]) -> set[str]:
    """The types of a device are bits: drivers set DEFAULT beside GPU."""
    return {word.removeprefix("CL_DEVICE_TYPE_") for word in re.findall(r"\w{1,40}", device.get("type", "").upper())}


def _workload(target: Target, values: Values) -> Workload:
    return workload(values)


SUITE = Suite(
    id="directx-opencl-enum",
    title=gettext_noop("OpenCL enumeration"),
    proves=gettext_noop("A container on the node detects an OpenCL device of type GPU. Nothing runs on it."),
    level="detected",
    os=("windows",),
    families=with_api("opencl", os="windows"),
    parser_version=VERSION,
    options=options(_IMAGE),
    read=read,
    pod_security="baseline",
    workload=_workload,
    needs={"windows": NEEDS},
    demo=Demo(
        images=(Image(mark="example-opencl-enum", seconds=2, size=3_500_000_000),),
        past=Past(runs=1),
    ),
    proof="Type:           GPU",
    source="bashbaug/SimpleOpenCLSamples `enumopencl`; clinfo",
    phrases=(
        Phrase("Enumerated 0 platforms.", "no-device", "No OpenCL driver in the container"),
        Phrase("Error getting device info for device 1.", "device-info", "A device gave no information"),
        Phrase(
            "Type: CPU, and no GPU",
            "cpu-only",
            "OpenCL finds only CPU devices",
            example="Enumerated 1 platforms.\n\nDevice[0]:\n\tType:           CPU \n\tName:           pthread\n\nDone.",
        ),
        Phrase(
            "Type: GPU with the name of a software adapter",
            "software-adapter",
            "OpenCL runs on a software adapter",
            example="Enumerated 1 platforms.\n\nDevice[0]:\n\tType:           GPU \n"
            "\tName:           Microsoft Basic Render Driver\n\nDone.",
        ),
    ),
    reasons=(
        ReasonWords(
            "device-info",
            gettext_noop("a device returned no information"),
            "Check the OpenCL driver of the adapter.",
            points_to="driver or runtime",
        ),
    ),
)
