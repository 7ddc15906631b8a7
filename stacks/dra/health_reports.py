"""What taints and attributes of devices and conditions of claims say of a card's health.

A taint with the effect None is information only: NVIDIA's driver puts one for Xid errors that it ignores, and where it does not
look. What a condition of a claim's device means is the driver's own, so only those are read whose type says it. Attributes say how a
device is where a driver puts no taint: Intel's driver for Gaudi has `healthy`, that for GPUs `health`. Sources: KEP-5055
(DeviceTaints), KEP-4817 (ResourceClaim device status), NVIDIA/dra-driver-nvidia-gpu at 9593204 (NVMLDeviceHealthCheck),
intel/intel-resource-drivers-for-kubernetes 1da939f (node_state.go of both plugins).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from kube.claims import DeviceTaint
from kube.objects import Condition
from stacks.engine.base import DEGRADED, HEALTH_UNKNOWN, HEALTHY, UNHEALTHY, Card, HealthReport
from wording.said import gettext_noop

if TYPE_CHECKING:
    from stacks.dra.cards import Cards
    from stacks.dra.holders import Held

TAINTED, TAINT_NOTE, TAINT_POSSIBLE = "device-tainted", "device-taint-note", "device-taint-possible"
CLAIM_HEALTHY, CLAIM_UNHEALTHY, CLAIM_NOTE = "claim-device-healthy", "claim-device-unhealthy", "claim-device-note"
ATTRIBUTE_HEALTHY, ATTRIBUTE_UNHEALTHY = "device-attribute-healthy", "device-attribute-unhealthy"
ATTRIBUTE_NOTE = "device-attribute-note"
SAYS = {
    TAINTED: gettext_noop("The device is tainted: new claims do not get it"),
    TAINT_NOTE: gettext_noop("The device has an informational taint"),
    TAINT_POSSIBLE: gettext_noop("A DeviceTaintRule may taint the device: gpudash does not evaluate its expression"),
    CLAIM_HEALTHY: gettext_noop("The driver reports the device of the claim as healthy"),
    CLAIM_UNHEALTHY: gettext_noop("The driver reports the device of the claim as not ready or unhealthy"),
    CLAIM_NOTE: gettext_noop("The driver reports an unknown condition of the device of the claim"),
    ATTRIBUTE_HEALTHY: gettext_noop("An attribute of the device reports healthy"),
    ATTRIBUTE_UNHEALTHY: gettext_noop("An attribute of the device reports unhealthy"),
    ATTRIBUTE_NOTE: gettext_noop("An attribute of the device reports an unknown health value"),
}
#: Types whose name says what they mean. That a device is ready says that it was prepared, not that it is well.
_HEALTH_TYPES, _READY_TYPES = frozenset(("Healthy", "DeviceHealthy")), frozenset(("Ready", "DeviceReady"))
#: Attributes that say how a device is, without the domain of the driver.
HEALTH_ATTRIBUTES = ("health", "healthy", "healthStatus")
#: What texts of them mean. That a truth value is true says nothing: it is the same where the driver does not look.
_HEALTHS = {"healthy": HEALTHY, "unhealthy": UNHEALTHY}
_SILENT = ("", "unknown")
#: Most of one device; the API admits fewer.
MOST, _TEXT = 16, 200
#: Effects with which new claims do not get a device.
KEEPS_OFF = frozenset(("NoSchedule", "NoExecute"))
#: Who says it, where a DeviceTaintRule does.
RULE = "device-taint-rule"


def of_taints(taints: Iterable[DeviceTaint], driver: str) -> tuple[HealthReport, ...]:
    """Each taint, with when it was put."""
    return tuple(_of_taint(taint, driver[:_TEXT], "") for taint in list(taints)[:MOST])


def of_attributes(attributes: Mapping[str, object], driver: str) -> tuple[HealthReport, ...]:
    """What a device's attributes say of its health. A text of another meaning is told as it is written."""
    found = ((name, attributes[name]) for name in HEALTH_ATTRIBUTES if name in attributes)
    return tuple(
        _of_attribute(name, value, driver[:_TEXT])
        for name, value in found
        if value not in (None, True) and str(value).strip().lower() not in _SILENT
    )


def _of_attribute(name: str, value: object, driver: str) -> HealthReport:
    level = UNHEALTHY if value is False else _HEALTHS.get(str(value).strip().lower(), HEALTH_UNKNOWN)
    code = {HEALTHY: ATTRIBUTE_HEALTHY, UNHEALTHY: ATTRIBUTE_UNHEALTHY}.get(level, ATTRIBUTE_NOTE)
    written = "false" if value is False else str(value)
    return HealthReport(
        source=driver,
        level=level,
        code=code,
        says=SAYS[code],
        text=f"{name}={written}"[:_TEXT],
        action="check-driver" if level == UNHEALTHY else "",
    )


def of_rule(taint: DeviceTaint, rule: str, sure: bool) -> HealthReport:
    """The taint that a rule puts on a device. sure: whether the rule surely means it."""
    return _of_taint(taint, RULE, f"{rule[:_TEXT]}: ", TAINT_POSSIBLE if not sure else "")


def _of_taint(taint: DeviceTaint, source: str, before: str, code: str = "") -> HealthReport:
    keeps_off = taint.effect in KEEPS_OFF and not code
    code = code or (TAINTED if keeps_off else TAINT_NOTE)
    value = f"={taint.value}" if taint.value else ""
    return HealthReport(
        source=source,
        level=UNHEALTHY if keeps_off else HEALTH_UNKNOWN,
        code=code,
        says=SAYS[code],
        text=f"{before}{taint.key}{value}:{taint.effect}"[:_TEXT],
        since=seconds(taint.timeAdded),
        action="read-taint" if keeps_off else "",
    )


def with_conditions(cards: Cards, held: Iterable[Held]) -> Cards:
    """The same cards with what the status of claims says of their devices."""
    found = dict(cards.cards)
    for item in held:
        key = cards.on.get(item.key)
        status = item.claim.status
        for device in (status.devices if status else None) or ():
            if key in found and (device.driver, device.pool, device.device) == item.key:
                said = tuple(_of_condition(one, device.driver) for one in (device.conditions or [])[:MOST])
                found[key] = _with(found[key], said)
    return cards._replace(cards=found)


def _with(card: Card, said: tuple[HealthReport, ...]) -> Card:
    told = tuple(dict.fromkeys((*card.told, *said)))
    if not said or told == card.told:
        return card
    return msgspec.structs.replace(card, told=told)


def _of_condition(condition: Condition, driver: str) -> HealthReport:
    level, code = HEALTH_UNKNOWN, CLAIM_NOTE
    if condition.type in _HEALTH_TYPES and condition.status == "True":
        level, code = HEALTHY, CLAIM_HEALTHY
    elif condition.type in (_HEALTH_TYPES | _READY_TYPES) and condition.status == "False":
        level, code = UNHEALTHY if condition.type in _HEALTH_TYPES else DEGRADED, CLAIM_UNHEALTHY
    said = ": ".join(part for part in (condition.reason, condition.message) if part)
    return HealthReport(
        source=driver[:_TEXT],
        level=level,
        code=code,
        says=SAYS[code],
        text=f"{condition.type}={condition.status} {said}".strip()[:_TEXT],
        since=seconds(condition.lastTransitionTime),
        action="check-driver" if code == CLAIM_UNHEALTHY else "",
    )


def seconds(stamp: str | None) -> float | None:
    """Unix seconds of a time as the API writes it; None where it is none."""
    if not stamp or len(stamp) > 40:
        return None
    try:
        moment = datetime.fromisoformat(stamp)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
