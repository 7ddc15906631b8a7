"""What holds for cards of other vendors, whatever is written on their nodes and pods."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DataObject, SearchStrategy

from kube.objects import Pod
from stacks.engine.base import Context
from stacks.engine.node_report import node_report
from stacks.engine.requests import holds, requests
from tests.stacks import laws
from tests.stacks.laws import few, json_values, quantities, texts
from tests.sweeps import first_and_rest

CONTEXT = Context(now=1_700_000_000.0)
Text = SearchStrategy[str]


class Vendor(NamedTuple):
    """Names of one vendor. counting: of which every pod that asks for some must appear. exact: of which each unit must.

    beside: what is asked for with them. node, pod: annotations, and how they look where they are good.
    """

    counting: tuple[str, ...]
    exact: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    node: dict[str, Text] = {}
    pod: dict[str, Text] = {}


def _json(value: SearchStrategy[Any]) -> Text:
    return value.map(lambda found: msgspec.json.encode(found).decode())


small = st.integers(-1, 5)
numbers = st.lists(small.map(str), max_size=4).map(",".join)
metax_cards = st.fixed_dictionaries(
    {"uuid": st.sampled_from(["GPU-a", "GPU-b", "GPU-c"])},
    optional={"totalVRam": st.sampled_from([65536, -1, 2**70]), "totalDevCount": small, "healthy": st.booleans()},
)
metax_devices = st.fixed_dictionaries(
    {"uuid": st.sampled_from(["GPU-a", "GPU-b", "GPU-z"])},
    optional={"vRam": st.sampled_from([1024, 0, -1, 2**70]), "compute": st.integers(-1, 120)},
)
slices = st.fixed_dictionaries(
    {},
    optional={
        "devices": st.lists(
            st.fixed_dictionaries({}, optional={"index": small.map(str), "minor": small.map(str)}), max_size=4
        ),
        "profiles": st.dictionaries(st.sampled_from(["1g.5gb", "3g.20gb", "6g.40gb", "?"]), texts, max_size=3),
    },
)
given_out = st.dictionaries(
    st.sampled_from("ab"), st.fixed_dictionaries({}, optional={"request": small, "allocated": st.booleans()})
)
register = st.lists(
    st.fixed_dictionaries(
        {"id": st.sampled_from(["card-1", "card-2"])},
        optional={
            "count": small,
            "devmem": st.sampled_from([65024, 32768, -1, 2**70]),
            "devcore": small,
            "health": st.booleans(),
        },
    ),
    max_size=3,
)
record = st.lists(
    st.sampled_from([";", "card-1,AMD,1024,10:;", "card-2,Biren,0,0:;", "card-9,Vastai,1,1:", "junk"]), max_size=4
).map("".join)

VENDORS = {
    "metax": Vendor(
        ("metax-tech.com/gpu", "metax-tech.com/sgpu"),
        ("metax-tech.com/gpu",),
        ("metax-tech.com/vmemory", "metax-tech.com/vcore"),
        {"metax-tech.com/node-gpu-devices": _json(st.lists(metax_cards, max_size=3))},
        {
            "metax-tech.com/gpu-devices-allocated": _json(
                st.lists(st.one_of(st.none(), st.lists(metax_devices, max_size=2)), max_size=3)
            )
        },
    ),
    "moore-threads": Vendor(
        ("mthreads.com/gpu", "mthreads.com/vgpu", "mthreads.com/sgpu-core", "mthreads.com/sgpu-memory"),
        ("mthreads.com/gpu",),
        pod={"mthreads.com/gpu-index": numbers},
    ),
    "cambricon": Vendor(
        (
            "cambricon.com/mlu",
            "cambricon.com/mlu370",
            "cambricon.com/mlu.share",
            "cambricon.com/mlu370.mim-2m.8gb",
            "cambricon.com/mlu.smlu.vcore",
            "cambricon.com/mlu.smlu.vmemory",
            "cambricon.com/mlu370.smlu.vcore",
            "cambricon.com/vmlu",
        ),
        ("cambricon.com/mlu.share", "cambricon.com/mlu370.mim-2m.8gb"),
        ("cambricon.com/real-mlu-counts",),
        pod={
            "CAMBRICON_DSMLU_PROFILE": st.sampled_from(["0_10_20", "7_1_1", "0_10", "_"]),
            "hami.io/cambricon-mlu-devices-allocated": record,
        },
    ),
    "kunlun": Vendor(("kunlunxin.com/xpu",), ("kunlunxin.com/xpu",), pod={"BAIDU_COM_DEVICE_IDX": numbers}),
    "enflame": Vendor(
        (
            "enflame.com/gcu",
            "enflame.com/drs-gcu",
            "enflame.com/shared-gcu",
            "enflame.com/vgcu",
            "enflame.com/gcu-memory",
        ),
        ("enflame.com/gcu",),
        ("enflame.com/gcu-count", "enflame.com/vgcu-percentage", "enflame.com/gcu-core"),
        {
            "enflame.com/gcu-drs-capacity": _json(slices),
            "enflame.com/gcu-shared-capacity": _json(st.dictionaries(small.map(str), small)),
        },
        {
            "enflame.com/gcu-assigned-index": numbers,
            "enflame.com/gcu-assigned-minor": numbers,
            "enflame.com/gcu-assigned-id": numbers,
            "assigned-containers": _json(given_out),
        },
    ),
    "aws-neuron": Vendor(
        ("aws.amazon.com/neuron", "aws.amazon.com/neurondevice", "aws.amazon.com/neuroncore"),
        ("aws.amazon.com/neuron", "aws.amazon.com/neurondevice", "aws.amazon.com/neuroncore"),
        pod={
            "AWS_NEURON_IDS": numbers,
            "NEURON_CORES": numbers,
            "NEURON_RESOURCE_TYPE": st.sampled_from(["aws.amazon.com/neuroncore", "aws.amazon.com/neuron"]),
        },
    ),
    "hami": Vendor(
        ("amd.com/gpu", "birentech.com/gpu", "vastaitech.com/va"),
        (),
        ("amd.com/gpumem", "amd.com/gpucores"),
        {
            "hami.io/node-amd-register": _json(register),
            "hami.io/node-biren-register": _json(register),
            "hami.io/node-va-register": _json(register),
        },
        {
            "hami.io/amd-devices-allocated": record,
            "hami.io/Biren-devices-allocated": record,
            "hami.io/Vastai-devices-allocated": record,
        },
    ),
}


def _annotations(good: dict[str, Text]) -> SearchStrategy[dict[str, str]]:
    strange = st.one_of(texts, _json(json_values))
    return st.fixed_dictionaries({}, optional={name: st.one_of(value, strange) for name, value in good.items()})


def _asked(vendor: Vendor) -> SearchStrategy[Any]:
    return st.dictionaries(st.sampled_from(vendor.counting + vendor.beside), quantities, max_size=3)


def nodes(vendor: Vendor) -> SearchStrategy[Any]:
    """Any node with this vendor's cards."""
    stated = {"gpudash.io/card-count": texts, "gpudash.io/card-memory": texts, **vendor.node}
    metadata = st.fixed_dictionaries({"name": st.just("n"), "annotations": _annotations(stated)})
    status = st.fixed_dictionaries({"capacity": _asked(vendor)}, optional={"allocatable": _asked(vendor)})
    return st.fixed_dictionaries({"metadata": metadata, "status": status})


