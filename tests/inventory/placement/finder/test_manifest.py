"""The pods that the finder writes for recorded nodes of each stack, whole. `GOLDEN=rewrite` writes the expectations anew.

`tests/cluster/test_scheduler.py` has a real API server check the same files.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest
import yaml

from inventory.models import Cluster, Node, ResourceSlice
from inventory.placement.finder.finder import find
from inventory.placement.finder.manifest import manifests
from inventory.placement.finder.request import Request, read
from tests.factories import GIB, make_cluster, make_node
from tests.factories.batch import make_case
from tests.inventory.placement.finder.test_finder import TAINT, say

pytestmark = pytest.mark.django_db
GOLDEN = Path(__file__).parent / "golden" / "manifests"
_ONE, _MEMORY, _TWO = Request(), Request(memory=4 * GIB), Request(cards=2, memory=12 * GIB)
CASES = {
    "alpha": _ONE,
    "amd-whole": _TWO,
    "ascend-device-info": _TWO,
    "directx-microsoft-device-status": _ONE,
    "directx-tensorworks": _ONE,
    "dra-amd-partitions": _TWO,
    "dra-consumable": _MEMORY,
    "dra-parts-made-before": _MEMORY,
    "dra-v1beta1-and-another-driver": _MEMORY,
    "dra-whole-cards": Request(memory=12 * GIB),
    "gpushare-left-out": _MEMORY,
    "gpushare-v2-containers-and-cards": _TWO,
    "hami-7-fields": _MEMORY,
    "hami-ascend": _TWO,
    "kai-memory": _ONE,
    "mig-mixed-labels-stale": Request(cards=2),
    "nvidia-idle": Request(cards=2, cpu_millis=8500, host_memory=64 * GIB),
    "volcano-vgpu": _TWO,
}


@pytest.mark.parametrize("case", CASES)
def test_a_pod_for_a_recorded_node(case: str) -> None:
    name = make_case(make_cluster("case"), case, ready=True)
    own = msgspec.json.decode(Node.objects.get().facts)["metadata"].get("labels", {})
    say(name, metadata={"labels": own | {"kubernetes.io/hostname": name}})
    [text] = manifests(find(CASES[case]).taking, CASES[case])
    path = GOLDEN / f"{case}.yaml"
    if os.environ.get("GOLDEN") == "rewrite":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert text == path.read_text()


def test_every_golden_pod_has_its_case() -> None:
    assert {path.stem for path in GOLDEN.iterdir()} == set(CASES)


def test_it_tolerates_the_taints_and_is_selected_by_name_where_the_node_has_no_label(cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 1, loads=(0.0,))
    say("a", spec={"taints": [TAINT, {"key": "only", "effect": "NoExecute"}, TAINT | {"effect": "PreferNoSchedule"}]})
    asked = read({"tolerate": ["*"]})
    [text] = manifests(find(asked).taking, asked)
    spec = yaml.safe_load(text)["spec"]
    assert spec["tolerations"] == [
        {"key": "nvidia.com/gpu", "operator": "Equal", "value": "present", "effect": "NoSchedule"},
        {"key": "only", "operator": "Exists", "effect": "NoExecute"},
    ]
    assert spec["nodeSelector"] == {"kubernetes.io/hostname": "a"}
    say("a", metadata={"labels": {}})
    [text] = manifests(find(asked).taking, asked)
    spec = yaml.safe_load(text)["spec"]
    assert "nodeSelector" not in spec
    [term] = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term == {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}


@pytest.mark.parametrize(
    ("kubelet", "version"),
    [("v1.36.3", "v1"), ("v1.34.0", "v1"), ("v1.33.9", "v1beta2"), ("v1.32.1-gke", "v1beta1"), ("", "v1")],
)
def test_a_template_is_of_the_version_that_the_cluster_has(kubelet: str, version: str) -> None:
    make_case(make_cluster("case"), "dra-whole-cards", ready=True)
    say(Node.objects.get().name, status={"nodeInfo": {"kubeletVersion": kubelet}})
    [text] = manifests(find(_MEMORY).taking, _MEMORY)
    template, _pod = yaml.safe_load_all(text)
    assert template["apiVersion"] == f"resource.k8s.io/{version}"
    [request] = template["spec"]["spec"]["devices"]["requests"]
    assert ("deviceClassName" in request) == (version == "v1beta1")


def test_what_slices_do_not_say_is_not_made_up() -> None:
    make_case(make_cluster("case"), "dra-whole-cards", ready=True)
    ResourceSlice.objects.update(facts="{")
    assert manifests(find(_MEMORY).taking, _MEMORY) == [""]


def test_names_of_the_cluster_stay_texts(cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 1, loads=(0.0,))
    say("a", metadata={"labels": {"kubernetes.io/hostname": "1e3"}}, spec={"taints": [TAINT | {"value": "true"}]})
    asked = read({"tolerate": ["*"]})
    [text] = manifests(find(asked).taking, asked)
    spec = yaml.safe_load(text)["spec"]
    assert spec["nodeSelector"] == {"kubernetes.io/hostname": "1e3"}
    assert spec["tolerations"][0]["value"] == "true"
