"""A driver upgrade, six days ago: node after node was cordoned, emptied, upgraded and uncordoned, and lost its validation by that.

What campaigns found before and after it is in the suites' own words (`Past.campaigns`); the last nodes are upgraded while the demo
runs, by the fleet.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fleetsim.clock import HOUR, MINUTE
from fleetsim.labels import DRIVER, NEW_DRIVER, driver_of
from fleetsim.machines import Machine
from fleetsim.usage import CardUse, Tenant
from gpudash.demo_past.clock import Times, utc
from gpudash.demo_past.seats import Uses
from inventory.components import steps
from inventory.mirror.node_changes import CORDONED, YES
from inventory.mirror.node_changes import DRIVER as OF_DRIVER
from inventory.models import Cluster, Component, ComponentChange, NodeChange

AGO, BEGINS, EACH_S = 6, 9 * HOUR, 25 * MINUTE
#: Seconds from the cordon of a node: its pods are gone, its driver is new, it is uncordoned.
_EMPTY_S, _NEW_S, _DONE_S = 3 * MINUTE, 8 * MINUTE, 12 * MINUTE
_STEPS = (
    (0.0, "upgrade-required", "pod-deletion-required"),
    (_EMPTY_S, "pod-deletion-required", "pod-restart-required"),
    (_NEW_S, "pod-restart-required", "validation-required"),
    (_DONE_S, "validation-required", "upgrade-done"),
)


class Upgrade:
    """begins: node → when it was cordoned. Only nodes with the new driver on which no pod is older than the upgrade."""

    def __init__(self, uses: Uses, times: Times) -> None:
        first = times.on_day(AGO, BEGINS)
        late = first + EACH_S * len({machine.name for machine, _, _ in uses})
        stayed = {machine.name for machine, _, use in uses if any(_stayed(one, late) for one in use.tenants)}
        done = {machine.name for machine, _, _ in uses if _is_done(machine)} - stayed
        self.begins = {name: first + number * EACH_S for number, name in enumerate(sorted(done))}
        if first < times.since:
            self.begins = {}

    def driver(self, node: str, at: float) -> str:
        """The driver of a node then; "" where it was the one of now."""
        return DRIVER if at < self.begins.get(node, 0.0) + _NEW_S else ""

    def emptied(self, uses: Uses) -> Uses:
        """The same, but who would have been on a node while it was upgraded went before and came back after."""
        return [(machine, spot, self._emptied(machine.name, use)) for machine, spot, use in uses]

    def _emptied(self, node: str, use: CardUse) -> CardUse:
        if node not in self.begins:
            return use
        begin, end = self.begins[node] + 1, self.begins[node] + _DONE_S
        return replace(use, tenants=tuple(part for one in use.tenants for part in _around(one, begin, end)))

    def write(self, cluster: Cluster) -> None:
        """What the watcher of nodes and the reconciler would have written down."""
        drivers = Component.objects.filter(cluster=cluster, name__in=steps.DRIVERS, node_name__in=self.begins)
        NodeChange.objects.bulk_create(
            NodeChange(cluster=cluster, node_name=node, what=what, before=before, after=after, at=utc(begin + seconds))
            for node, begin in self.begins.items()
            for seconds, what, before, after in (
                (0.0, CORDONED, "", YES),
                (_NEW_S, OF_DRIVER, DRIVER, NEW_DRIVER),
                (_DONE_S, CORDONED, YES, ""),
            )
        )
        ComponentChange.objects.bulk_create(
            ComponentChange(
                cluster=cluster,
                node_name=row.node_name,
                name=row.name,
                stack=row.stack,
                state_before=row.state,
                state_after=row.state,
                version_before=DRIVER if seconds <= _NEW_S else row.version,
                version_after=DRIVER if seconds < _NEW_S else row.version,
                step_before=before,
                step_after=after,
                at=utc(self.begins[row.node_name] + seconds),
            )
            for row in drivers
            for seconds, before, after in _STEPS
        )


def _is_done(machine: Machine) -> bool:
    return machine.kind.operator and machine.open and driver_of(machine.labels)[0] == NEW_DRIVER


def _stayed(one: Tenant, late: float) -> bool:
    return one.until is None and one.since < late


def _another(uid: str) -> str:
    return uid[:-1] + ("1" if uid.endswith("0") else "0")


def _around(one: Tenant, begin: float, end: float) -> Iterator[Tenant]:
    """A tenant until the upgrade begins, and what its owner creates in its place afterwards."""
    late = max(one.since, end + MINUTE)
    if one.since >= end or (one.until is not None and one.until <= begin):
        yield one
        return
    if one.since < begin - MINUTE:
        yield replace(one, until=begin)
    if one.until is None or one.until > late:
        yield replace(one, since=late, who=one.who._replace(uid=_another(one.who.uid)))
