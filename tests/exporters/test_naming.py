"""Names of cards, nodes and holders: how they are compared, and what is none."""

from __future__ import annotations

import pytest

from exporters import Context
from exporters.engine.holders import EXPORTER, NO_PODS, NOBODY, NOT_A_USER, SEVERAL, Holders, NoHolders, PodLabels
from exporters.engine.identity import index_of, names_a_card, normal_pci, normal_uuid
from exporters.engine.places import Places
from exporters.shared import pods
from tests.exporters.build import NOW

UUID = "11d2a1c4-06c0-7d70-1a51-0c0ffee00001"


@pytest.mark.parametrize("text", [UUID, f"GPU-{UUID}", f"gpu-{UUID.upper()}", f" MIG-{UUID}", f"MIG-GPU-{UUID}"])
def test_forms_of_one_uuid(text: str) -> None:
    assert normal_uuid(text) == UUID


@pytest.mark.parametrize("text", [None, "", "GPU-", "GPU-00000000-0000-0000-0000-000000000000", "0" * 200, "-"])
def test_what_is_no_uuid(text: str | None) -> None:
    assert normal_uuid(text) is None
    assert not names_a_card(text or "")


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("00000000:1A:00.0", "0000:1a:00.0"),
        ("0000:1a:00.0", "0000:1a:00.0"),
        ("1a:00.0", "0000:1a:00.0"),
        ("0002:00:00", "0002:00:00.0"),
        ("10001:3B:1f.7", "10001:3b:1f.7"),
        ("0000:1a:20.0", None),
        ("0000:1a:00.8", None),
        ("0000:1g:00.0", None),
        ("1a", None),
        ("", None),
        (None, None),
        ("0" * 300, None),
        ("٠٠٠٠:1a:00.0", None),
    ],
)
def test_pci_addresses(text: str | None, normal: str | None) -> None:
    assert normal_pci(text) == normal


@pytest.mark.parametrize(
    ("text", "index"),
    [
        ("0", 0),
        ("nvidia15", 15),
        ("card1", 1),
        ("a b1", None),
        ("4095", 4095),
        ("4096", None),
        ("-1", None),
        ("٣", None),
        ("", None),
        (None, None),
    ],
)
def test_numbers_of_cards(text: str | None, index: int | None) -> None:
    assert index_of(text) == index


PLACES = Places(
    Context(
        now=NOW,
        nodes=frozenset(("gpu-1", "gpu-2.example.org", "gpu-3.a.org", "gpu-3.b.org", "10.0.0.9")),
        addresses={"10.0.0.7": "gpu-1", "fd00::7": "gpu-1"},
        exporters={("gpu-operator", "dcgm-x"): "gpu-1"},
    )
)


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("gpu-1", "gpu-1"),
        ("GPU-1", "gpu-1"),
        ("gpu-1:9400", "gpu-1"),
        ("gpu-1.example.org", "gpu-1"),
        ("gpu-2", "gpu-2.example.org"),
        ("gpu-2.example.org:9400", "gpu-2.example.org"),
        ("10.0.0.7:9400", "gpu-1"),
        ("[fd00::7]:9400", "gpu-1"),
        ("fd00::7", "gpu-1"),
        ("10.0.0.9:9400", "10.0.0.9"),
        ("gpu-3", None),
        ("gpu-4", None),
        ("10.0.0.8", None),
        ("10", None),
        ("", None),
        ("[", None),
        (":9400", None),
    ],
)
def test_nodes_by_name_short_name_and_address(text: str, node: str | None) -> None:
    assert PLACES.named(text) == node
    assert PLACES.named(text) == node


def test_the_pod_of_the_exporter_names_its_node() -> None:
    assert PLACES.node({"namespace": "gpu-operator", "pod": "dcgm-x", "Hostname": "dcgm-x"}) == ("gpu-1", "pod")
    assert PLACES.node({"namespace": "other", "pod": "dcgm-x"}) == (None, "")


