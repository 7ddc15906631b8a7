"""A small fleet in a real cluster, one node of each kind, and what happens to it."""

from __future__ import annotations

from tests.controlplane.admin import Admin
from tests.controlplane.objects import KINDS, Json, daemonset, node, placed, plugin_pod, pod, running

UNITS = {"gib": "GiB", "mib": "MiB"}


class Fleet:
    """Creates objects through the API and plays scheduler and kubelet for them."""

    def __init__(self, admin: Admin) -> None:
        self.admin = admin

    def build(self, nodes_each: int = 1) -> None:
        """Nodes of every kind with their plugins, two pods on each node, and one waiting pod of each resource."""
        for unit in UNITS.values():
            self.admin.create(daemonset(unit))
        for name in KINDS:
            for number in range(nodes_each):
                self.node(name, number)
                for index in range(2):
                    self.run(name, f"{name}-{number}-{index}", f"{name}-{number}", {index: 1})
            self.admin.create(pod(f"waiting-{name}", KINDS[name], 1))

    def node(self, kind: str, number: int, cards: int = 8) -> Json:
        made = self.admin.create(node(f"{kind}-{number}", KINDS[kind], cards))
        # The API server taints a new node as not ready; the node controller, which would take that off, is not here.
        made = self.admin.patch(made, {"spec": {"taints": None}})
        if kind in UNITS:
            self.admin.create({**plugin_pod(f"{kind}-{number}", UNITS[kind]), "status": {"phase": "Running"}})
        return made

    def run(self, kind: str, name: str, node_name: str, shares: dict[int, int]) -> Json:
        """A pod that runs with `shares` (card index → quantity), told as the kind tells it."""
        made = self.admin.create(pod(name, KINDS[kind], sum(shares.values()), node_name))
        return self.place(kind, made, shares)

    def place(self, kind: str, made: Json, shares: dict[int, int]) -> Json:
        annotations, status = placed(KINDS[kind], made["spec"]["nodeName"], shares)
        if annotations:
            made = self.admin.patch(made, {"metadata": {"annotations": annotations}})
        return self.admin.patch(made, {"status": status}, "/status")

    def finish(self, kind: str, made: Json, phase: str = "Succeeded") -> Json:
        return self.admin.patch(made, {"status": {**running(KINDS[kind]), "phase": phase}}, "/status")