def pods(vendor: Vendor) -> SearchStrategy[Any]:
    """Any pods that ask for this vendor's cards."""
    container = st.fixed_dictionaries(
        {"name": st.sampled_from("abc"), "resources": st.fixed_dictionaries({"limits": _asked(vendor)})},
        optional={"restartPolicy": st.just("Always")},
    )
    some = st.lists(container, max_size=3, unique_by=lambda item: item["name"])
    pod = st.fixed_dictionaries(
        {
            "metadata": st.fixed_dictionaries(
                {"name": texts, "uid": st.uuids().map(str), "annotations": _annotations(vendor.pod)}
            ),
            "spec": st.fixed_dictionaries(
                {"nodeName": st.just("n")}, optional={"containers": some, "initContainers": some}
            ),
            "status": st.fixed_dictionaries({"phase": st.sampled_from(["Running", "Pending", "Failed", None])}),
        }
    )
    return st.lists(pod, max_size=4)


def _now(pod: Pod) -> Pod:
    """The pod without the init containers that have ended: where a scheduler records what each has, they hold nothing more."""
    if pod.spec is None or pod.status is None or pod.status.phase != "Running":
        return pod
    left = [item for item in pod.spec.initContainers or () if item.restartPolicy == "Always"]
    return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, initContainers=left))


OBJECTS = {name: st.tuples(nodes(vendor), pods(vendor)) for name, vendor in VENDORS.items()}


@pytest.mark.parametrize(
    "text", ["1" * 5000, "[" * 5000, '{"a":' * 5000, '[{"uuid":"a","totalVRam":' + "9" * 5000 + "}]"]
)
@pytest.mark.parametrize("name", VENDORS)
def test_what_is_too_long_or_too_deep_is_no_record(name: str, text: str) -> None:
    vendor = VENDORS[name]
    asked, offered = dict.fromkeys(vendor.counting, "1"), dict.fromkeys(vendor.counting, "4")
    node = {"metadata": {"annotations": dict.fromkeys(vendor.node, text)}, "status": {"capacity": offered}}
    pod = {
        "metadata": {"name": "p", "uid": "u", "annotations": dict.fromkeys(vendor.pod, text)},
        "spec": {"nodeName": "n", "containers": [{"name": "a", "resources": {"limits": asked}}]},
    }
    found = node_report(*laws.decoded(node, [pod]), CONTEXT)
    laws.adds_up(found)
    assert set(laws.promised(found)) & set(vendor.counting)
    assert {item.card for item in laws.held(found)} == {None}


@pytest.mark.parametrize("name", first_and_rest(VENDORS))
@few
@given(data=st.data())
def test_no_holder_is_lost_and_accounts_add_up(name: str, data: DataObject) -> None:
    vendor = VENDORS[name]
    node, some = laws.decoded(*data.draw(OBJECTS[name]))
    found = node_report(node, some, CONTEXT)
    laws.adds_up(found)
    laws.is_the_same_of_what_is_kept(node, some, CONTEXT)
    asking = {pod.metadata.uid for pod in some if holds(pod) and requests(_now(pod), vendor.counting.__contains__)}
    assert {item.pod_uid for item in laws.held(found)} >= asking
    promised = laws.promised(found)
    for resource in vendor.exact:
        needs = [need for pod in some if holds(pod) for need in requests(pod, {resource}.__contains__)]
        assert promised[resource] == sum(need.quantity for need in needs), resource