def test_the_node_of_the_target_is_believed_over_its_labels() -> None:
    places = Places(Context(now=NOW, node="gpu-9", nodes=frozenset(("gpu-1",))))
    assert places.node({"Hostname": "gpu-1"})[0] == "gpu-9"


HOLDERS = Holders(
    Context(now=NOW, exporters={("monitoring", "my-own"): "gpu-1"}, ignored=frozenset((("gpudash", "run-0"),))),
    PodLabels(hidden="several"),
    pods.nvidia("dcgm-exporter", containers=("dcgm-exporter",)),
)


def labels(namespace: str = "ml", pod: str = "t-0", container: str = "main", **more: str) -> dict[str, str]:
    return {"namespace": namespace, "pod": pod, "container": container, **more}


@pytest.mark.parametrize(
    ("row", "holder"),
    [
        (labels(), ("ml", "t-0", "main")),
        ({}, NOBODY),
        (labels(pod=""), NOBODY),
        (labels(namespace=""), NOBODY),
        (labels(container=""), ("ml", "t-0", "")),
        (labels(pod="x" * 300), NOBODY),
        (labels("gpu-operator", "nvidia-dcgm-exporter-x2x4f"), EXPORTER),
        (labels("x", "y", "dcgm-exporter"), EXPORTER),
        (labels("monitoring", "my-own"), EXPORTER),
        (labels("monitoring", "acme-dcgm-exporter"), EXPORTER),
        (labels("ml", "dcgm-exporters"), ("ml", "dcgm-exporters", "main")),
        (labels("gpudash", "run-0"), NOT_A_USER),
        (labels("kai-resource-reservation", "gpu-reservation-x"), NOT_A_USER),
        (labels("gpu-operator", "nvidia-cuda-validator-b7x2k"), NOT_A_USER),
        (labels(pod="several"), SEVERAL),
        # Prometheus has moved the exporter's labels, each where the target has one of that name.
        (
            labels("gpu-operator", "x", "y", exported_namespace="ml", exported_pod="t-0", exported_container="main"),
            ("ml", "t-0", "main"),
        ),
        (
            {"exported_pod": "t-0", "namespace": "ml", "container": "main", "pod": "dcgm-exporter-x"},
            ("ml", "t-0", "main"),
        ),
        (labels("gpu-operator", "nvidia-dcgm-exporter-x2x4f", "x", exported_pod=""), EXPORTER),
    ],
)
def test_holders(row: dict[str, str], holder: object) -> None:
    assert HOLDERS.of(row) == holder
    assert HOLDERS.of(row) == holder


def test_an_exporter_may_have_words_of_its_own_for_a_pod() -> None:
    words = PodLabels(
        pod=("podname", "pod"), namespace=("podnamespace", "namespace"), container=("ctrname", "container")
    )
    holders = Holders(Context(now=NOW), words, pods.nvidia("hami-device-plugin"))
    target = {"namespace": "kube-system", "pod": "hami-device-plugin-x2x4f", "container": "vgpu-monitor"}
    assert holders.of({"podname": "t-0", "podnamespace": "ml", "ctrname": "main", **target}) == ("ml", "t-0", "main")
    assert holders.of(target) == EXPORTER


def test_an_exporter_that_names_no_pods_has_no_holders() -> None:
    assert Holders(Context(now=NOW), NO_PODS, NoHolders()).of(labels()) == NOBODY


def test_the_pod_of_a_target_is_seen_where_a_row_has_both() -> None:
    holders = Holders(Context(now=NOW), PodLabels(), NoHolders())
    assert holders.of(labels("own", "my-gpu-metrics-0")) == ("own", "my-gpu-metrics-0", "main")
    assert holders.targets == set()
    assert holders.of(labels("own", "my-gpu-metrics-0", exported_pod="t-0", exported_namespace="ml")) == (
        "ml",
        "t-0",
        "main",
    )
    assert holders.targets == {("own", "my-gpu-metrics-0")}
