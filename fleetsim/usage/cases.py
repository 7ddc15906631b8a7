"""Which cards of the demo's fleet have something wrong, as their exporters see it, and who holds a card for nothing.

| what | where |
| --- | --- |
| so hot that it slows itself down | second H100 node, card 1; first L40S node, card 2 |
| fallen off the bus (Xid 79), which is all that is told of it | second H100 node, 5; last A100 node, 7; second DRA node, 3 |
| a memory error (Xid 94), a row to be remapped | first A100 node, card 2 |
| an application's fault (Xid 31) | first L40S node, card 1 |
| a process whose memory grows for hours, to the brim | the edge node's card; first DRA node, the card that two pods share |
| a process that is no pod's: it outlived its own | third ACK Windows node; first H100 node and first L40S node, the last card |
| an exporter that answers 503 from the beginning | second A100 node in MIG mode |
| an exporter that falls silent after three minutes | second HAMi node |
| idle | who has the first card of the first A100 node; `cad-stream`; some of the notebooks and services |

A small fleet has what it has the node for. What nodes and kubelets say of the same cards is in `ailments.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fleetsim.machines import Machine
from fleetsim.migtypes import DRA_CARDS, MIG_MIXED_A100
from fleetsim.nodetypes import A100, ALIBABA_WINDOWS, EDGE_GIB, H100, HAMI, L40S, NodeType
from fleetsim.usage import noise
from fleetsim.usage.kinds import Kind
from fleetsim.usage.value import Case

#: Cards of the second H100 node.
HOT, FALLEN = 1, 5
#: Workloads that do nothing, whatever they are.
IDLE_WORKLOADS = ("cad-stream",)
#: One of so many does nothing.
_IDLE_NOTEBOOKS, _IDLE_SERVICES = 2, 8
_TRAINS = ("train", "tune", "learner")

Pod = dict[str, Any]


def _named(kind: NodeType, number: int) -> str:
    return kind.name.format(number)


_PLANTED: dict[tuple[str, int], str] = {
    (_named(H100, 2), HOT): Case.HOT,
    (_named(H100, 2), FALLEN): Case.LOST,
    (_named(H100, 1), H100.cards - 1): Case.STRAY,
    (_named(A100, 1), 2): Case.ECC,
    (_named(L40S, 1), 1): Case.APPLICATION,
    (_named(L40S, 1), 2): Case.HOT,
    (_named(L40S, 1), L40S.cards - 1): Case.STRAY,
    (_named(ALIBABA_WINDOWS, 3), 0): Case.STRAY,
    (_named(EDGE_GIB, 1), 0): Case.LEAK,
    (_named(DRA_CARDS, 1), 0): Case.LEAK,
    (_named(DRA_CARDS, 2), DRA_CARDS.cards - 1): Case.LOST,
}
#: Who has this card does nothing.
_IDLE = (_named(A100, 1), 0)


def planted(machines: Iterable[Machine]) -> dict[tuple[str, int], str]:
    """(node, card) → its case."""
    last = [machine for machine in machines if machine.kind is A100][-1:]
    return _PLANTED | {(machine.name, machine.kind.cards - 1): Case.LOST for machine in last}


def kind_of(pod: Pod, node: str, cards: Iterable[int]) -> Kind:
    """What a pod is at. cards: those that it has."""
    metadata = pod["metadata"]
    owner = next(iter(metadata.get("ownerReferences") or [{}]))
    name, of = str(metadata["name"]), str(owner.get("kind", ""))
    if (metadata.get("labels") or {}).get("gpudash.io/suite"):
        return Kind.TEST
    if name.startswith(IDLE_WORKLOADS) or (node == _IDLE[0] and _IDLE[1] in cards):
        return Kind.IDLE
    lot = noise.seed_of(metadata["uid"], "idle")
    if of == "Notebook":
        return Kind.NOTEBOOK if lot % _IDLE_NOTEBOOKS else Kind.IDLE
    if of == "PyTorchJob" or any(word in name for word in _TRAINS):
        return Kind.TRAINING
    if of == "Job":
        return Kind.BATCH
    return Kind.SERVING if lot % _IDLE_SERVICES else Kind.IDLE


#: What an exporter does that tells nothing: it answers 503, or does not answer.
FAILS, GONE = "fails", "gone"
#: (node, DaemonSet) → what its exporter does, from so many seconds after the start of the fleet on.
_SILENT = {
    (_named(MIG_MIXED_A100, 2), "nvidia-dcgm-exporter"): (FAILS, 0.0),
    (_named(HAMI, 2), "hami-device-plugin"): (GONE, 180.0),
}


def silent(node: str, exporter: str, age_s: float) -> str:
    """What is the matter with an exporter; "" where it speaks. age_s: of the fleet."""
    trouble, after_s = _SILENT.get((node, exporter), ("", 0.0))
    return trouble if age_s >= after_s else ""
