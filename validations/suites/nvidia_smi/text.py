"""The three texts of nvidia-smi as device rows: the table, `-L`, and `--query-gpu … --format=csv`.

The vendor keeps none of them stable, so labels and separators are read, never columns. Rows are plain dictionaries for facts:
index, name, uuid, pci_bus_id, memory_total_bytes, memory_used_bytes, driver_mode.
"""

from __future__ import annotations

import re
from typing import Any

from validations.suites.engine.figures import count, name

_LISTED = re.compile(r"GPU (\d{1,4}): (.{1,200}?) \(UUID: (GPU-[0-9a-fA-F-]{1,64})\)\s*\Z")
_MIG = re.compile(r"\s{1,10}MIG (\S{1,40})\s{1,20}Device\s{1,10}(\d{1,4}): \(UUID: (MIG-[0-9A-Za-z/-]{1,100})\)\s*\Z")
_BUS = re.compile(r"[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f]")
_USAGE = re.compile(r"(\d{1,9})MiB\s{0,4}/\s{0,4}(\d{1,9})MiB")
#: Persistence of a card of Linux, where one of Windows has its driver mode: WDDM, TCC, MCDM, or one that is newer.
_PERSISTENCE = frozenset({"On", "Off", "N/A"})
_MIB = 2**20
#: CSV column → fact; memory columns are in MiB.
_CSV = {
    "index": "index",
    "uuid": "uuid",
    "name": "name",
    "memory.total": "memory_total_bytes",
    "memory.used": "memory_used_bytes",
    "pci.bus_id": "pci_bus_id",
    "driver_version": "driver_version",
    "compute_cap": "compute_capability",
    "mig.mode.current": "mig_mode",
    "compute_mode": "compute_mode",
    "driver_model.current": "driver_mode",
}


def table_row(cells: list[str]) -> dict[str, Any] | None:
    """`|   0  Tesla T4   On   | 00000000:00:1E.0 Off |   0 |`, split at the bars; None for any other line."""
    if len(cells) < 4:
        return None
    left, middle = cells[1].split(), cells[2].split()
    if len(left) < 3 or not middle or not _BUS.fullmatch(middle[0]):
        return None
    index = count(left[0])
    if index is None:
        return None
    row: dict[str, Any] = {"index": index, "name": name(" ".join(left[1:-1])), "pci_bus_id": middle[0]}
    return row | ({"driver_mode": name(left[-1])} if left[-1] not in _PERSISTENCE else {})


def mig_row(cells: list[str]) -> str | None:
    """Which slice a row of the MIG table is of: `|  0    9   0   0  | 12MiB / 9728MiB | 14     12 | …`; None for any other line."""
    numbers = cells[1].split() if len(cells) > 3 else []
    if len(numbers) != 4 or any(count(number) is None for number in numbers) or not _USAGE.search(cells[2]):
        return None
    return "GPU {} GI {} CI {}".format(*numbers)


def memory(text: str) -> dict[str, int] | None:
    """The memory cell of the line below a table row, in bytes."""
    match = _USAGE.search(text)
    if match is None:
        return None
    return {"memory_used_bytes": int(match[1]) * _MIB, "memory_total_bytes": int(match[2]) * _MIB}


def listed(text: str) -> dict[str, Any] | None:
    """A GPU line of `nvidia-smi -L`."""
    match = _LISTED.match(text)
    return {"index": int(match[1]), "name": name(match[2]), "uuid": match[3]} if match else None


def mig(text: str) -> dict[str, Any] | None:
    """A MIG line of `nvidia-smi -L`."""
    match = _MIG.match(text)
    return {"profile": match[1], "index": int(match[2]), "uuid": match[3]} if match else None


def csv_names(text: str) -> list[str]:
    """The columns of a header as they were asked for, without their units."""
    return [word.split("[")[0].strip() for word in text.split(",")]


def csv_columns(text: str) -> list[str] | None:
    """The header of a CSV answer as fact names ("" for columns that are not kept)."""
    words = csv_names(text)
    known = [_CSV.get(word, "") for word in words]
    return known if len(words) > 1 and {"index", "uuid", "name"} & set(words) and sum(map(bool, known)) > 1 else None


def csv_row(text: str, columns: list[str]) -> dict[str, Any] | None:
    """A row under `columns`; values that are not available are left out. None when it is no row of them."""
    words = [word.strip() for word in text.split(",")]
    if len(words) != len(columns):
        return None
    row: dict[str, Any] = {}
    for column, word in zip(columns, words, strict=True):
        value = _csv_value(column, word)
        if value is not None:
            row[column] = value
    return row if row.get("name") or str(row.get("uuid", "")).startswith(("GPU-", "MIG-")) else None


def _csv_value(column: str, word: str) -> str | int | None:
    if not column or word.startswith("["):
        return None
    if column == "index":
        return count(word)
    if column.startswith("memory_"):
        mib = count(word.removesuffix(" MiB"))
        return mib * _MIB if mib is not None else None
    return name(word) or None
