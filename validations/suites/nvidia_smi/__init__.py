"""nvidia-smi on Linux and Windows: the driver answers from inside a container and names its cards. Nothing is run on them.

On Windows the driver mode matters: a card in TCC mode has no DirectX.
"""

from __future__ import annotations

import re
from typing import Any

from validations.suites.engine.base import (
    Demo,
    Image,
    Lines,
    Option,
    Reading,
    ReasonWords,
    Suite,
    Target,
    Values,
    Workload,
    gettext_noop,
)
from validations.suites.engine.demo import Container
from validations.suites.engine.figures import name
from validations.suites.engine.options import IMAGE, common, linux
from validations.suites.engine.phrases import Phrase
from validations.suites.engine.placement import with_api
from validations.suites.nvidia_smi import text as texts
from validations.suites.shared import tensorworks

VERSION = 1
_LINUX = "nvcr.io/nvidia/cuda:12.5.0-base-ubuntu22.04"
_QUERY = "index,uuid,name,memory.total,memory.used,pci.bus_id,driver_version,compute_cap,mig.mode.current"
_DRIVER = re.compile(r"Driver Version: ([\d.]{1,20})")
_CUDA = re.compile(r"CUDA Version: ([\d.]{1,12})")
_LOST = re.compile(r"GPU is lost|GPU has fallen off the bus|Unable to determine the device handle for (?:gpu|GPU)")
#: All are a "no" of the driver or the card.
_REFUSED = (
    Phrase("No devices were found", "no-device", "The driver has no device for this container."),
    Phrase("couldn't communicate with the NVIDIA driver", "driver", "nvidia-smi could not talk to the driver."),
    Phrase("Failed to initialize NVML", "driver", "The driver library could not be started"),
    Phrase("couldn't find libnvidia-ml.so", "driver-missing", "No driver library is in the container."),
)


class _Walk:
    """State of one pass: the rows so far, and the CSV header when there was one."""

    def __init__(self) -> None:
        self.devices: list[dict[str, Any]] = []
        self.mig: list[dict[str, Any]] = []
        self.first: int | None = None
        self.columns: list[str] | None = None
        self.table_open = False


def read(lines: Lines) -> Reading:
    """Facts `devices`, `driver_version`, `cuda_version`; the proof is the row of a card."""
    reading = Reading(missing="The log has no row of a card.")
    walk = _Walk()
    for line, text in lines:
        if not _refusal(reading, text, line):
            _line(walk, reading, text, line)
    reading.facts["devices"] = walk.devices[:256]
    if walk.mig:
        reading.facts["mig_devices"] = walk.mig[:256]
    reading.proof = walk.first
    tcc = [device for device in walk.devices if device.get("driver_mode") == "TCC"]
    if tcc:
        reading.warning("tcc-mode", f"{tcc[0]['name']} is in TCC mode: CUDA works, DirectX does not.", walk.first)
    return reading


def _refusal(reading: Reading, text: str, line: int) -> bool:
    if _LOST.search(text):
        reading.failed("device-removed", name(text), line)
        return True
    for phrase in _REFUSED:
        if phrase.words in text:
            more = "." if phrase.meaning.endswith(".") else f": {name(text)}"
            reading.failed(phrase.code, phrase.meaning.removesuffix(".") + more, line)
            return True
    return False


def _line(walk: _Walk, reading: Reading, text: str, line: int) -> None:
    if text.startswith("|"):
        _table(walk, reading, text, line)
    elif (row := texts.listed(text)) is not None:
        _keep(walk, row, line)
    elif text.startswith(" ") and (row := texts.mig(text)) is not None:
        walk.mig.append(row)
    elif "," in text:
        columns = texts.csv_columns(text)
        if columns is not None:
            walk.columns = columns
        elif walk.columns and (row := texts.csv_row(text, walk.columns)) is not None:
            if "driver_version" in row:
                reading.facts["driver_version"] = row.pop("driver_version")
            _keep(walk, row, line)


def _table(walk: _Walk, reading: Reading, text: str, line: int) -> None:
    if match := _DRIVER.search(text):
        reading.facts["driver_version"] = match[1]
    if match := _CUDA.search(text):
        reading.facts["cuda_version"] = match[1]
    if (row := texts.table_row(text)) is not None:
        _keep(walk, row, line)
        walk.table_open = True
    elif walk.table_open and (usage := texts.memory(text)) is not None:
        walk.devices[-1].update(usage)
        walk.table_open = False
    if "ERR!" in text:
        reading.failed("device-removed", "The driver reads ERR! from a card.", line)


def _keep(walk: _Walk, row: dict[str, Any], line: int) -> None:
    walk.devices.append(row)
    walk.first = walk.first or line


def _workload(target: Target, values: Values) -> Workload:
    given = str(values["image"])
    if target.os == "windows":
        # The plugin mounts the program; the table is the text that has the driver mode.
        default = tensorworks.SERVER_CORE
        return tensorworks.workload(default, values | {"image": given or default}, ("nvidia-smi.exe",))
    command = ("nvidia-smi", f"--query-gpu={_QUERY}", "--format=csv")
    return Workload(image=given or _LINUX, command=command, host_memory=str(values["host_memory"]))


def _demo_values(container: Container) -> dict[str, str]:
    """The rows of the CSV answer (Linux) and the memory cell of the table (Windows)."""
    mig = "Disabled" if container.mig_capable else "[N/A]"
    rows = [
        f"{card.place}, {card.uuid}, {container.gpu}, {container.memory_mib} MiB, 4 MiB, "
        f"00000000:{0x1A + 4 * card.index:02X}:00.0, {container.driver}, {container.compute}, {mig}"
        for card in container.cards
    ]
    return {"smi_rows": "\n".join(rows), "smi_memory": f"{f'4MiB / {container.memory_mib}MiB':>20}"}


SUITE = Suite(
    id="nvidia-smi",
    title="nvidia-smi",
    proves=gettext_noop("The driver answers from inside a container and names the card; nothing is run on it."),
    level="seen",
    os=("linux", "windows"),
    families=with_api("cuda"),
    parser_version=VERSION,
    options=(
        Option(
            name="image",
            help=gettext_noop("Container image; empty: NVIDIA's CUDA base on Linux, Server Core on Windows."),
            default="",
            pattern=IMAGE,
        ),
        *linux(gpu_memory_mib=256),
        *common(deadline_s=7200, host_memory="512Mi"),
    ),
    read=read,
    workload=_workload,
    demo=Demo(
        images=(Image(mark="nvidia-smi", seconds=1.5, size=250_000_000),),
        nodes={"dgx-a100-02": "lost"},
        exits={"lost": 15},
        values=_demo_values,
    ),
    reasons=(
        ReasonWords(
            "tcc-mode",
            gettext_noop("the card is in TCC mode"),
            "Nothing for CUDA. For DirectX, set the driver model of the card to WDDM or MCDM.",
        ),
    ),
)
