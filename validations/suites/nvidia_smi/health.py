"""What nvidia-smi says of a card besides its name: that it is lost, wants a reset, was wrong about its memory, or takes no programs.

The program prints such things in the cells of one card and goes on with the next, often with exit code 0. Its own exit codes are
those of its manual page.
"""

from __future__ import annotations

import re

from validations.suites.engine.exits import Code
from validations.suites.engine.figures import count, name
from validations.suites.engine.phrases import Phrase
from validations.suites.engine.verdict import Reading
from wording.said import sentence

_SOURCE = "nvidia-smi, NVML `nvmlErrorString`"
_MANUAL = "nvidia-smi(1), return values"
_LOST = re.compile(
    r"GPU is lost|GPU has fallen off the bus|Unable to determine the device handle for (?:gpu|GPU)"
    r"|GPU requires reset|\[Unknown Error\]|Reset Required\s{0,40}: Yes"
)
_ROM = re.compile(r"(?:WARNING|Warning): {1,2}.{0,80}\b(?P<what>infoROM|InfoROM|ECC)\b")
#: Cells of the table that say that the driver could not read the card.
_CELLS = ("ERR!", "Unknown Error", "Requires Reset", "Reset Required")
#: Columns of a CSV answer, as asked for, where anything above zero or "Yes" deserves a look.
_COUNTED = re.compile(
    r"ecc\.errors\.uncorrected\.(?:volatile|aggregate)\.[a-z0-9_.]{1,40}|remapped_rows\.(?:failure|pending|uncorrectable)"
    r"|retired_pages\.(?:pending|multiple_single_bit_ecc\.count|double_bit\.count|sbe|dbe)"
)
#: How many programs may use the card; what is not one of these is told as it is written.
_COMPUTE_MODES = frozenset(("Default", "Exclusive_Thread", "Exclusive_Process", "Prohibited", "N/A"))
_ASKED = frozenset(("reset_status.reset_required", "reset_status.drain_and_reset_recommended"))
_QUIET = frozenset(("", "0", "no", "none"))

#: Number → what the manual page says of it.
EXITS = {
    2: Code("", "errored", "bad-arguments", sentence("an argument is invalid")),
    3: Code("", "errored", "exit-code", sentence("the operation is not available on the card")),
    4: Code("", "errored", "exit-code", sentence("the user has no permission")),
    8: Code("", "failed", "driver", sentence("power cables of a card not attached")),
    9: Code("", "failed", "driver", sentence("driver not loaded")),
    10: Code("", "failed", "driver", sentence("the kernel detected an interrupt problem of a card")),
    12: Code("", "failed", "driver-missing", sentence("driver library not found")),
    14: Code("", "warning", "inforom", sentence("corrupted infoROM")),
    15: Code("", "failed", "device-removed", sentence("a card has fallen off the bus")),
}
_ROW = (
    "|   1  NVIDIA H100 80GB HBM3          On  |   00000000:05:00.0 Off |                  {ecc} |\n"
    "| N/A   34C    P0             70W /  700W |       4MiB /  81559MiB |      0%      {mode} |"
)
PHRASES = (
    Phrase(
        "No devices were found", "no-device", sentence("The driver finds no device in this container."), source=_SOURCE
    ),
    Phrase(
        "couldn't communicate with the NVIDIA driver",
        "driver",
        sentence("nvidia-smi could not reach the driver."),
        source=_SOURCE,
    ),
    Phrase("Failed to initialize NVML", "driver", sentence("The driver library did not start"), source=_SOURCE),
    Phrase(
        "couldn't find libnvidia-ml.so",
        "driver-missing",
        sentence("No driver library in the container."),
        source=_SOURCE,
    ),
    Phrase("couldn't find nvml.dll", "driver-missing", sentence("No driver library in the container."), source=_SOURCE),
    Phrase(
        "is not a valid field to query",
        "bad-arguments",
        sentence("The driver does not support a field"),
        "errored",
        _SOURCE,
    ),
    Phrase(
        "Invalid combination of input arguments",
        "bad-arguments",
        sentence("Invalid arguments"),
        "errored",
        _SOURCE,
    ),
)
#: What is not looked up by its words: for the docs.
READ = (
    Phrase("GPU is lost", "device-removed", sentence("The card has fallen off the bus"), source=_SOURCE),
    Phrase("GPU has fallen off the bus", "device-removed", sentence("The card has fallen off the bus"), source=_SOURCE),
    Phrase(
        "Unable to determine the device handle for GPU 0000:65:00.0: Unknown Error",
        "device-removed",
        sentence("The driver cannot open the card"),
        source=_SOURCE,
    ),
    Phrase("[GPU requires reset]", "device-removed", sentence("The card needs a reset"), source=_SOURCE),
    Phrase("[Unknown Error]", "device-removed", sentence("The driver cannot read the card"), source=_SOURCE),
    Phrase(
        "ERR! in a cell of the table",
        "device-removed",
        "The driver cannot read the card",
        source=_SOURCE,
        example="|ERR!   34C    P0             70W /  700W |       4MiB /  81559MiB |      0%      Default |",
    ),
    Phrase(
        "WARNING: infoROM is corrupted at gpu 0000:B3:00.0",
        "inforom",
        "The card works. Its serial number and ECC counts are unreliable",
        "warning",
        _SOURCE,
    ),
    Phrase(
        "a number above 0 under Volatile Uncorr. ECC",
        "ecc-errors",
        "Uncorrectable ECC errors since the driver was loaded",
        "warning",
        _SOURCE,
        _ROW.format(ecc=2, mode="Default"),
    ),
    Phrase(
        "a number above 0 under Vol Unc ECC of a MIG slice",
        "ecc-errors",
        "Uncorrectable ECC errors of the slice since the driver was loaded",
        "warning",
        _SOURCE,
        _ROW.format(ecc="On", mode="Default")
        + "\n|  1    9   0   0  |              12MiB /  9728MiB    | 14      2 |  1   0    0    0    0 |",
    ),
    Phrase(
        "Prohibited under Compute M.",
        "compute-mode",
        "No program can use the card",
        "warning",
        _SOURCE,
        _ROW.format(ecc=0, mode="Prohibited"),
    ),
)


