"""The request of a ResourceClaim for devices of one node, as a pod is written that should run there.

Device classes are objects of the cluster that gpudash does not read: their names are those that the drivers' own charts give them.
Sources: resource.k8s.io/v1 of Kubernetes 1.36; KEP-5075 (capacity that several claims consume); the charts of the drivers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

from kube.claims import Capacity, Device, DeviceBody, ResourceSlice, plain_value
from kube.quantity import written
from stacks.dra.drivers import driver
from stacks.dra.trim import short
from stacks.engine.fitting import Want


class _Offered(NamedTuple):
    driver: str
    name: str
    body: DeviceBody

    def text(self, name: str) -> str:
        values = (plain_value(one) for key, one in (self.body.attributes or {}).items() if short(key) == name)
        return next((str(value) for value in values if value is not None), "")

    @property
    def is_part(self) -> bool:
        return self.text("type") in driver(self.driver).parts


def request_of(
    want: Want, slices: Sequence[ResourceSlice], cards: Collection[str], parts: bool
) -> dict[str, Any] | None:
    """What stands under `exactly` in the request. slices: of the node. cards: keys of those that would take it, parts: or parts of
    them. None when the slices have no such device."""
    fitting = [one for one in _devices(slices) if one.is_part == parts]
    mine = [one for one in fitting if {one.name, one.text("uuid"), one.text("parentUUID")} & set(cards)]
    found = next(iter(mine or fitting), None)
    if found is None:
        return None
    made: dict[str, Any] = {"deviceClassName": (parts and driver(found.driver).part_class) or found.driver}
    made |= {"count": want.cards} if want.cards > 1 else {}
    return made if want.memory is None else made | _of_memory(found, want.memory)


def _devices(slices: Sequence[ResourceSlice]) -> Iterator[_Offered]:
    for one in slices:
        for device in one.spec.devices or ():
            yield _Offered(one.spec.driver, device.name, _body(device))


def _body(device: Device) -> DeviceBody:
    return device.basic or device


def _of_memory(found: _Offered, memory: int) -> dict[str, Any]:
    """What several claims may consume is requested as an amount; of any other device it is a condition."""
    name = _capacity(found.body.capacity or {})
    if found.body.allowMultipleAllocations:
        return {"capacity": {"requests": {name: written(memory)}}}
    domain = name.rpartition("/")[0] or found.driver
    compared = f'device.capacity["{domain}"].{short(name)}.compareTo(quantity("{written(memory)}")) >= 0'
    return {"selectors": [{"cel": {"expression": compared}}]}


def _capacity(capacities: dict[str, Capacity]) -> str:
    """What the driver calls the memory of a device: with its own domain, or without one."""
    return next((name for name in capacities if short(name) == "memory"), "memory")
