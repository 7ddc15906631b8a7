"""Which nodes a stack gets: none that another stack allocates, and none that a cloud manages."""

from __future__ import annotations

import time

import pytest

from stacks.engine.makers import chosen, maker
from stacks.engine.preparing import prepare
from tests.stacks.setup.clusters import card, cluster, control_plane, file, node, windows

NODES = [
    control_plane(),
    card("plain"),
    card("nvidia", capacity={"nvidia.com/gpu": "8"}),
    card("shared", capacity={"aliyun.com/gpu-mem": "120", "aliyun.com/gpu-count": "8"}, gpushare="true"),
    card("volcano", capacity={"volcano.sh/vgpu-number": "10"}),
    card("ack", **{"ack.node.gpu.schedule": "share"}),
    card("labelled", gpu="on"),
    card("zero", capacity={"nvidia.com/gpu": "0"}),
    windows("win"),
    node("cpu"),
]


def labelled(stack: str, label: str) -> set[str]:
    lines = file(prepare(stack, cluster("v1.30.4", NODES)), "commands.sh").splitlines()
    return {line.split()[3] for line in lines if line.startswith("kubectl label node") and f" {label} " in line}


def test_gpushare_takes_no_node_of_another_stack() -> None:
    assert labelled("gpushare", "gpushare=true") == {"plain", "nvidia", "labelled", "zero"}


def test_hami_takes_no_node_of_another_stack() -> None:
    assert labelled("hami", "gpu=on") == {"plain", "nvidia", "ack", "zero"}


def test_the_operators_plugin_keeps_off_cards_of_others() -> None:
    label = "nvidia.com/gpu.deploy.device-plugin=false"
    assert labelled("nvidia", label) == {"shared", "volcano"}
    assert any(
        one.startswith("Other stacks allocate the cards of these nodes: shared, volcano. ") for one in said_of("nvidia")
    )
    machines = [card("vm", capacity={"nvidia.com/pgpu": "2"}, **{"nvidia.com/gpu.workload.config": "vm-passthrough"})]
    assert label not in file(prepare("nvidia", cluster("v1.36.0", machines)), "commands.sh")


def said_of(stack: str) -> tuple[str, ...]:
    return prepare(stack, cluster("v1.30.4", NODES)).warnings


def test_what_is_taken_and_what_moves_is_said() -> None:
    said = said_of("gpushare")
    assert any(one.startswith("Other stacks allocate the cards of these nodes: volcano. ") for one in said)
    assert any(
        one.startswith("The device plugin of the vendor offers the cards of these nodes now: nvidia. ") for one in said
    )
    assert any("(label ack.node.gpu.schedule): ack. " in one for one in said)


def test_kubelets_without_the_alpha_resource_get_no_label() -> None:
    mixed = [card("old", version="v1.8.4", runtime="docker://17.3.2"), card("new", version="v1.30.4")]
    prepared = prepare("alpha", cluster("v1.8.4", mixed))
    assert "kubectl label node old " in file(prepared, "commands.sh")
    assert "node new" not in file(prepared, "commands.sh")
    assert any(one.startswith("The kubelets of new have Kubernetes 1.11 or newer") for one in prepared.warnings)


def test_an_unknown_maker_is_an_error_of_the_code() -> None:
    with pytest.raises(LookupError, match="no stack for the vendor Acme"):
        maker("Acme")
    assert chosen((), "gpushare", "NVIDIA") == ((), (), ())


@pytest.mark.parametrize("stack", ["gpushare", "hami", "nvidia", "directx-alibaba", "directx-tensorworks"])
def test_a_large_cluster_takes_no_longer_than_its_nodes(stack: str) -> None:
    nodes = [card(f"gpu-{number}") for number in range(2_500)] + [windows(f"win-{number}") for number in range(2_500)]
    found = cluster("v1.30.4", nodes)
    started = time.process_time()
    prepare(stack, found)
    assert time.process_time() - started < 10
