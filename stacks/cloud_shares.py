"""Stacks of clouds that say how much of a card is held, and most of them not of which card.

TKE qGPU (Tencent; memory in GiB), mGPU (Volcengine; MiB, names the card), xGPU (Huawei CCE; units of 128 MiB) and cGPU (Baidu
CCE; GiB, with model and memory of the card in the name of the resource). Sources: the documentation of the clouds; for mGPU a
proposal of the scheduler that they build on.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from kube.objects import Node, Pod
from stacks.engine.base import MEMORY, ONLY_CARD, Allocation, Card, Context, StackReport
from stacks.engine.labels import GIB, MIB
from stacks.engine.names import MAX_CARDS
from stacks.engine.offers import offer
from stacks.engine.requests import Need, holds, requests
from stacks.engine.stack import Kept, NodeLabels, Stack
from stacks.shared import cores
from stacks.shared.holding import held

NAME = "cloud-shares"
_MGPU = "vke.volcengine.com/gpu-index-container-"


def _record(need: Need) -> tuple[str, ...]:
    # By the container's name; a sample of the proposal has its place.
    return (f"{_MGPU}{need.container}", f"{_MGPU}{need.position}")


_KINDS = (
    cores.Kind("tke.cloud.tencent.com/qgpu-core", "tke.cloud.tencent.com/qgpu-memory", GIB),
    cores.Kind("vke.volcengine.com/mgpu-core", "vke.volcengine.com/mgpu-memory", MIB, _record),
    cores.Kind("volcano.sh/gpu-core.percentage", "volcano.sh/gpu-mem.128Mi", 128 * MIB),
)
_PLAIN = tuple(name for kind in _KINDS for name in (kind.cores, kind.memory))
#: The card, its memory in GB, and what is counted: cards where nothing follows.
_NAMED = re.compile(r"(baidu\.com/([a-z0-9]{1,20})_([1-9][0-9]{0,2})g_cgpu)(_core|_memory|_memory_percent)?")


class _Named(NamedTuple):
    """Cards of one model. base: the resource that counts them."""

    base: str
    model: str
    memory: int


def owns(resource: str, context: Context) -> bool:
    """The plain names, and those with the name of any card."""
    return resource in _PLAIN or _NAMED.fullmatch(resource) is not None


def read(node: Node, pods: list[Pod], context: Context) -> StackReport | None:
    """Cards and holders by count. None when the node has none of these resources and no pod holds one."""
    found = next((report for kind in _KINDS if (report := cores.read(NAME, kind, node, pods)) is not None), None)
    return found if found is not None else _named(node, pods)


def _named(node: Node, pods: list[Pod]) -> StackReport | None:
    asking = [
        (pod, needs)
        for pod in pods
        if holds(pod) and (needs := requests(pod, lambda name: _NAMED.fullmatch(name) is not None))
    ]
    status = node.status
    offered = {**(status.capacity or {}), **(status.allocatable or {})} if status else {}
    models = {made.base: made for name in sorted(offered) if (made := _model(name)) is not None}
    if not models and not asking:
        return None
    counted = {base: _count(node, made) for base, made in models.items()}
    known = not any(number is None for number in counted.values())
    cards: list[Card] = []
    for base, made in models.items():
        cards += [_card(made, index) for index in range(len(cards), len(cards) + (counted[base] or 0))]
    only = "0" if known and len(cards) == 1 else None
    totals = [number * models[base].memory for base, number in counted.items() if number is not None]
    return StackReport(
        stack=NAME,
        cards=tuple(cards),
        cards_known=known and bool(models),
        allocations=tuple(item for pod, needs in asking for item in _pod(pod, needs, only)),
        memory_total_bytes=sum(totals) if known and models else None,
    )


def _model(resource: str) -> _Named | None:
    match = _NAMED.fullmatch(resource)
    return _Named(match[1], match[2].upper(), int(match[3]) * GIB) if match else None


def _count(node: Node, made: _Named) -> int | None:
    """How many cards: by their cores or their memory, which a card has a known amount of; else what is counted."""
    for ending, each in (("_core", 100), ("_memory", made.memory // GIB), ("_memory_percent", 100), ("", 1)):
        slots = offer(node, made.base + ending).slots
        if slots is not None:
            return slots // each if slots % each == 0 and slots // each <= MAX_CARDS else None
    return None


def _card(made: _Named, index: int) -> Card:
    source = f"resource {made.base}"
    return Card(
        key=str(index),
        stack=NAME,
        mode=MEMORY,
        index=index,
        model=made.model,
        model_source=source,
        memory_total_bytes=made.memory,
        memory_physical_bytes=made.memory,
        memory_source=source,
        resource=made.base,
    )


def _pod(pod: Pod, needs: list[Need], only: str | None) -> list[Allocation]:
    """One hold for each container and model."""
    groups: dict[tuple[str, bool, int, str], dict[str, int]] = {}
    for need in needs:
        if made := _model(need.resource):
            key = (need.container, need.init, need.position, made.base)
            groups.setdefault(key, {})[need.resource.removeprefix(made.base)] = need.quantity
    return [_hold(pod, key[0], key[3], asked, only) for key, asked in groups.items()]


def _hold(pod: Pod, container: str, base: str, asked: dict[str, int], only: str | None) -> Allocation:
    made, number, core = _model(base), asked.get("", 1), asked.get("_core")
    each = made.memory if made is not None else 0
    if asked.keys() <= {""}:
        return held(pod, container, base, number, NAME, memory=each * number, whole=True)
    memory = asked["_memory"] * GIB if "_memory" in asked else None
    if memory is None and "_memory_percent" in asked:
        memory = each * asked["_memory_percent"] // 100
    ending = next(name for name in ("_memory", "_memory_percent", "_core") if name in asked)
    # Whether an amount is that of each of several cards is not documented.
    memory, card = (memory, only) if number == 1 else (None, None)
    return held(
        pod, container, base + ending, asked[ending], NAME, card=card, memory=memory, core=core, evidence=ONLY_CARD
    )


STACK = Stack(
    name=NAME,
    label="Clouds: qGPU, mGPU, xGPU, cGPU",
    resources=(*_PLAIN, "baidu.com/v100_32g_cgpu", "baidu.com/v100_32g_cgpu_memory"),
    owns=owns,
    read=read,
    resource_prefixes=("tke.cloud.tencent.com/qgpu", "vke.volcengine.com/mgpu", "baidu.com/"),
    node_labels=NodeLabels(names=("tke.cloud.tencent.com/qgpu-schedule-policy", "vke.node.gpu.schedule")),
    kept=Kept(pod_annotations=(_MGPU,)),
)
