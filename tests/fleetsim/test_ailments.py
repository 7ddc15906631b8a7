"""What is said of the health of the demo's cards, as the product reads it: each where it was planted, and nothing else."""

from __future__ import annotations

from collections import defaultdict

import msgspec

from fleetsim import Fleet
from fleetsim.ailments import FALLEN, HOT
from fleetsim.resources import NODES, PODS, RESOURCESLICES
from inventory.health import judge
from inventory.health.judge import Judged
from kube.claims import ResourceSlice
from kube.objects import Pod
from stacks.engine.base import Context
from stacks.engine.node_report import node_report
from tests.fleetsim.conftest import START, node_of


def judged(fleet: Fleet) -> dict[str, Judged]:
    """By node."""
    slices = [msgspec.convert(one, ResourceSlice) for one in fleet.store.all(RESOURCESLICES)]
    pods: defaultdict[str, list[Pod]] = defaultdict(list)
    for one in fleet.store.all(PODS):
        pods[one["spec"].get("nodeName", "")].append(msgspec.convert(one, Pod))
    found = {}
    for one in fleet.store.all(NODES):
        node = node_of(one)
        name = node.metadata.name
        mine = tuple(each for each in slices if each.spec.nodeName == name)
        context = Context(now=fleet.now, slices=mine, claims_read=True)
        found[name] = judge.judged(node_report(node, pods[name], context), node, context)
    return found


def test_what_is_said_of_cards_and_nodes_is_read_where_it_was_planted() -> None:
    fleet = Fleet(seed=1, now=START)
    found = judged(fleet)
    uuids = next(machine.uuids for machine in fleet.world.machines if machine.name == "dgx-h100-02")
    full = found["dgx-h100-02"]
    assert full.node.level == "unhealthy"
    bad = {key: health for key, health in full.cards.items() if health.level != "healthy"}
    assert {key: health.level for key, health in bad.items()} == {uuids[HOT]: "degraded", uuids[FALLEN]: "unhealthy"}
    assert {one.source for one in bad[uuids[FALLEN]].told} == {"kubelet", "nvsentinel"}
    assert [one.code for one in found["dgx-a100-02"].node.told] == ["devices-withheld", "SysLogsGPUFallenOff"]
    assert found["dra-h100-02"].node.level == "unhealthy"
    others = {name: one.node for name, one in found.items() if any(told.source == "gke" for told in one.node.told)}
    ((_, gke),) = others.items()
    assert (gke.level, gke.told[0].text) == ("unhealthy", "XidCriticalError=True: Xid 48")
    assert [(one.source, one.level) for one in found["dgx-h100-01"].node.told] == [("nvsentinel", "healthy")] * 3


def test_only_what_was_planted_is_not_well() -> None:
    found = judged(Fleet(seed=1, now=START))
    sick = {name for name, one in found.items() if one.node.level in ("degraded", "unhealthy")}
    gke = {name for name in sick if name.startswith("gke-")}
    assert len(gke) == 1
    assert sick - gke == {"dgx-h100-02", "dgx-a100-02", "dra-h100-02"}
