"""vulkaninfo in a Windows container: which Vulkan devices there are, and how much local memory.

NVIDIA's driver offers no Vulkan in Windows containers: there this suite is expected to fail, and the reason says so.
"""

from __future__ import annotations

import re
from typing import Any

from validations.suites.engine.adapters import is_software, on_direct3d
from validations.suites.engine.base import (
    Demo,
    Image,
    Lines,
    Reading,
    ReasonWords,
    Suite,
    Target,
    Values,
    Workload,
    gettext_noop,
)
from validations.suites.engine.figures import count, name
from validations.suites.engine.phrases import Phrase, first, tell
from validations.suites.engine.placement import with_api
from validations.suites.shared.tensorworks import NEEDS, SERVER, options, workload
from wording.said import sentence

VERSION = 3
_SECTION = re.compile(r"GPU(\d{1,4}):\s*\Z")
_PROPERTY = re.compile(
    r"\s{1,20}(?P<label>apiVersion|driverVersion|vendorID|deviceID|deviceType|deviceName|driverID|driverName)\s{0,40}= ?(?P<value>.*)"
)
_HEAP = re.compile(r"\s{1,20}memoryHeaps\[\d{1,4}\]:?")
_SIZE = re.compile(r"\s{1,20}size\s{0,40}= ?(\d{1,16})\b")
_DOTTED = re.compile(r"\d{1,5}(?:\.\d{1,5}){1,3}")
_SOURCE = "KhronosGroup/Vulkan-Tools `vulkaninfo.h`"
_LIMIT = sentence("The driver does not support Vulkan in containers (known NVIDIA limitation)")
_PHRASES = (
    Phrase(
        "Registry lookup failed to get ICD manifest files",
        "no-adapter",
        _LIMIT,
        source="KhronosGroup/Vulkan-Loader",
    ),
    Phrase("ERROR_INCOMPATIBLE_DRIVER", "no-adapter", _LIMIT, source=_SOURCE),
    Phrase(
        "loader is not installed, not found, or failed to load",
        "driver-missing",
        sentence("No Vulkan loader in the container (the device plugin mounts it from the driver)"),
        source=_SOURCE,
    ),
    Phrase(
        "failed with ERROR_OUT_OF_DEVICE_MEMORY",
        "out-of-memory",
        sentence("Other processes use the memory"),
        "errored",
        _SOURCE,
    ),
    Phrase(
        "failed with ERROR_OUT_OF_HOST_MEMORY",
        "out-of-memory",
        sentence("Not enough memory in the container"),
        "errored",
        _SOURCE,
    ),
    Phrase("failed with ERROR_DEVICE_LOST", "device-removed", sentence("The device was lost"), source=_SOURCE),
    Phrase(
        "vkCreateInstance failed with ERROR_INITIALIZATION_FAILED",
        "driver",
        sentence("The driver did not start"),
        source=_SOURCE,
    ),
    Phrase(
        "vkEnumeratePhysicalDevices failed with ERROR_INITIALIZATION_FAILED",
        "driver",
        sentence("The driver did not start"),
        source=_SOURCE,
    ),
    Phrase(
        "could not find any GPU's",
        "no-adapter",
        sentence("The driver finds no device in the container"),
        source=_SOURCE,
    ),
)
_LABELS = {
    "apiVersion": "api_version",
    "driverVersion": "driver_version",
    "deviceType": "type",
    "deviceName": "name",
    "driverID": "driver_id",
    "driverName": "driver_name",
}
_HARDWARE = ("DISCRETE_GPU", "INTEGRATED_GPU", "VIRTUAL_GPU")


def read(lines: Lines) -> Reading:
    """Facts `devices`; the proof is the properties of a device that is hardware."""
    reading = Reading(missing=sentence("The log has no complete Vulkan device properties."))
    devices: dict[str, dict[str, Any]] = {}
    current: dict[str, Any] | None = None
    heap: int | None = None
    for line, text in lines:
        if match := _SECTION.match(text):
            current = devices.setdefault(match[1], {})
        elif ("ERROR_" in text or "ailed" in text or "not find" in text) and (
            phrase := first(_PHRASES, text)
        ) is not None:
            tell(reading, phrase, sentence("{meaning}: {text}", meaning=phrase.meaning, text=name(text)), line)
        elif current is None:
            continue
        elif match := _PROPERTY.match(text):
            _property(current, match["label"], match["value"], line)
        elif _HEAP.match(text):
            heap = None
        elif match := _SIZE.match(text):
            heap = count(match[1])
        elif "MEMORY_HEAP_DEVICE_LOCAL_BIT" in text and heap:
            current.setdefault("memory_bytes", heap)
    _conclude(reading, list(devices.values()))
    return reading


