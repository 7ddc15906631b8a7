"""Software of nodes for tests of pages: states of components, upgrades, and a node with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inventory.models import Cluster
from kube.software import ClusterPolicy, ClusterPolicySpec, Operand, UpgradePolicy
from stacks.engine.software.base import Statement
from tests.factories import make_node
from tests.factories.software import make_policy, make_software
from wording.said import sentence

READY = Statement(state="ready", version="1.17.8", source="pod gpu-operator/toolkit-x")
FAILS = Statement(
    state="crash-looping",
    version="580.95",
    why=sentence("The container {name} ends with exit code {code}.", name="nvidia-driver-ctr", code=1),
    remedy="kubectl logs -n gpu-operator driver-x --previous",
    source="pod gpu-operator/driver-x",
)
WAITS = Statement(
    state="waiting",
    waiting_for="driver",
    why=sentence("The init container {name} is waiting for {component}.", name="driver-validation", component="driver"),
)
NOT_NEEDED = Statement(state="not needed", why=sentence("The cards of this node do not support MIG: no deploy label."))
BROKEN: Mapping[str, Statement] = {
    "driver": FAILS,
    "container-toolkit": WAITS,
    "mig-manager": NOT_NEEDED,
    "device-plugin": WAITS,
}
WELL: Mapping[str, Statement] = {"driver": READY, "container-toolkit": READY, "mig-manager": NOT_NEEDED}


def node_with(cluster: Cluster, name: str, found: Mapping[str, Statement], **more: Any) -> None:
    make_node(cluster, name, "nvidia", 2)
    make_software(cluster, name, found, **more)


def upgrading(step: str, state: str = "outdated", **more: Any) -> Mapping[str, Statement]:
    return WELL | {"driver": Statement(state=state, version="570", wanted="580", step=step, **more)}


def policy(cluster: Cluster, parallel: int | None) -> None:
    upgrade = UpgradePolicy(autoUpgrade=True, maxParallelUpgrades=parallel)
    make_policy(cluster, ClusterPolicy(spec=ClusterPolicySpec(driver=Operand(upgradePolicy=upgrade))))
