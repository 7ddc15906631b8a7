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
    Needs,
    Option,
    Reading,
    ReasonWords,
    Suite,
    Target,
    Values,
    Workload,
    gettext_noop,
)
from validations.suites.engine.demo import Container, Past
from validations.suites.engine.figures import name
from validations.suites.engine.options import IMAGE, common, linux
from validations.suites.engine.phrases import first, tell
from validations.suites.engine.placement import with_api
from validations.suites.nvidia_smi import health
from validations.suites.nvidia_smi import text as texts
from validations.suites.shared import tensorworks
from wording.said import sentence

VERSION = 3
_LINUX = "nvcr.io/nvidia/cuda:12.5.0-base-ubuntu22.04"
_QUERY = (
    "index,uuid,name,memory.total,memory.used,pci.bus_id,driver_version,compute_cap,mig.mode.current,compute_mode,"
    "ecc.errors.uncorrected.volatile.total"
)
#: From R610 on the table names kernel-mode driver and CUDA's user-mode driver apart.
_DRIVER = re.compile(r"(?:Driver|KMD) Version: ([\d.]{1,20})")
_CUDA = re.compile(r"CUDA (?:UMD )?Version: ([\d.]{1,12})")


class _Walk:
    """State of one pass: the rows so far, and the CSV header when there was one."""

    def __init__(self) -> None:
        self.devices: list[dict[str, Any]] = []
        self.mig: list[dict[str, Any]] = []
        self.first: int | None = None
        self.columns: list[str] | None = None
        self.told: list[tuple[int, str]] = []
        self.table_open = False


def read(lines: Lines) -> Reading:
    """Facts `devices`, `driver_version`, `cuda_version`; the proof is the row of a card."""
    reading = Reading(missing=sentence("No card in the log."))
    walk = _Walk()
    for line, text in lines:
        if not _refusal(reading, text, line) and not health.look(reading, text, line):
            _line(walk, reading, text, line)
    reading.facts["devices"] = walk.devices[:256]
    if walk.mig:
        reading.facts["mig_devices"] = walk.mig[:256]
    reading.proof = walk.first
    tcc = [device for device in walk.devices if device.get("driver_mode") == "TCC"]
    if tcc:
        reading.warning(
            "tcc-mode",
            sentence("{name} is in TCC mode: CUDA works, DirectX does not.", name=tcc[0]["name"]),
            walk.first,
        )
    return reading


def _refusal(reading: Reading, text: str, line: int) -> bool:
    # Each text that is looked for has one of these.
    if not ("ouldn't" in text or "NVML" in text or "devices" in text or "valid" in text):
        return False
    phrase = first(health.PHRASES, text)
    if phrase is None:
        return False
    whole = phrase.meaning.endswith(".")
    said = phrase.meaning if whole else sentence("{meaning}: {text}", meaning=phrase.meaning, text=name(text))
    tell(reading, phrase, said, line)
    return True


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
            walk.told = [(at, column) for at, column in enumerate(texts.csv_names(text)) if health.told(column)]
        elif walk.columns and (row := texts.csv_row(text, walk.columns)) is not None:
            values = text.split(",") if walk.told else []
            for at, column in walk.told:
                health.csv_cell(reading, column, values[at].strip(), line)
            if "driver_version" in row:
                reading.facts["driver_version"] = row.pop("driver_version")
            _keep(walk, row, line)


def _table(walk: _Walk, reading: Reading, text: str, line: int) -> None:
    if match := _DRIVER.search(text):
        reading.facts["driver_version"] = match[1]
    if match := _CUDA.search(text):
        reading.facts["cuda_version"] = match[1]
    cells = text.split("|")
    if (row := texts.table_row(cells)) is not None:
        _keep(walk, row, line)
        health.ecc(reading, cells, line)
        walk.table_open = True
    elif (slice_name := texts.mig_row(cells)) is not None:
        health.slice_ecc(reading, slice_name, cells, line)
    elif walk.table_open:
        # The second line of the card; where memory is shared with the processor it has no numbers.
        walk.devices[-1].update(texts.memory(text) or {})
        health.mode(reading, cells, line)
        walk.table_open = False


def _keep(walk: _Walk, row: dict[str, Any], line: int) -> None:
    walk.devices.append(row)
    walk.first = walk.first or line


def _workload(target: Target, values: Values) -> Workload:
    given = str(values["image"])
    if target.os == "windows":
        # The plugin mounts the program; the table is the text that has the driver mode.
        return tensorworks.workload(values | {"image": given or tensorworks.SERVER_CORE}, ("nvidia-smi.exe",))
    command = ("nvidia-smi", f"--query-gpu={_QUERY}", "--format=csv")
    return Workload(image=given or _LINUX, command=command, host_memory=str(values["host_memory"]))


def _demo_values(container: Container) -> dict[str, str]:
    """The rows of the CSV answer (Linux) and the memory cell of the table (Windows)."""
    mig = "Disabled" if container.mig_capable else "[N/A]"
    rows = [
        f"{card.place}, {card.uuid}, {container.gpu}, {container.memory_mib} MiB, 4 MiB, "
        f"00000000:{0x1A + 4 * card.index:02X}:00.0, {container.driver}, {container.compute}, {mig}, Default, 0"
        for card in container.cards
    ]
    return {"smi_rows": "\n".join(rows), "smi_memory": f"{f'4MiB / {container.memory_mib}MiB':>20}"}


SUITE = Suite(
    id="nvidia-smi",
    title="nvidia-smi",
    proves=gettext_noop("The driver responds in a container and lists the card. Nothing runs on the card."),
    level="detected",
    os=("linux", "windows"),
    families=with_api("cuda"),
    parser_version=VERSION,
    options=(
        Option(
            name="image",
            help=gettext_noop("Container image. Empty: the NVIDIA CUDA base image on Linux, Server Core on Windows."),
            default="",
            pattern=IMAGE,
        ),
        *linux(gpu_memory_mib=256),
        *common(deadline_s=7200, host_memory="512Mi"),
    ),
    read=read,
    pod_security="restricted",
    workload=_workload,
    needs={"linux": Needs(cuda="12.5"), "windows": tensorworks.NEEDS},
    demo=Demo(
        images=(Image(mark="nvidia-smi", seconds=1.5, size=250_000_000),),
        nodes={"dgx-a100-02": "lost"},
        exits={"lost": 15},
        values=_demo_values,
        past=Past(runs=2),
    ),
    proof="0, GPU-7fdaf0a5-179b-f636-d15d-daf243e3ff16, NVIDIA H100 80GB HBM3, 81559 MiB, 4 MiB, 00000000:04:00.0, …",
    source="nvidia-smi(1)",
    phrases=(*health.READ, *health.PHRASES),
    exits=health.EXITS,
    reasons=(
        ReasonWords(
            "ecc-errors",
            gettext_noop("uncorrectable ECC errors"),
            "Run a suite that checks its results on the card, then reset the card. Replace it if the errors recur.",
            points_to="card",
        ),
        ReasonWords(
            "inforom",
            gettext_noop("corrupted infoROM"),
            "Contact the vendor for a replacement. Until then, serial number and ECC counts are unreliable.",
            points_to="card",
        ),
        ReasonWords(
            "tcc-mode",
            gettext_noop("the card is in TCC mode"),
            "CUDA: no action. DirectX: set the driver model of the card to WDDM or MCDM.",
            points_to="configuration",
        ),
    ),
)
