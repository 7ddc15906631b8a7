"""The account of recorded nodes. `GOLDEN=rewrite pytest tests/stacks/test_golden.py` writes the expectations anew."""

from __future__ import annotations

import os

import msgspec
import pytest

from kube.claims import ResourceClaim, ResourceSlice
from kube.objects import DaemonSet, Node, Pod
from stacks.dra.drivers import asks_for_cards, gives_cards
from stacks.dra.trim import trim_claim, trim_slice
from stacks.engine.catalogue import catalogue
from stacks.engine.config_maps import selections
from stacks.engine.node_report import node_report
from stacks.engine.trim import trim_pod
from stacks.engine.trim_daemonset import trim_daemonset
from stacks.engine.trim_device import trim_device
from stacks.engine.trim_node import trim_node
from tests.stacks import golden_case
from tests.stacks.build import as_listed


@pytest.mark.parametrize("name", golden_case.names())
def test_a_recorded_node_gives_its_account(name: str) -> None:
    case = golden_case.load(name)
    got = golden_case.rendered(node_report(case.node, case.pods, case.context))
    path = golden_case.GOLDEN / name / "expected.json"
    if os.environ.get("GOLDEN") == "rewrite":
        path.write_text(got)
    assert got == path.read_text()


@pytest.mark.parametrize("name", golden_case.names())
def test_what_the_mirror_keeps_gives_the_same_account(name: str) -> None:
    case = golden_case.load(name)
    whole = node_report(case.node, case.pods, case.context)
    node = msgspec.json.decode(msgspec.json.encode(trim_node(case.node)), type=Node)
    trimmed = [kept for pod in case.pods if (kept := trim_pod(as_listed(pod), case.context)) is not None]
    pods = msgspec.json.decode(msgspec.json.encode(trimmed), type=list[Pod])
    kept = [found for one in case.context.daemonsets if (found := trim_daemonset(one)) is not None]
    daemonsets = tuple(msgspec.json.decode(msgspec.json.encode(kept), type=list[DaemonSet]))
    assert selections(daemonsets) == case.context.selections or not case.context.selections
    device = trim_device(case.context.device) if case.context.device is not None else None
    slices = [trim_slice(one) for one in case.context.slices if gives_cards(one)]
    claims = [trim_claim(one) for one in case.context.claims if asks_for_cards(one)]
    context = msgspec.structs.replace(
        case.context,
        daemonsets=daemonsets,
        device=device,
        slices=tuple(msgspec.json.decode(msgspec.json.encode(slices), type=list[ResourceSlice])),
        claims=tuple(msgspec.json.decode(msgspec.json.encode(claims), type=list[ResourceClaim])),
    )
    assert golden_case.rendered(node_report(node, pods, context)) == golden_case.rendered(whole)


def test_every_finding_of_the_catalogue_has_a_case_and_its_severity() -> None:
    found: dict[str, str] = {}
    for name in golden_case.names():
        case = golden_case.load(name)
        found |= {item.code: item.severity for item in node_report(case.node, case.pods, case.context).findings}
    elsewhere = {"units-mixed"}  # of the cluster, not of a node
    elsewhere |= {"software-not-ready"}  # of components: tests/inventory/components
    elsewhere |= {"dra-too-many-devices"}  # in test_dra_many_devices.py
    assert found == {code: entry.severity for code, entry in catalogue().items() if code not in elsewhere}


def test_the_same_input_gives_the_same_account_twice() -> None:
    for name in golden_case.names():
        case = golden_case.load(name)
        assert node_report(case.node, case.pods, case.context) == node_report(case.node, case.pods, case.context)
