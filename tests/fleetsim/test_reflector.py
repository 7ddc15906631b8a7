"""The product's own reflector, unchanged, against the embedded API server: what it mirrors is what the cluster has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fleetsim import Fleet, Server
from fleetsim.resources import PODS
from kube.client import Client
from kube.messages import Changes, Listed, ListEnd, Relist, Watching
from kube.objects import Pod
from kube.reflector import Reflector, last_version
from tests.fleetsim.conftest import pass_time

Versions = dict[str, str]


class Mirror:
    """Pods by uid with their resource versions, as the reflector's messages say."""

    def __init__(self, reflector: Reflector[Pod]) -> None:
        self.reflector = reflector
        self.pods: Versions = {}
        self.lists = 0
        #: What was taken from the reflector reaches so far; its own version may be ahead of that.
        self.version = 0
        self.watching = False

    def follow(self, fleet: Fleet) -> Versions:
        """Take messages until the mirror has reached the version that the fleet has now, and a watch is open."""
        wanted = fleet.store.version
        while self.version < wanted or not self.watching:
            self._take()
        return self.pods

    def _take(self) -> None:
        message = self.reflector.next(10.0)
        if isinstance(message, Relist):
            self.lists += 1
            self.pods, self.version, self.watching = {}, 0, False
        elif isinstance(message, Listed):
            assert message.page.unread == []
            self.pods |= {pod.metadata.uid: pod.metadata.resourceVersion for pod in message.page.objects}
        elif isinstance(message, Changes):
            for event in message.events:
                if event.object is not None and event.type == "DELETED":
                    del self.pods[event.object.metadata.uid]
                elif event.object is not None:
                    self.pods[event.object.metadata.uid] = event.object.metadata.resourceVersion
                else:
                    assert event.type in ("BOOKMARK", "ERROR"), event
            self.version = int(last_version(message.events) or self.version)
        elif isinstance(message, ListEnd):
            self.version = int(message.resource_version)
        elif isinstance(message, Watching):
            self.watching = True


def truth(fleet: Fleet) -> Versions:
    return {pod["metadata"]["uid"]: pod["metadata"]["resourceVersion"] for pod in fleet.store.all(PODS)}


@pytest.fixture
def mirror(server: Server, tmp_path: Path) -> Iterator[Mirror]:
    client = Client(str(server.kubeconfig(tmp_path / "config")))
    reflector = Reflector(client, "/api/v1/pods", Pod, page_size=50, backoff=lambda failures, retry_after: 0.01)
    reflector.start()
    yield Mirror(reflector)
    reflector.stop()
    client.close()


def test_the_mirror_equals_the_cluster_while_it_lives(mirror: Mirror, simulated: Fleet) -> None:
    assert mirror.follow(simulated) == truth(simulated)
    for _ in range(10):
        pass_time(simulated, 30, pace=5)
        assert mirror.follow(simulated) == truth(simulated)
    assert mirror.lists == 1


def test_after_a_compaction_it_lists_anew_and_agrees(mirror: Mirror, server: Server, simulated: Fleet) -> None:
    mirror.follow(simulated)
    server.compact()
    pass_time(simulated, 60)
    while mirror.lists < 2:
        mirror._take()
    assert mirror.follow(simulated) == truth(simulated)
