"""What Ascend's device plugin tells of the chips of its node: a ConfigMap for each node, with those that are free and healthy.

Held chips are missing from the list, so it is written with each pod that comes or goes.
Format: Ascend/mind-cluster, component/ascend-device-plugin (docs/en/scheduling/api/ascend_device_plugin.md).
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any
from uuid import NAMESPACE_DNS, uuid5

from fleetsim.ascend import CHIPS, names
from fleetsim.clock import DAY, rfc3339
from fleetsim.machines import Machine
from fleetsim.resources import CONFIGMAPS

if TYPE_CHECKING:
    from fleetsim.world import World

NAMESPACE, PREFIX = "kube-system", "mindx-dl-deviceinfo-"
LABELS = {"mx-consumer-cim": "true"}


class ChipLists:
    """The ConfigMaps of one world: one for each node with such chips, as long as the node is there."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._made_at = rfc3339(world.now - 60 * DAY)

    def write(self, machine: Machine) -> None:
        """As the chips are now; nothing for a node that has none."""
        if CHIPS not in machine.supplies:
            return
        name, store = PREFIX + machine.name, self.world.store
        # An identity of its name: one more draw at random would make all that follows another cluster.
        metadata: dict[str, Any] = {
            "name": name,
            "namespace": NAMESPACE,
            "uid": str(uuid5(NAMESPACE_DNS, name)),
            "creationTimestamp": self._made_at,
            "labels": dict(LABELS),
        }
        made = {"metadata": metadata, "data": _data(machine, self.world.now)}
        if store.has(CONFIGMAPS, NAMESPACE, name):
            store.replace(CONFIGMAPS, made)
        else:
            store.create(CONFIGMAPS, made)


def _data(machine: Machine, now: float) -> dict[str, str]:
    free = [index for index, room in enumerate(machine.supplies[CHIPS].ledger.cards) if room.units]
    lists = {CHIPS: names(free), f"{CHIPS}-Fault": "[]", f"{CHIPS}-NetworkUnhealthy": "", f"{CHIPS}-Unhealthy": ""}
    told = {"DeviceList": lists, "UpdateTime": int(now)}
    digest = hashlib.sha256(json.dumps(told).encode()).hexdigest()
    return {"DeviceInfoCfg": json.dumps({"DeviceInfo": told, "CheckCode": digest}), "ManuallySeparateNPU": ""}
