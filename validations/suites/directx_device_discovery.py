"""TensorWorks' device discovery: which DirectX adapters a container on the node sees. It measures nothing.

Exit code 0 comes with zero devices and with errors too, so the text alone decides. "Supports Compute" is computed from the
graphics capability in version 0.0.1: a "false" there fails nothing.
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

VERSION = 3
_IMAGE = example("device-discovery")
_FOUND = re.compile(r"Discovered (\d{1,9}) devices?\.\s*\Z")
_SECTION = re.compile(r"\[Device (\d{1,9}) details\]\s*\Z")
_FIELD = re.compile(r"(?P<label>[A-Z][A-Za-z ]{1,30}): {0,40}(?P<value>.*)")
_LABELS = {
    "Description": "name",
    "Vendor": "vendor",
    "PnP Hardware ID": "hardware_id",
    "LocationPath": "location_path",
    "DX Adapter LUID": "luid",
    "Is Integrated": "integrated",
    "Is Detachable": "detachable",
    "Supports Display": "display",
    "Supports Compute": "compute",
}
_FLAG_LABELS = ("integrated", "detachable", "display", "compute")
_FLAGS = {"true": True, "false": False}
_MOST_DEVICES, _MOST_STRANGE = 256, 8


def read(lines: Lines) -> Reading:
    """Facts `devices`; the proof is a count of one or more with as many complete sections."""
    reading = Reading(missing=sentence("The log has no number of discovered devices."))
    found: list[tuple[int, int]] = []
    devices: list[dict[str, Any]] = []
    strange: dict[tuple[str, str], int] = {}
    for number, text in lines:
        if text.startswith("Discovered ") and (match := _FOUND.match(text)):
            found.append((int(match[1]), number))
        elif text.startswith("[Device ") and _SECTION.match(text):
            devices.append({})
        elif text.startswith("Error:"):
            reading.errored("discovery-error", sentence("Device discovery failed: {text}", text=name(text[6:])), number)
        elif devices and (match := _FIELD.match(text)) and (label := _LABELS.get(match["label"])):
            value = match["value"].strip()
            devices[-1].setdefault(label, _value(label, value))
            if label in _FLAG_LABELS and value.lower() not in _FLAGS:
                strange.setdefault((match["label"], name(value)), number)
    reading.facts["devices"] = devices[:_MOST_DEVICES]
    for (label, value), number in list(strange.items())[:_MOST_STRANGE]:
        said = sentence("{label} has an unknown value: “{value}”.", label=label, value=value)
        reading.remark("unknown-value", said, number)
    _conclude(reading, found, devices)
    return reading


def _value(label: str, text: str) -> str | bool | int | None:
    if label == "luid":
        return count(text.removeprefix("-")) if not text.startswith("-") else name(text)
    if label in _FLAG_LABELS:
        return _FLAGS.get(text.lower())
    return name(text)


def _conclude(reading: Reading, found: list[tuple[int, int]], devices: list[dict[str, Any]]) -> None:
    if len(found) != 1:
        return
    number, line = found[0]
    whole = [device for device in devices if device.get("name") and "compute" in device]
    if number == 0:
        reading.failed("no-adapter", sentence("No DirectX adapter in the container."), line)
    elif len(whole) != number or len(devices) != number:
        reading.missing = sentence(
            "The log announces {number} devices but has details of {detailed}.",
            number=number,
            detailed=len(whole),
        )
    elif all(is_software(str(device["name"])) for device in devices):
        reading.failed("software-adapter", sentence("Only software adapters: {name}.", name=devices[0]["name"]), line)
    else:
        reading.proof = line


def _workload(target: Target, values: Values) -> Workload:
    return workload(values)


SUITE = Suite(
    id="directx-device-discovery",
    title=gettext_noop("DirectX device discovery"),
    proves=gettext_noop("A container on the node detects DirectX adapters. Nothing runs on them."),
    level="detected",
    os=("windows",),
    families=with_api("directx"),
    parser_version=VERSION,
    options=options(_IMAGE),
    read=read,
    pod_security="baseline",
    workload=_workload,
    needs={"windows": NEEDS},
    demo=Demo(
        images=(Image(mark="example-device-discovery", seconds=3, size=3_500_000_000),),
        nodes={"akswgpu000002": "no-device"},
        past=Past(runs=1),
    ),
    proof="Discovered 1 devices.",
    source="TensorWorks device discovery library",
    phrases=(
        Phrase("Discovered 0 devices.", "no-adapter", "No DirectX adapter in the container"),
        Phrase(
            "Description: the name of a software or virtual display adapter, and of no other",
            "software-adapter",
            "No GPU in the container",
            example="Discovered 1 devices.\n\n[Device 0 details]\n\nDescription:         Microsoft Hyper-V Video\n"
            "Supports Display:    true\nSupports Compute:    true",
        ),
        Phrase("Error: …", "discovery-error", "Device discovery failed", "errored"),
    ),
    reasons=(
        ReasonWords(
            "discovery-error",
            gettext_noop("device discovery failed"),
            "Read the message of the library in the text. Check that the image has the DirectX libraries.",
        ),
    ),
)
