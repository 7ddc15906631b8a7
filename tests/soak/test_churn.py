"""The churn plays what schedulers do, in their order."""

from __future__ import annotations

from typing import Any

from tests.cluster.fleet import UNITS
from tests.controlplane.objects import KINDS, Json
from tests.soak.churn import Churn


class Kept:
    """An API server that takes everything, and keeps pods as they were created."""

    def __init__(self) -> None:
        self.pods: list[Json] = []

    def create(self, thing: Json) -> Json:
        if thing["kind"] == "Pod":
            self.pods.append({**thing, "metadata": {**thing["metadata"]}})
        return thing

    def patch(self, thing: Json, change: Json, subresource: str = "") -> Json:
        return thing

    def delete(self, thing: Json) -> None: ...


def test_a_pod_of_gpushare_is_never_on_a_node_without_its_card() -> None:
    """It would be held against every card of the node, and a run there be refused for it."""
    admin: Any = Kept()
    churn = Churn(admin, 7, 50.0)
    for _ in range(120):
        churn._run()
    shared = {KINDS[name].resource for name in UNITS}
    bound = [pod for pod in admin.pods if shared & pod["spec"]["containers"][0]["resources"]["limits"].keys()]
    assert bound
    assert all(pod["metadata"]["annotations"] for pod in bound)
