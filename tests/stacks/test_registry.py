"""The registry, the catalogue, the instance types, and what is said of a whole cluster."""

from __future__ import annotations

import msgspec
import pytest

import stacks
from inventory.catalogue import CATALOGUE
from stacks import relevant_resource
from stacks.engine.base import ERROR, INFO, WARNING
from stacks.engine.findings import units_mixed
from stacks.shared.instances import instance_of
from tests.stacks.build import CONTEXT


def test_stacks_are_found_in_the_order_of_their_names() -> None:
    names = [stack.name for stack in stacks.STACKS]
    assert names == sorted(names)
    assert {"directx-alibaba", "directx-microsoft", "directx-tensorworks"} < set(names)
    assert {"gpushare", "hami", "kubernetes-alpha", "nvidia"} < set(names)


@pytest.mark.parametrize(
    ("resource", "name"),
    [
        ("alpha.kubernetes.io/nvidia-gpu", "kubernetes-alpha"),
        ("nvidia.com/gpu", "nvidia"),
        ("nvidia.com/gpu.shared", "nvidia"),
        ("nvidia.com/gpumem", "hami"),
        ("aliyun.com/gpu-mem", "gpushare"),
        ("aliyun.com/gpu-count", "gpushare"),
        ("aliyun.com/gpu-core.percentage", "gpushare"),
        ("windows.alibabacloud.com/directx", "directx-alibaba"),
        ("directx.microsoft.com/compute", "directx-tensorworks"),
        ("directx.microsoft.com/display", "directx-tensorworks"),
        ("microsoft.com/directx", "directx-microsoft"),
        ("microsoft.com.directx/gpu", "directx-microsoft"),
        ("nvidia.com/mig-1g.5gb", "nvidia"),
        ("amd.com/gpu", "amd"),
        ("amd.com/gpumem", "hami"),
        ("metax-tech.com/gpu", "metax"),
        ("metax-tech.com/vcore", "metax"),
        ("mthreads.com/sgpu-memory", "moore-threads"),
        ("cambricon.com/mlu", "cambricon"),
        ("cambricon.com/mlu590", "cambricon"),
        ("cambricon.com/mlu370-x8.smlu.vcore", "cambricon"),
        ("cambricon.com/mlu370.mim-2m.8gb", "cambricon"),
        ("cambricon.com/mlu370.unknown", None),
        ("kunlunxin.com/xpu", "kunlun"),
        ("kunlunxin.com/vxpu", None),
        ("enflame.com/drs-gcu", "enflame"),
        ("aws.amazon.com/neurondevice", "aws-neuron"),
        ("aws.amazon.com/neuroncore", "aws-neuron"),
        ("habana.ai/gaudi", "resource-map"),
        ("birentech.com/gpu", "resource-map"),
        ("iluvatar.com/gpu", "resource-map"),
        ("acme.example/gpu", None),
        ("cpu", None),
    ],
)
def test_a_resource_has_one_owner_at_most(resource: str, name: str | None) -> None:
    assert stacks.owner(resource, CONTEXT) == name
    assert sum(stack.understands(resource, CONTEXT) for stack in stacks.STACKS) == (0 if name is None else 1)


def test_a_renamed_resource_has_the_owner_of_the_setting() -> None:
    fork = msgspec.structs.replace(CONTEXT, settings=(("GPUSHARE_RESOURCE", "rainbond.com/gpu-mem"),))
    assert stacks.owner("rainbond.com/gpu-mem", fork) == "gpushare"
    assert stacks.owner("rainbond.com/gpu-mem", CONTEXT) is None


