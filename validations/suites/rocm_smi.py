"""rocm-smi: the driver of AMD cards answers from inside a container and names its cards. Nothing is run on them.

Its text is read, not its JSON: that is one line, too long for many cards, and has no errors. The frame around the text says that all
of it is there. It exits with 0 where no driver is loaded. Source: ROCm/rocm_smi_lib `python_smi_tools/rocm_smi.py`.
"""

from __future__ import annotations

import re
from typing import Any

from validations.suites.engine.base import (
    Demo,
    Image,
    Lines,
    Needs,
    Reading,
    Suite,
    Target,
    Values,
    Workload,
    gettext_noop,
)
from validations.suites.engine.demo import Container
from validations.suites.engine.figures import count, name
from validations.suites.engine.options import image
from validations.suites.engine.phrases import Phrase, first, tell
from validations.suites.engine.placement import with_api
from validations.suites.shared import rocm
from wording.said import sentence

VERSION = 1
_BEGIN = re.compile(r"=+ ROCm System Management Interface =+\s*\Z")
_END = re.compile(r"=+ End of ROCm SMI Log =+\s*\Z")
_CELL = re.compile(r"GPU\[(\d{1,4})\]\t{1,2}: ([^:]{1,60}?)\s*:\s*(.{1,200})\Z")
_ERROR = re.compile(r"ERROR: GPU\[(\d{1,4})\]\t: (.{1,300})\Z")
_DRIVER = re.compile(r"Driver version: (\S{1,40})\s*\Z")
_FACTS = {
    "Unique ID": "uuid",
    "PCI Bus": "pci_bus_id",
    "Card Series": "name",
    "Card series": "name",
    "GFX Version": "architecture",
    "VRAM Total Memory (B)": "memory_total_bytes",
    "VRAM Total Used Memory (B)": "memory_used_bytes",
}
#: What a card must have to count as one that answered.
_NEEDED = ("name", "pci_bus_id")
_UNKNOWN = frozenset({"N/A", "None", "", "0x0"})
_MOST = 64
_SOURCE = "ROCm/rocm_smi_lib `rocm_smi.py`"
_PHRASES = (
    Phrase(
        "Driver not initialized (amdgpu not found in modules)",
        "driver",
        sentence("The driver is not loaded"),
        "failed",
        _SOURCE,
    ),
    Phrase("ROCm SMI returned ", "driver", sentence("The driver does not respond"), "failed", _SOURCE),
    Phrase("No AMD GPUs specified", "no-device", sentence("No card in the container"), "failed", _SOURCE),
    Phrase("No DRM devices ", "no-device", sentence("No card in the container"), "failed", _SOURCE),
    Phrase(
        "Unable to load the rocm_smi library",
        "image",
        sentence("The image lacks the library of ROCm SMI"),
        "errored",
        _SOURCE,
    ),
)


class _Walk:
    """State of one pass. begins, ends: lines of the frame."""

    def __init__(self) -> None:
        self.cards: dict[int, dict[str, Any]] = {}
        self.begins: list[int] = []
        self.ends: list[int] = []
        self.twice: int | None = None


def read(lines: Lines) -> Reading:
    """Facts `devices`, `driver_version`; the proof is the last line of the frame, around at least one card."""
    reading = Reading(missing=sentence("The log has no complete text of the program."))
    walk = _Walk()
    for line, text in lines:
        _line(walk, reading, text, line)
    reading.facts["devices"] = [{"index": index} | card for index, card in sorted(walk.cards.items())]
    _conclude(walk, reading)
    return reading


def _line(walk: _Walk, reading: Reading, text: str, line: int) -> None:
    if text.startswith("GPU["):
        if match := _CELL.match(text):
            _cell(walk, int(match[1]), match[2], match[3].strip(), line)
        elif text.endswith("Incompatible device."):
            reading.errored("not-every-card", sentence("A device is no AMD card: {text}", text=name(text)), line)
    elif text.startswith("==="):
        if _BEGIN.match(text):
            walk.begins.append(line)
        elif _END.match(text):
            walk.ends.append(line)
    elif text.startswith("Driver version: ") and (match := _DRIVER.match(text)):
        reading.facts["driver_version"] = match[1]
    elif text.startswith("ERROR: GPU[") and (match := _ERROR.match(text)):
        if "not supported" not in match[2].lower():
            reading.warning(
                "driver",
                sentence("The driver reports for GPU {index}: {text}", index=match[1], text=name(match[2])),
                line,
            )
    elif (phrase := first(_PHRASES, text)) is not None:
        tell(reading, phrase, sentence("{meaning}: {text}", meaning=phrase.meaning, text=name(text)), line)


