"""What stacks, device plugins and the kubelet say of a card's health, as statements. Must not know any stack by name.

A plugin reports each of its devices as healthy or not; the node's capacity counts all of them, its allocatable the healthy ones.
Source: the kubelet's device manager, KEP-4680 (ResourceHealthStatus).
"""

from __future__ import annotations

from stacks.engine.base import HEALTH_UNKNOWN, HEALTHY, UNHEALTHY, HealthReport
from wording.said import gettext_noop

KUBELET, PLUGIN = "kubelet", "device-plugin"
DEVICE_HEALTHY, DEVICE_UNHEALTHY, ALL_GIVEN_OUT = "device-healthy", "device-unhealthy", "all-given-out"
REGISTER_HEALTHY, REGISTER_UNHEALTHY = "register-healthy", "register-unhealthy"
#: Code → what it says.
SAYS = {
    DEVICE_HEALTHY: gettext_noop("The kubelet reports the allocated device as healthy"),
    DEVICE_UNHEALTHY: gettext_noop("The kubelet reports the allocated device as unhealthy"),
    ALL_GIVEN_OUT: gettext_noop("The device plugin reports no unhealthy device: all of the capacity is allocatable"),
    REGISTER_HEALTHY: gettext_noop("The record of the stack on the node marks the card as healthy"),
    REGISTER_UNHEALTHY: gettext_noop("The record of the stack on the node marks the card as unhealthy"),
}
CHECK = "check-plugin-log"


def of_device(health: str, resource: str, all_given_out: bool = False) -> tuple[HealthReport, ...]:
    """health: as the kubelet's status of a pod says it. all_given_out: the plugin gives out all that the node has."""
    if health == UNHEALTHY:
        return (_made(KUBELET, UNHEALTHY, DEVICE_UNHEALTHY, resource),)
    if health == HEALTHY:
        return (_made(KUBELET, HEALTHY, DEVICE_HEALTHY, resource),)
    return (_made(PLUGIN, HEALTHY, ALL_GIVEN_OUT, resource),) if all_given_out else ()


def of_register(stack: str, health: str, record: str) -> tuple[HealthReport, ...]:
    """What the record says that a stack keeps of the node. record: what it is, in words."""
    if health == HEALTH_UNKNOWN:
        return ()
    code = REGISTER_UNHEALTHY if health == UNHEALTHY else REGISTER_HEALTHY
    return (_made(stack, health, code, record),)


def _made(source: str, level: str, code: str, text: str) -> HealthReport:
    action = CHECK if level == UNHEALTHY else ""
    return HealthReport(source=source, level=level, code=code, says=SAYS[code], text=text, action=action)