def _property(device: dict[str, Any], label: str, value: str, line: int) -> None:
    if label == "deviceName":
        device.setdefault("line", line)
    if label in ("apiVersion", "driverVersion"):
        # Older builds print the packed number first and the version in brackets.
        version = _DOTTED.search(value[:100])
        value = version.group() if version else value
    if key := _LABELS.get(label):
        device.setdefault(key, name(value).removeprefix("PHYSICAL_DEVICE_TYPE_"))


def _conclude(reading: Reading, devices: list[dict[str, Any]]) -> None:
    named = [device for device in devices if device.get("name") and device.get("type")]
    lines = [device.pop("line", None) for device in named]
    for device in devices:
        device.pop("line", None)
    reading.facts["devices"] = devices[:64]
    soft = [device["type"] == "CPU" or is_software(device["name"]) for device in named]
    if named and all(soft):
        reading.failed("software-adapter", sentence("Only software devices: {name}.", name=named[0]["name"]), lines[0])
    hard = [(device, line) for device, software, line in zip(named, soft, lines, strict=True) if not software]
    known = [(device, line) for device, line in hard if device["type"] in _HARDWARE]
    if hard and not known:
        device = hard[0][0]
        reading.missing = sentence("{name} has an unknown type: “{kind}”.", name=device["name"], kind=device["type"])
    if not known:
        return
    native = [line for device, line in known if not _layered(device)]
    reading.proof = native[0] if native else known[0][1]
    if not native:
        reading.warning(
            "layered-driver",
            sentence("Only Vulkan on Direct3D 12 (Mesa Dozen): {name}.", name=known[0][0]["name"]),
            known[0][1],
        )


def _layered(device: dict[str, Any]) -> bool:
    """Whether it is Mesa's Dozen, Vulkan on top of Direct3D 12, whatever adapter is below it."""
    driver = f"{device.get('driver_id', '')} {device.get('driver_name', '')}".lower()
    return on_direct3d(device["name"]) or "dozen" in driver


def _workload(target: Target, values: Values) -> Workload:
    return workload(values, ("vulkaninfo.exe",))


SUITE = Suite(
    id="directx-vulkaninfo",
    title=gettext_noop("Vulkan information"),
    proves=gettext_noop("A container on the node detects a hardware Vulkan device. Nothing runs on it."),
    level="detected",
    os=("windows",),
    families=with_api("vulkan", os="windows"),
    parser_version=VERSION,
    options=options(SERVER),
    read=read,
    pod_security="baseline",
    workload=_workload,
    needs={"windows": NEEDS},
    # NVIDIA's driver is on all Windows nodes of the demo.
    demo=Demo(
        images=(Image(mark="vulkaninfo", seconds=2, size=5_100_000_000),),
        everywhere="no-driver",
        exits={"no-driver": 1},
    ),
    proof="deviceName        = Tesla T4",
    source=_SOURCE,
    phrases=(
        *_PHRASES,
        Phrase(
            "deviceName = Microsoft Direct3D12 (Microsoft Basic Render Driver)",
            "software-adapter",
            "Mesa Dozen on the Windows software adapter",
            source="Mesa `dzn_device.c`",
            example="GPU0:\nVkPhysicalDeviceProperties:\n\tdeviceType        = PHYSICAL_DEVICE_TYPE_CPU\n"
            "\tdeviceName        = Microsoft Direct3D12 (Microsoft Basic Render Driver)",
        ),
        Phrase(
            "deviceName = Microsoft Direct3D12 (NVIDIA Tesla T4)",
            "layered-driver",
            "Mesa Dozen on a GPU, without a native Vulkan driver",
            "warning",
            source="Mesa `dzn_device.c`",
            example="GPU0:\nVkPhysicalDeviceProperties:\n\tdeviceType        = PHYSICAL_DEVICE_TYPE_DISCRETE_GPU\n"
            "\tdeviceName        = Microsoft Direct3D12 (NVIDIA Tesla T4)",
        ),
    ),
    reasons=(
        ReasonWords(
            "layered-driver",
            gettext_noop("Vulkan ran on Direct3D 12"),
            "Check the GPU driver on the node: Direct3D 12 works, but the Vulkan driver is not in the container.",
            points_to="driver or runtime",
        ),
    ),
)
