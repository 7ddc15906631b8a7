"""From slices to devices: of each pool the highest generation, and only when it is complete.

A scheduler gives out nothing of a pool of which a slice is missing, so such a pool is said to be incomplete and not counted.
"""

from __future__ import annotations

from typing import NamedTuple

from kube.claims import Capacity, Device, DeviceSelector, DeviceTaintRule, ResourceSlice, plain_value
from kube.quantity import size
from stacks.dra import health_reports
from stacks.dra.trim import short
from stacks.engine.base import UNHEALTHY, HealthReport

#: (driver, pool, device)
Key = tuple[str, str, str]


#: Counter → amount; None for one that is no quantity.
Amounts = dict[str, int | None]


class Offered(NamedTuple):
    """A device that a driver offers. node_name: "" where it is not of one node. memory: bytes; None where it is not said.

    told: of its health, by its taints and attributes. counters: names of the counter sets that it takes of: devices that take of the
    same exclude each other. takes: by set, how much. several: claims may share it; shares: so many, None when they are not counted.
    sick: the driver calls it unhealthy, and gives it out all the same to claims that do not look.
    """

    key: Key
    node_name: str
    attributes: dict[str, object]
    memory: int | None
    counters: frozenset[str]
    several: bool
    taints: tuple[tuple[str, str], ...]
    takes: tuple[tuple[str, Amounts], ...] = ()
    told: tuple[HealthReport, ...] = ()
    shares: int | None = None
    sick: bool = False

    @property
    def unavailable_reason(self) -> bool:
        """Whether new claims should not get it."""
        return self.sick or bool(self.taints)

    def text(self, *names: str) -> str:
        """The first of some attributes that has a value, as text."""
        return next((str(self.attributes[name]) for name in names if self.attributes.get(name) not in (None, "")), "")


class Pools(NamedTuple):
    """incomplete: (driver, pool, slices that are there, slices that there should be). sets: what counter sets have, by their key."""

    devices: dict[Key, Offered]
    incomplete: tuple[tuple[str, str, int, int], ...]
    sets: dict[Key, Amounts]


def pools(slices: tuple[ResourceSlice, ...], rules: tuple[DeviceTaintRule, ...] = ()) -> Pools:
    """All devices of complete pools, with the taints of their own and of rules."""
    grouped: dict[tuple[str, str], list[ResourceSlice]] = {}
    for one in slices:
        grouped.setdefault((one.spec.driver, one.spec.pool.name), []).append(one)
    devices: dict[Key, Offered] = {}
    sets: dict[Key, Amounts] = {}
    incomplete = []
    for (driver, pool), members in sorted(grouped.items()):
        newest = max(one.spec.pool.generation for one in members)
        current = [one for one in members if one.spec.pool.generation == newest]
        wanted = max(one.spec.pool.resourceSliceCount for one in current)
        if len(current) < wanted:
            incomplete.append((driver, pool, len(current), wanted))
            continue
        for one in current:
            for device in one.spec.devices or ():
                offered = _tainted(_offered(one, device), rules)
                devices[offered.key] = offered
            for one_set in one.spec.sharedCounters or ():
                sets[driver, pool, one_set.name] = _amounts(one_set.counters)
    return Pools(devices, tuple(incomplete), sets)


def _tainted(device: Offered, rules: tuple[DeviceTaintRule, ...]) -> Offered:
    """With the taints of the rules that mean it. A rule with criteria that are not evaluated may mean it: that is said, no more."""
    for rule in rules:
        wanted, taint = rule.spec.deviceSelector, rule.spec.taint
        if wanted is None or not _means(wanted, device.key):
            continue
        sure = wanted.deviceClassName is None and not wanted.selectors
        keeps_off = sure and taint.effect in health_reports.KEEPS_OFF
        device = device._replace(
            taints=(*device.taints, (taint.key, taint.effect)) if keeps_off else device.taints,
            told=(*device.told, health_reports.of_rule(taint, rule.metadata.name, sure))[: health_reports.MOST],
        )
    return device


def _means(wanted: DeviceSelector, key: Key) -> bool:
    """Whether driver, pool and device are those that a rule names; what it does not name may be any."""
    named = (wanted.driver, wanted.pool, wanted.device)
    return all(name is None or name == mine for name, mine in zip(named, key, strict=True))


def _amounts(counters: dict[str, Capacity] | None) -> Amounts:
    return {name: size(value.value) for name, value in (counters or {}).items()}


def _offered(found: ResourceSlice, device: Device) -> Offered:
    spec, name = found.spec, device.name
    body = device.basic or device
    capacity = {short(name): value.value for name, value in (body.capacity or {}).items()}
    attributes = {short(name): plain_value(value) for name, value in (body.attributes or {}).items()}
    by_attributes = health_reports.of_attributes(attributes, spec.driver)
    return Offered(
        key=(spec.driver, spec.pool.name, name),
        node_name=(body.nodeName if spec.perDeviceNodeSelection else spec.nodeName) or "",
        attributes=attributes,
        # Drivers write 0 where a card has no memory of its own, and where they could not ask it.
        memory=size(capacity.get("memory")) or None,
        counters=frozenset(one.counterSet for one in body.consumesCounters or ()),
        several=bool(body.allowMultipleAllocations),
        takes=tuple((one.counterSet, _amounts(one.counters)) for one in body.consumesCounters or ()),
        taints=tuple((one.key, one.effect) for one in body.taints or () if one.effect in health_reports.KEEPS_OFF),
        told=(*health_reports.of_taints(body.taints or (), spec.driver), *by_attributes),
        shares=size(capacity.get("shares")) or None if body.allowMultipleAllocations else None,
        sick=any(one.level == UNHEALTHY for one in by_attributes),
    )
