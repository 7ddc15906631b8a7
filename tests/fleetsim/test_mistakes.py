"""The planted mistakes, as the product's own stacks find them: each one, where it was planted, and no others."""

from __future__ import annotations

from collections import defaultdict

import msgspec
import pytest

from fleetsim import Fleet
from fleetsim.resources import DAEMONSETS, NODES, PODS, RESOURCECLAIMS, RESOURCESLICES
from fleetsim.upgrade import POOL
from kube.claims import ResourceClaim, ResourceSlice, pinned_node
from kube.objects import DaemonSet, Pod
from stacks import owner, relevant_resource
from stacks.engine.base import Context
from stacks.engine.node_report import node_report
from tests.fleetsim.conftest import START, node_of

#: (node, code) of every finding of the standard fleet that is planted.
FOUND = {
    ("gpu-v100-01", "card-over-committed"),
    ("gpu-v100-02", "visible-devices-by-hand"),
    ("gpu-edge-01", "card-promised-twice"),
    ("gpu-edge-01", "two-stacks-one-card"),
    ("gpu-t4-01", "index-out-of-range"),
    ("gpu-t4-02", "bound-without-card"),
    ("gpu-t4-03", "assumed-not-assigned"),
    ("gpu-t4-03", "several-gpu-containers"),
    ("cn-hangzhou.192.168.3.1", "annotation-unreadable"),
    ("cn-hangzhou.192.168.3.1", "bound-without-card"),
    ("dgx-a100-02", "capacity-not-allocatable"),
    ("gpu-p100-01", "count-zero"),
    ("lab-p100-01", "label-without-resource"),
    ("gpu-l40s-new-01", "label-without-resource"),
    ("gpu-l40s-new-01", "plugin-not-ready"),
    ("dev-t4-01", "plugin-not-ready"),
    ("ackwinbj0001", "label-without-resource"),
    ("ackwinbj0001", "plugin-not-ready"),
    ("mig-a100-01", "mig-config"),
    ("gpu-l40s-02", "driver-upgrade"),
    ("mig-a100-02", "driver-upgrade"),
    ("dra-h100-02", "device-tainted"),
    ("dgx-h100-02", "device-unhealthy"),
}


def findings(fleet: Fleet) -> set[tuple[str, str]]:
    daemonsets = tuple(msgspec.convert(one, DaemonSet) for one in fleet.store.all(DAEMONSETS))
    slices = [msgspec.convert(one, ResourceSlice) for one in fleet.store.all(RESOURCESLICES)]
    claims = [msgspec.convert(one, ResourceClaim) for one in fleet.store.all(RESOURCECLAIMS)]
    pods: defaultdict[str, list[Pod]] = defaultdict(list)
    for one in fleet.store.all(PODS):
        pods[one["spec"].get("nodeName", "")].append(msgspec.convert(one, Pod))
    found = set()
    for one in fleet.store.all(NODES):
        name = one["metadata"]["name"]
        context = Context(
            now=fleet.now,
            daemonsets=daemonsets,
            slices=tuple(each for each in slices if each.spec.nodeName == name),
            claims=tuple(each for each in claims if on_node(each, name)),
            claims_read=True,
        )
        found |= {(name, row.code) for row in node_report(node_of(one), pods[name], context).findings}
    return found


def on_node(claim: ResourceClaim, node: str) -> bool:
    allocation = claim.status.allocation if claim.status else None
    return allocation is not None and pinned_node(allocation.nodeSelector) == node


def expected(fleet: Fleet) -> set[tuple[str, str]]:
    """The planted ones, and the resources of the fleet that no stack reads."""
    context = Context(now=fleet.now)
    strange = {
        (one["metadata"]["name"], "resource-not-understood")
        for one in fleet.store.all(NODES)
        for resource in one["status"]["allocatable"]
        if relevant_resource(resource, context) and owner(resource, context) is None
    }
    return FOUND | strange


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_each_mistake_is_found_where_it_was_planted_and_nothing_else(seed: int) -> None:
    fleet = Fleet(seed=seed, now=START)
    assert findings(fleet) == expected(fleet)


@pytest.mark.sweep
def test_life_neither_mends_nor_adds_any() -> None:
    fleet = Fleet(seed=1, now=START)
    # Where the driver is upgraded, what is found changes with each step of that.
    moving = {kind.name.format(number) for kind, number, _ in POOL}
    for _ in range(20):
        for _ in range(30):
            fleet.step(fleet.now + 10)
        kept = [{one for one in found if one[0] not in moving} for found in (findings(fleet), expected(fleet))]
        assert kept[0] == kept[1]


def test_the_cluster_has_nodes_in_gib_and_in_mib() -> None:
    fleet = Fleet(seed=1, now=START)
    units = {
        argument
        for daemonset in fleet.store.all(DAEMONSETS)
        for container in daemonset["spec"]["template"]["spec"]["containers"]
        for argument in container.get("command", [])
        if argument.startswith("--memory-unit=")
    }
    assert units == {"--memory-unit=GiB", "--memory-unit=MiB"}
