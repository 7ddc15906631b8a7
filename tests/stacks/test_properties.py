"""What holds for every node and pod that decodes, however strange."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from kube.objects import (
    DaemonSet,
    DaemonSetSpec,
    Metadata,
    Node,
    NodeSpec,
    NodeStatus,
    Pod,
    PodSpec,
    PodStatus,
    PodTemplate,
    TemplateSpec,
)
from stacks.engine.base import Context
from stacks.engine.components import pending_reason
from stacks.engine.node_facts import node_facts
from stacks.engine.node_report import node_report
from stacks.engine.requests import holds, requests
from stacks.engine.trim import trim_pod
from stacks.engine.trim_node import trim_node
from tests.stacks import laws
from tests.stacks.build import as_listed
from tests.stacks.laws import few, json_values, patient, quantities, texts

MEM, COUNT, CORE = "aliyun.com/gpu-mem", "aliyun.com/gpu-count", "aliyun.com/gpu-core.percentage"
GPU, SHARED, MIG = "nvidia.com/gpu", "nvidia.com/gpu.shared", "nvidia.com/mig-1g.5gb"
DIRECTX = ("windows.alibabacloud.com/directx", "directx.microsoft.com/display", "directx.microsoft.com/compute")
RESOURCES = (
    MEM,
    COUNT,
    CORE,
    GPU,
    SHARED,
    MIG,
    *DIRECTX,
    "microsoft.com/directx",
    "alpha.kubernetes.io/nvidia-gpu",
    "cpu",
)
#: Resources of which every unit that is asked for must appear in the account. (Cores, and whole cards asked beside memory, are
#: properties of another request.)
COUNTED = tuple(name for name in RESOURCES if name not in (MIG, CORE, COUNT, "cpu"))
UUIDS = tuple(f"GPU-0000000{i}" for i in range(3))

resources = st.dictionaries(st.sampled_from(RESOURCES), quantities, max_size=3)
layouts = st.dictionaries(
    st.sampled_from("0123"),
    st.one_of(st.dictionaries(st.sampled_from("01239"), st.integers(-1, 9)), st.lists(st.integers(0, 3), max_size=3)),
    max_size=3,
).map(lambda value: msgspec.json.encode(value).decode())
hami = st.lists(st.sampled_from([";", f"{UUIDS[0]},NVIDIA,100,0:;", f"{UUIDS[1]},X,1,1:", "junk"]), max_size=4).map(
    "".join
)
pod_annotations = st.fixed_dictionaries(
    {},
    optional={
        "ALIYUN_COM_GPU_MEM_IDX": texts,
        "ALIYUN_COM_GPU_MEM_POD": texts,
        "ALIYUN_COM_GPU_MEM_ASSIGNED": texts,
        "ALIYUN_COM_GPU_MEM_ASSUME_TIME": st.one_of(texts, st.just("1699999999000000000")),
        "scheduler.framework.gpushare.allocation": st.one_of(layouts, texts),
        "gpushare.alibabacloud.com/core-percentage": st.one_of(layouts, texts),
        "hami.io/vgpu-devices-allocated": hami,
        "hami.io/bind-phase": st.just("allocating"),
        "hami.io/bind-time": texts,
    },
)
devices = st.lists(
    st.fixed_dictionaries(
        {"resourceID": st.one_of(texts, st.sampled_from([*UUIDS, UUIDS[0] + "::2", "nvidia0", "nvidia7"]))}
    ),
    max_size=3,
)
containers = st.lists(
    st.fixed_dictionaries(
        {
            "name": st.sampled_from("abc"),
            "resources": st.fixed_dictionaries({"limits": resources}, optional={"requests": resources}),
        },
        optional={"restartPolicy": st.just("Always"), "env": st.just([{"name": "NVIDIA_VISIBLE_DEVICES"}])},
    ),
    max_size=3,
)
statuses = st.lists(
    st.fixed_dictionaries(
        {
            "name": st.sampled_from("abc"),
            "allocatedResourcesStatus": st.lists(
                st.fixed_dictionaries({"name": st.sampled_from([GPU, SHARED]), "resources": devices}), max_size=2
            ),
        }
    ),
    max_size=2,
)
pods: SearchStrategy[Any] = st.lists(
    st.fixed_dictionaries(
        {
            "metadata": st.fixed_dictionaries({"name": texts, "uid": texts, "annotations": pod_annotations}),
            "spec": st.fixed_dictionaries(
                {"nodeName": st.sampled_from(["n", "n", None])},
                optional={"containers": containers, "initContainers": containers},
            ),
            "status": st.fixed_dictionaries(
                {"phase": st.sampled_from(["Running", "Pending", "Failed", None])},
                optional={"containerStatuses": statuses, "initContainerStatuses": statuses},
            ),
        }
    ),
    max_size=4,
)
node_labels = st.fixed_dictionaries(
    {},
    optional={
        "nvidia.com/gpu.count": texts,
        "nvidia.com/gpu.replicas": st.one_of(texts, st.just("4")),
        "nvidia.com/gpu.sharing-strategy": st.sampled_from(["none", "mps", "time-slicing", "?"]),
        "nvidia.com/gpu.memory": st.one_of(texts, st.just("15360")),
        "nvidia.com/gpu.product": texts,
        "aliyun.accelerator/nvidia_mem": texts,
        "node.kubernetes.io/instance-type": st.sampled_from(["g4dn.12xlarge", "?"]),
    },
)
registers = st.one_of(
    texts, st.just(f"{UUIDS[0]},10,15360,100,NVIDIA-T4,0,true:"), st.just('[{"id":"GPU-1","devmem":4096}]')
)
node_annotations = st.fixed_dictionaries(
    {},
    optional={
        "gpudash.io/memory-unit": texts,
        "gpudash.io/card-count": texts,
        "gpudash.io/card-memory": texts,
        "hami.io/node-nvidia-register": registers,
    },
)
nodes: SearchStrategy[Any] = st.fixed_dictionaries(
    {
        "metadata": st.fixed_dictionaries(
            {"name": st.just("n"), "labels": node_labels, "annotations": node_annotations}
        ),
        "status": st.fixed_dictionaries({"capacity": resources}, optional={"allocatable": resources}),
    }
)
CONTEXT = Context(now=1_700_000_000.0, known_uuids=UUIDS[:1])


@pytest.mark.sweep
@patient
@given(nodes, pods)
def test_what_is_placed_and_unplaced_is_what_the_pods_ask_for(node: Any, some: Any) -> None:
    decoded, decoded_pods = laws.decoded(node, some)
    promised = laws.promised(node_report(decoded, decoded_pods, CONTEXT))
    if "hami.io/node-nvidia-register" in node["metadata"]["annotations"]:
        promised.pop(GPU, None)  # HAMi's own record counts there
    for name in COUNTED:
        if name == GPU and name not in promised and "hami.io/node-nvidia-register" in node["metadata"]["annotations"]:
            continue
        needs = [need for pod in decoded_pods if holds(pod) for need in requests(pod, {name}.__contains__)]
        assert promised[name] == sum(need.quantity for need in needs)


@pytest.mark.sweep
@patient
@given(nodes, pods)
def test_an_account_adds_up_and_fits_the_tables(node: Any, some: Any) -> None:
    laws.adds_up(node_report(*laws.decoded(node, some), CONTEXT))


@pytest.mark.sweep
@patient
@given(nodes, pods)
def test_what_the_mirror_keeps_gives_the_same_account_of_anything(node: Any, some: Any) -> None:
    laws.is_the_same_of_what_is_kept(*laws.decoded(node, some), CONTEXT)


def test_unreadable_quantities_are_told_in_one_order_whatever_the_mirror_leaves_out() -> None:
    asked = {"limits": {MEM: "", DIRECTX[2]: ""}, "requests": {"cpu": "0", DIRECTX[2]: "0"}}
    pod = {
        "metadata": {"name": "p", "uid": "1"},
        "spec": {"nodeName": "n", "containers": [{"name": "a", "resources": asked}]},
        "status": {"phase": "Running"},
    }
    node = {"metadata": {"name": "n"}, "status": {"capacity": {}}}
    laws.is_the_same_of_what_is_kept(*laws.decoded(node, [pod]), CONTEXT)


@patient
@given(json_values, st.sampled_from(["gpudash.io/card-count", "hami.io/node-nvidia-register", "hami.io/device-cordon"]))
def test_any_json_as_an_annotation_of_a_node_is_survived(value: Any, key: str) -> None:
    text = msgspec.json.encode(value).decode()
    node = {"metadata": {"annotations": {key: text}}, "status": {"capacity": {GPU: "8", MEM: "80", COUNT: "8"}}}
    decoded, _ = laws.decoded(node, [])
    assert node_report(decoded, [], CONTEXT).cards_total in (None, 0, 8) or key == "gpudash.io/card-count"


@patient
@given(json_values)
def test_any_json_as_a_record_of_a_pod_leaves_its_request_on_the_node(value: Any) -> None:
    text = msgspec.json.encode(value).decode()
    names = ("scheduler.framework.gpushare.allocation", "gpushare.alibabacloud.com/core-percentage")
    pod = {
        "metadata": {"name": "p", "annotations": dict.fromkeys(names, text)},
        "spec": {"nodeName": "n", "containers": [{"name": "a", "resources": {"limits": {MEM: "7"}}}]},
    }
    found = node_report(*laws.decoded({"status": {"capacity": {MEM: "80", COUNT: "8"}}}, [pod]), CONTEXT)
    assert laws.promised(found) == {MEM: 7}


metadata = st.from_type(Metadata)
any_pods = st.builds(Pod, metadata=metadata, spec=st.from_type(PodSpec), status=st.from_type(PodStatus))
any_nodes = st.builds(Node, metadata=metadata, spec=st.from_type(NodeSpec), status=st.from_type(NodeStatus))
templates = st.builds(PodTemplate, metadata=metadata, spec=st.from_type(TemplateSpec))
any_daemonsets = st.builds(DaemonSet, metadata=metadata, spec=st.builds(DaemonSetSpec, template=templates))


# Every field of every struct, filled at random from its type.
@pytest.mark.sweep
@few
@given(any_nodes, any_pods, any_daemonsets)
def test_no_object_that_decodes_raises(node: Node, pod: Pod, daemonset: DaemonSet) -> None:
    context = Context(now=0.0, daemonsets=(daemonset,))
    node_report(node, [pod], context)
    trim_pod(as_listed(pod), context)
    trim_node(node)
    node_facts(node)
    pending_reason(pod)