def look(reading: Reading, text: str, line: int) -> bool:
    """Write what a line says of a card's state into the reading. Whether it says that no more of the card is to be read."""
    # Each text that is looked for has one of these; most lines have none.
    if "GPU " in text or "rror" in text or "Reset" in text or "nfoROM" in text or "ECC" in text:
        if _LOST.search(text):
            reading.failed("device-removed", name(text), line)
            return text[:1] not in ("|", "G") and "," not in text
        if (match := _ROM.match(text)) is not None:
            reading.warning("ecc-errors" if match["what"] == "ECC" else "inforom", name(text), line)
            return True
    if (
        text[:1] == "|"
        and ("ERR!" in text or "rror" in text or "eset" in text)
        and any(words in text for words in _CELLS)
    ):
        reading.failed(
            "device-removed",
            sentence("The driver cannot read a card: {names}", names=name(" ".join(text.split()))),
            line,
        )
    return False


def ecc(reading: Reading, cells: list[str], line: int) -> None:
    """The first line of a card in the table: its last cell counts the memory errors that could not be corrected."""
    errors = count(cells[3].strip()) if len(cells) > 3 else None
    if errors:
        reading.warning("ecc-errors", sentence("{errors} uncorrectable ECC errors.", errors=errors), line)


def slice_ecc(reading: Reading, slice_name: str, cells: list[str], line: int) -> None:
    """A row of the MIG table: multiprocessors, then the memory errors of the slice that could not be corrected."""
    words = cells[3].split()
    errors = count(words[-1]) if len(words) > 1 else None
    if errors:
        reading.warning(
            "ecc-errors",
            sentence(
                "{errors} uncorrectable ECC errors on MIG slice {slice_name}.",
                errors=errors,
                slice_name=slice_name,
            ),
            line,
        )


def mode(reading: Reading, cells: list[str], line: int) -> None:
    """The second line of a card in the table: the compute mode ends its last cell."""
    if len(cells) > 3 and cells[3].split()[-1:] == ["Prohibited"]:
        _prohibited(reading, line)


def told(column: str) -> bool:
    """Whether a column of a CSV answer says something of the card's state."""
    return column in ("compute_mode", "gpu_recovery_action", *_ASKED) or bool(_COUNTED.fullmatch(column))


def csv_cell(reading: Reading, column: str, value: str, line: int) -> None:
    """A cell of a CSV answer. column: its name as it was asked for."""
    if value[:1] == "[":
        return
    if column == "compute_mode" and value == "Prohibited":
        _prohibited(reading, line)
    elif column == "compute_mode" and value and value not in _COMPUTE_MODES:
        reading.warning("compute-mode", sentence("Unknown compute mode: “{value}”.", value=name(value)), line)
    elif column == "reset_status.reset_required" and value == "Yes":
        reading.failed("device-removed", sentence("The card needs a reset."), line)
    elif column == "gpu_recovery_action" and value.lower() not in (*_QUIET, "n/a"):
        reading.failed("device-removed", sentence("The driver requests recovery: {value}.", value=name(value)), line)
    elif column in _ASKED and value.lower() not in (*_QUIET, "n/a"):
        reading.warning("driver", sentence("{column} is {value}.", column=column, value=name(value)), line)
    elif _COUNTED.fullmatch(column) and value.lower() not in (*_QUIET, "n/a"):
        reading.warning("ecc-errors", sentence("{column} is {value}.", column=column, value=name(value)), line)


def _prohibited(reading: Reading, line: int) -> None:
    reading.warning("compute-mode", sentence("The compute mode of a card is Prohibited: no program can use it."), line)
