"""What stands on the nodes of dynamic resource allocation for ever: a claim that two pods share, and pods that wait for theirs.

| what | where |
| --- | --- |
| two pods use one claim, so one card is held once | first node whose driver gives out cards |
| a pod that asks for a card of 90 GiB, which no node has | waits |
| a pod whose claim was never made, since its template is not there | waits |
"""

from __future__ import annotations

from typing import Any

from fleetsim import teams
from fleetsim.asks import Ask, of_memory
from fleetsim.claims import claim
from fleetsim.clock import DAY, HOUR
from fleetsim.life import Life
from fleetsim.machines import Machine
from fleetsim.migtypes import DRA_CARDS
from fleetsim.mistakes import new_pod, run, wait
from fleetsim.resources import PODS, RESOURCECLAIMS
from fleetsim.systems import Place
from fleetsim.world import World

SHARED = "preview-gpu"


def plant(world: World, life: Life) -> None:
    """Put all of them into an empty fleet that has such a node."""
    machines = [machine for machine in world.machines if machine.kind is DRA_CARDS]
    if not machines:
        return
    _share(world, machines[0])
    _wait_for_memory(world, life)
    _wait_for_template(world)


def _share(world: World, machine: Machine) -> None:
    made = claim("team-vision", SHARED, teams.uid(world.rng), Ask("gpu.nvidia.com"), world.now - 6 * DAY)
    world.store.create(RESOURCECLAIMS, made)
    for number, name in enumerate(("preview-web", "preview-encode")):
        pod = new_pod(world, "team-vision", name, [{}], (6 - number) * DAY, "ReplicaSet")
        pod["spec"]["containers"][0]["resources"]["claims"] = [{"name": "gpu"}]
        pod["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimName": SHARED}]
        given = world.claims.fit(pod, machine)
        assert not isinstance(given, str), "an empty node has room"
        world.hold(pod, Place(machine.name, {}, machine.uuids, 0, claims=given), world.now - (6 - number) * DAY)
        run(world, pod, machine, (6 - number) * DAY)


def _wait_for_memory(world: World, life: Life) -> None:
    pod = new_pod(world, "research-bio", "fold-90gi", [{}], 7 * HOUR, "Job")
    pod["spec"]["containers"][0]["resources"]["claims"] = [{"name": "gpu"}]
    pod["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": "gpu-90gi"}]
    _tolerate(pod)
    world.claims.make(pod, Ask("gpu.nvidia.com", 1, (of_memory(90),), "gpu-90gi"), world.now - 7 * HOUR)
    wait(world, life, pod)


def _wait_for_template(world: World) -> None:
    """The scheduler does not look at it: only the controller says why, in an event."""
    pod = new_pod(world, "team-vision", "segment-typo", [{}], 2 * HOUR, "ReplicaSet")
    pod["spec"]["containers"][0]["resources"]["claims"] = [{"name": "gpu"}]
    pod["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": "mig-3gg"}]
    world.store.create(PODS, pod)
    message = 'PodResourceClaim gpu: failed to create ResourceClaim: resource claim template "mig-3gg": not found'
    world.say(pod, "FailedResourceClaimCreation", message, "resource_claim")


def _tolerate(pod: dict[str, Any]) -> None:
    pod["spec"]["tolerations"] = [
        *pod["spec"]["tolerations"],
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
    ]
