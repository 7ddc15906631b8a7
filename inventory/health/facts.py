"""Which fact a report of health states: the same for all sources of one fact, however each of them words it. Pure.

Sources share codes: the number of an Xid error, and DCGM's own error codes, which dcgm-exporter and NVSentinel both repeat. A report
without them is of the class of its own code. Source of DCGM's codes: NVIDIA/DCGM at 72fa3fe (dcgmlib/dcgm_errors.h).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from exporters import conditions, xid
from inventory.health import of_plugins, signs
from inventory.health.of_conditions import UNKNOWN_TELLER
from stacks.engine.base import DEGRADED, ERROR, INFO, UNHEALTHY, WARNING, HealthReport
from stacks.engine.health_reports import REGISTER_UNHEALTHY

#: Code of a report, or one that its source repeats → code of the finding.
_CLASSES = {
    signs.ECC: "ecc-uncorrected",
    "DCGM_FR_VOLATILE_DBE_DETECTED": "ecc-uncorrected",
    signs.RETIRED: "row-remap-failed",
    signs.REMAP_FAILED: "row-remap-failed",
    signs.SRAM: "row-remap-failed",
    "DCGM_FR_RETIRED_PAGES_LIMIT": "row-remap-failed",
    "DCGM_FR_RETIRED_PAGES_DBE_LIMIT": "row-remap-failed",
    "DCGM_FR_ROW_REMAP_FAILURE": "row-remap-failed",
    signs.RETIRED_PENDING: "row-remap-pending",
    signs.REMAP_PENDING: "row-remap-pending",
    "DCGM_FR_PENDING_PAGE_RETIREMENTS": "row-remap-pending",
    "DCGM_FR_PENDING_ROW_REMAP": "row-remap-pending",
    signs.RECOVERY: "recovery-asked",
    signs.HOT: "card-hot",
    "throttled-heat": "card-hot",
    "GpuThermalWatch": "card-hot",
    "GpuThermalMarginWatch": "card-hot",
    "DCGM_FR_CLOCK_THROTTLE_THERMAL": "card-hot",
    "DCGM_FR_CLOCKS_EVENT_THERMAL": "card-hot",
    "DCGM_FR_TEMP_VIOLATION": "card-hot",
    "throttled-power": "card-throttled",
    "throttled-hardware": "card-throttled",
    "DCGM_FR_CLOCK_THROTTLE_POWER": "card-throttled",
    "DCGM_FR_CLOCKS_EVENT_POWER": "card-throttled",
    "watch-fail": "exporter-check",
    "watch-warn": "exporter-check",
    REGISTER_UNHEALTHY: "card-unhealthy",
}
#: DCGM's codes for what the driver reports as an Xid error.
_XIDS = {"DCGM_FR_FALLEN_OFF_BUS": 79}
_TELLERS = frozenset((*conditions.TELLERS, UNKNOWN_TELLER)) - {""}


def fact_of(told: HealthReport) -> tuple[str, str] | None:
    """(code of the finding, severity); None for what is no finding: what stacks have findings of already is left out."""
    bad = {UNHEALTHY: ERROR, DEGRADED: WARNING}.get(told.level)
    condition = told.source in _TELLERS
    if condition and bad is None:
        return None
    if xids := xids_of(told):
        return _of_xids(xids, bad)
    if told.code == "watch-unknown":
        return "exporter-value-unknown", INFO
    if bad is None or told.code in (of_plugins.WITHHELD, of_plugins.NOTHING_GIVEN):
        return None
    named = (_CLASSES[code] for code in (*told.codes, told.code) if code in _CLASSES)
    code = next(named, "node-condition" if condition else None)
    return (code, bad) if code is not None else None


def xids_of(told: HealthReport) -> set[int]:
    """The Xid errors that a report repeats."""
    numbers = {int(code.removeprefix("xid-")) for code in told.codes if code.startswith("xid-")}
    return numbers | {_XIDS[code] for code in told.codes if code in _XIDS}


def _of_xids(numbers: Iterable[int], bad: str | None) -> tuple[str, str] | None:
    known = [xid.xid(number) for number in numbers]
    if bad is not None and any(one.hits_card for one in known):
        return "xid-hardware", bad
    if not all(one.known for one in known):
        return "xid-unknown", bad or INFO
    if all(one.severity == xid.PROCESS or one.cause == xid.APPLICATION for one in known):
        return "xid-application", bad or INFO
    return ("xid-hardware", bad) if bad is not None else None


def of_cards(
    cards: Mapping[str, Sequence[HealthReport]], node: Iterable[HealthReport]
) -> tuple[dict[str, list[HealthReport]], list[HealthReport]]:
    """(reports by card, reports of the node), where an Xid error that a condition reports without its card goes to the cards that
    report it themselves. One that none of them reports stays with the node.
    """
    told = {key: list(own) for key, own in cards.items()}
    xids = {key: {number for one in own for number in xids_of(one)} for key, own in told.items()}
    left = []
    for one in node:
        named = xids_of(one) if fact_of(one) is not None else set()
        owners = [key for key in told if xids[key] & named]
        if named and named <= {number for key in owners for number in xids[key]}:
            for key in owners:
                told[key].append(one)
        else:
            left.append(one)
    return told, left