@pytest.mark.parametrize(
    ("entry", "left"),
    [
        ("metax-tech.com/gpu=metax:whole:64Gi", ["metax-tech.com/sgpu"]),
        ("cambricon.com/mlu=cambricon:shares", ["cambricon.com/mlu370", "cambricon.com/mlu.smlu.vmemory"]),
        ("kunlunxin.com/xpu=kunlun:whole:96Gi", []),
        ("enflame.com/drs-gcu=enflame:shares", ["enflame.com/gcu"]),
        ("mthreads.com/sgpu-memory=mt:memory:512Mi", ["mthreads.com/gpu"]),
        ("aws.amazon.com/neuroncore=aws:shares", []),
    ],
)
def test_what_the_setting_names_a_vendor_leaves_to_it(entry: str, left: list[str]) -> None:
    context = msgspec.structs.replace(CONTEXT, settings=(("RESOURCES", entry),))
    resource = entry.partition("=")[0]
    assert stacks.owner(resource, context) == "resource-map"
    assert [stack.name for stack in stacks.STACKS if stack.understands(resource, context)] == ["resource-map"]
    assert {stacks.owner(name, context) for name in left} <= {"metax", "cambricon", "enflame", "moore-threads"}


@pytest.mark.parametrize(
    "resource",
    [
        "kunlunxin.com/vxpu",
        "birentech.com/1-2-gpu",
        "iluvatar.com/other",
        "nvidia.com/mig-1g.5gb.shared",
        "gpu.intel.com/i915",
        "amd.com/cpx_nps1",
        "acme.example/vGPU",
        "huawei.com/Ascend910B",
    ],
)
def test_what_looks_like_a_gpu_is_relevant(resource: str) -> None:
    assert relevant_resource(resource, CONTEXT)


@pytest.mark.parametrize("resource", ["cpu", "memory", "gpu", "hugepages-2Mi", "example.com/disk", "rdma/hca", ""])
def test_what_is_no_extended_resource_of_a_gpu_is_not(resource: str) -> None:
    assert not relevant_resource(resource, CONTEXT)


def test_every_entry_of_the_catalogue_says_what_it_means_and_what_to_do() -> None:
    for code, entry in CATALOGUE.items():
        assert entry.severity in (ERROR, WARNING, INFO), code
        assert entry.title, code
        assert entry.meaning.endswith("."), code
        assert entry.action.endswith("."), code


def test_units_are_mixed_when_two_nodes_count_differently() -> None:
    finding = units_mixed([("a", "GiB"), ("b", "MiB"), ("c", None), *((f"d{i}", "GiB") for i in range(9))])
    assert finding is not None
    assert finding.code == "units-mixed"
    assert finding.severity == CATALOGUE["units-mixed"].severity
    assert "GiB on a, d0, d1, d2, d3 and 5 more; MiB on b." in finding.text


@pytest.mark.parametrize("units", [[], [("a", None)], [("a", "GiB"), ("b", "GiB"), ("c", None)]])
def test_units_are_not_mixed_by_a_node_whose_unit_is_not_known(units: list[tuple[str, str | None]]) -> None:
    assert units_mixed(units) is None


@pytest.mark.parametrize(
    ("name", "model", "cards", "mebibytes"),
    [
        ("ecs.vgn6i-m8.2xlarge", "T4", 1, 7611),
        ("ecs.gn6i-c24g1.12xlarge", "T4", 2, 16384),
        ("g4dn.12xlarge", "T4", 4, 16384),
        ("g6f.large", "L4", 1, 2861),
        ("inf2.24xlarge", "Inferentia2", 6, 32768),
        ("Standard_NV72ads_A10_v5", "A10", 2, 24576),
        ("Standard_NC80adis_H100_v5", "H100", 2, None),
    ],
)
def test_an_instance_type_has_its_cards(name: str, model: str, cards: int, mebibytes: int | None) -> None:
    found = instance_of({"node.kubernetes.io/instance-type": name})
    assert found is not None
    instance, source = found
    assert source == f"instance type {name}"
    memory = instance.memory // 2**20 if instance.memory is not None else None
    assert (instance.model, instance.cards, memory) == (model, cards, mebibytes)


def test_an_unknown_instance_type_has_none() -> None:
    assert instance_of({"node.kubernetes.io/instance-type": "m5.large"}) is None
    assert instance_of({}) is None
