"""A result beside the floors of its measurements: below one of them a pass is a failure that names the floor and its source. Pure.

Where no floor holds nothing fails, and a floor that is kept proves nothing by itself: no level comes of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from validations.floors import Floor, floor_for
from validations.floors.table import UNITS
from validations.suites.engine.base import Reason, Result
from wording.said import sentence


def floors_of(result: Result, model: str, machine: str, table: Iterable[Floor]) -> dict[str, Floor]:
    """Measurement → its floor. Cards and message size are those of the log: facts `ranks` and `largest_message_bytes`."""
    rows = tuple(table)
    cards, message = (_whole(result.facts.get(name)) for name in ("ranks", "largest_message_bytes"))
    found = {
        name: floor_for(result.suite, name, model, cards=cards, message=message, machine=machine, table=rows)
        for name, one in result.measurements.items()
        if has_floor(one.unit)
    }
    return {name: floor for name, floor in found.items() if floor and floor.unit == result.measurements[name].unit}


def has_floor(unit: str) -> bool:
    """Whether more is better: only then there can be a least value."""
    return unit in UNITS


def with_floors(result: Result, floors: Mapping[str, Floor]) -> Result:
    """A pass that is below a floor is a failure."""
    low = [(name, floor) for name, floor in floors.items() if result.measurements[name].value < floor.least]
    if result.verdict not in ("passed", "warning") or not low:
        return result
    reasons = [Reason("below-floor", _text(name, result.measurements[name].value, floor)) for name, floor in low]
    return msgspec.structs.replace(result, verdict="failed", reasons=[*reasons, *result.reasons])


def source_of(floor: Floor) -> str:
    """ "Azure ND H100 v5: azurehpc-health-checks 0e0a1ac conf nd96isr_h100_v5, 2026-05"."""
    return f"{floor.measured_on}: {floor.source}, {floor.date}"


def _text(name: str, value: float, floor: Floor) -> str:
    return sentence(
        "{name} is {value} {unit}, below the floor of {least} {unit} ({source}).",
        name=name,
        value=f"{value:g}",
        unit=floor.unit,
        least=f"{floor.least:g}",
        source=source_of(floor),
    )


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