def _cell(walk: _Walk, index: int, label: str, value: str, line: int) -> None:
    if index not in walk.cards and len(walk.cards) == _MOST:
        return
    card = walk.cards.setdefault(index, {})
    fact = _FACTS.get(label)
    if fact is None or value in _UNKNOWN:
        return
    if fact in card:
        walk.twice = walk.twice or line
    known: str | int | None = count(value) if fact.startswith("memory_") else name(value)
    if known is not None:
        card[fact] = known


def _conclude(walk: _Walk, reading: Reading) -> None:
    second = walk.begins[1] if len(walk.begins) > 1 else walk.ends[1] if len(walk.ends) > 1 else walk.twice
    if second is not None:
        reading.errored("mixed-log", sentence("The log contains lines of more than one run."), second)
        return
    if not walk.begins or not walk.ends or walk.begins[0] > walk.ends[0]:
        return
    if not walk.cards:
        reading.failed("no-device", sentence("The program lists no card."), walk.ends[0])
        return
    left = [index for index, card in sorted(walk.cards.items()) if any(fact not in card for fact in _NEEDED)]
    if left:
        names = ", ".join(map(str, left[:16]))
        text = sentence("The driver does not give name and address of GPU {names}.", names=names)
        reading.errored("not-every-card", text, walk.ends[0])
        return
    reading.proof = walk.ends[0]


def _workload(target: Target, values: Values) -> Workload:
    asked = ("--showproductname", "--showuniqueid", "--showbus", "--showdriverversion", "--showmeminfo", "vram")
    return Workload(
        image=str(values["image"]),
        command=("/opt/rocm/bin/rocm-smi",),
        args=asked,
        host_memory=str(values["host_memory"]),
    )


def _demo_values(container: Container) -> dict[str, str]:
    """A line for each card, in the sections of the program."""

    def section(label: str, values: list[str]) -> str:
        return "\n".join(
            f"GPU[{card.place}]\t\t: {label}: {value}" for card, value in zip(container.cards, values, strict=True)
        )

    cards, size = container.cards, container.memory_mib * 2**20
    return {
        "smi_unique": section("Unique ID", [f"0x{_number(card.uuid):016x}" for card in cards]),
        "smi_series": section("Card Series", [f"\t\t{container.gpu}" for _ in cards]),
        "smi_bus": section("PCI Bus", [f"0000:{0x05 + 0x20 * card.index % 0x100:02X}:00.0" for card in cards]),
        "smi_memory": section("VRAM Total Memory (B)", [str(size) for _ in cards]),
    }


def _number(text: str) -> int:
    """A number that stays the same for the same text, as `hash` does not."""
    return int.from_bytes(text.encode()[-8:], "big")


SUITE = Suite(
    id="rocm-smi",
    title="ROCm SMI",
    proves=gettext_noop("The AMD driver responds in a container and lists the card. Nothing runs on the card."),
    level="detected",
    os=("linux",),
    families=with_api("hip", os="linux"),
    parser_version=VERSION,
    options=(image(rocm.DEV), *rocm.options(deadline_s=1800, host_memory="512Mi")),
    read=read,
    pod_security="baseline",
    workload=_workload,
    needs={"linux": Needs()},
    demo=Demo(images=(Image(mark="rocm-smi", seconds=2, size=3_300_000_000),), values=_demo_values),
    proof="============= End of ROCm SMI Log =============",
    source=_SOURCE,
    phrases=(
        *(phrase._replace(example=f"ERROR: {phrase.words}8") for phrase in _PHRASES),
        Phrase(
            "ERROR: GPU[1]",
            "driver",
            "The driver reports an error for a card",
            "warning",
            _SOURCE,
            "ERROR: GPU[1]\t: Unable to read the bus of the device",
        ),
    ),
)
