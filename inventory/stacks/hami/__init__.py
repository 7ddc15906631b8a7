"""HAMi: parts of NVIDIA cards by memory and cores, recorded on nodes and pods as annotations.

`nvidia.com/gpu` on a node with HAMi's register is a number of slots, not of cards. The register says which cards there are,
the pod's record which of them each container got. Only the register of NVIDIA cards is read; those of other vendors show as
not understood.
"""

from __future__ import annotations

import re

import msgspec

from inventory.stacks.engine.base import (
    ANNOTATION,
    COUNT_ONLY,
    ERROR,
    HEALTHY,
    INFO,
    MEMORY,
    UNHEALTHY,
    WARNING,
    Allocation,
    Card,
    Context,
    Finding,
    StackReport,
)
from inventory.stacks.engine.describe import Described, describe
from inventory.stacks.engine.labels import MIB
from inventory.stacks.engine.names import annotations_of
from inventory.stacks.engine.offers import offer, shortfall
from inventory.stacks.engine.overrides import overrides
from inventory.stacks.engine.requests import asked, devices, holds, name_of
from inventory.stacks.engine.stack import Components, Kept, NodeLabels, Stack
from inventory.stacks.hami.records import ALLOCATED, REGISTER, Device, Registered, allocated, register, slots_of
from kube.objects import Container, Node, Pod

NAME = "hami"
GPU = "nvidia.com/gpu"
GPU_MEMORY = "nvidia.com/gpumem"
#: What HAMi adds to a request of `nvidia.com/gpu`: properties of the slots, held together with them.
RESOURCES = (GPU_MEMORY, "nvidia.com/gpumem-percentage", "nvidia.com/gpucores", "nvidia.com/priority")
_NODE_PREFIX = "hami.io/node-"
_CORDON = "hami.io/device-cordon"
_PHASE, _TIME = "hami.io/bind-phase", "hami.io/bind-time"
_OTHER_REGISTER = re.compile(r"hami\.io/node-(?:[a-z0-9]+-)?register(?:-[A-Za-z0-9.-]+)?")


def marks(node: Node) -> bool:
    """Whether HAMi has registered cards of this node: its `nvidia.com/gpu` are then slots, counted here."""
    annotations = node.metadata.annotations
    if not annotations:
        return False
    return any(name.startswith(_NODE_PREFIX) and "register" in name for name in annotations)


def read(node: Node, pods: list[Pod], context: Context) -> StackReport | None:
    """Cards by the register, holders by the pods' records. None when HAMi has registered no cards of this node."""
    if not marks(node):
        return None
    findings = _other_vendors(node)
    listed = _registered(node, findings)
    keys = {card.uuid for card in listed or ()}
    about = describe(node, overrides(node))
    allocations: list[Allocation] = []
    due: list[float] = []
    for pod in pods:
        if holds(pod) and (asks := _asks(pod)):
            allocations += _of_pod(pod, asks, keys, listed is not None, findings)
            due += _binding(pod, context, findings)
    findings += shortfall(GPU, offer(node, GPU), "HAMi gives out fewer slots than the cards have.")
    return StackReport(
        stack=NAME,
        cards=tuple(_card(card, about) for card in listed or ()),
        cards_known=listed is not None,
        allocations=tuple(allocations),
        findings=tuple(findings),
        recheck_at=min(due, default=None),
        memory_total_bytes=_total(node, listed),
    )


def _registered(node: Node, findings: list[Finding]) -> list[Registered] | None:
    text = annotations_of(node).get(REGISTER)
    if text is None:
        return None
    listed = register(text)
    if listed is None:
        said = f"The annotation {REGISTER} of this node cannot be read, so its cards are not known. Restart HAMi's device plugin."
        findings.append(Finding(code="annotation-unreadable", severity=WARNING, text=said))
        return None
    if listed.repeated:
        said = f"The annotation {REGISTER} of this node names {', '.join(listed.repeated[:5])} more than once; the first counts."
        findings.append(Finding(code="annotation-unreadable", severity=WARNING, text=said))
    return listed.cards


def _other_vendors(node: Node) -> list[Finding]:
    names = (name for name in annotations_of(node) if name != REGISTER and _OTHER_REGISTER.fullmatch(name))
    return [
        Finding(
            code="resource-not-understood",
            severity=INFO,
            text=f"{name} lists cards of another vendor, which gpudash does not read. They are not in the totals of this node.",
        )
        for name in names
    ]


def _card(card: Registered, about: Described) -> Card:
    return Card(
        key=card.uuid,
        stack=NAME,
        mode=MEMORY,
        index=card.index,
        uuid=card.uuid,
        model=card.type.removeprefix("NVIDIA-") or about.model,
        model_source=f"annotation {REGISTER}" if card.type else about.model_source,
        health=HEALTHY if card.healthy else UNHEALTHY,
        memory_total_bytes=card.memory,
        memory_physical_bytes=about.memory_bytes,
        memory_source=f"annotation {REGISTER}",
        shares=card.shares,
    )


def _total(node: Node, listed: list[Registered] | None) -> int | None:
    """What HAMi can still give out: the memory of cards that are healthy and not cordoned."""
    if listed is None:
        return None
    cordoned = {part.strip() for part in annotations_of(node).get(_CORDON, "").split(",")}
    return sum(card.memory for card in listed if card.healthy and card.uuid not in cordoned)


def _number(container: Container, resource: str) -> int:
    return next((devices(value) or 0 for name, value in asked(container) if name == resource), 0)


class _Asks(msgspec.Struct):
    """The containers of a pod, and how many devices each asks for."""

    init: list[Container]
    app: list[Container]

    def counts(self, containers: list[Container]) -> list[int]:
        return [_number(container, GPU) for container in containers]

    def __bool__(self) -> bool:
        return any(self.counts(self.app)) or any(self.counts(self.init))


def _asks(pod: Pod) -> _Asks:
    spec = pod.spec
    if spec is None:
        return _Asks([], [])
    # A sidecar runs beside the app containers, so it holds what it has for as long as they do.
    sidecars = [item for item in spec.initContainers or () if item.restartPolicy == "Always"]
    init = [item for item in spec.initContainers or () if item.restartPolicy != "Always"]
    return _Asks(init, [*(spec.containers or ()), *sidecars])


class _Got(msgspec.Struct):
    """What a container holds of one card (uuid None: not known which)."""

    container: str
    uuid: str | None
    quantity: int
    memory: int | None
    core: int | None


def _of_pod(pod: Pod, asks: _Asks, keys: set[str], registered: bool, findings: list[Finding]) -> list[Allocation]:
    text = annotations_of(pod).get(ALLOCATED)
    slots = allocated(text) if text is not None else None
    if text is not None and slots is None:
        findings.append(
            _finding("annotation-unreadable", WARNING, pod, f"The annotation {ALLOCATED} of {{pod}} cannot be read.")
        )
    if text is None:
        said = "{pod} holds a slot of HAMi, but no card is recorded on it. Look whether HAMi's scheduler has placed it."
        findings.append(_finding("bound-without-card", WARNING, pod, said))
    got = _got(pod, asks, slots or [], findings if slots is not None else [])
    strange = sorted({item.uuid for item in got if item.uuid is not None and item.uuid not in keys})
    if strange and registered:
        said = f"{{pod}} is recorded on {', '.join(strange[:5])}, which is not in the register of this node."
        findings.append(_finding("index-out-of-range", ERROR, pod, said))
    return _allocations(pod, got, keys)


def _got(pod: Pod, asks: _Asks, slots: list[list[Device]], findings: list[Finding]) -> list[_Got]:
    """What every container holds; what is asked for and not recorded has no card."""
    wanted = asks.counts(asks.app)
    init, app = slots_of(slots, asks.counts(asks.init), wanted)
    got: list[_Got] = []
    for place, container in enumerate(asks.app):
        mine = app[place] if place < len(app) else []
        got += [_Got(container.name, item.uuid, 1, item.memory, item.core) for item in mine]
        if len(mine) < wanted[place]:
            got.append(_unrecorded(container, wanted[place] - len(mine)))
    recorded, expected = sum(len(slot) for slot in app), sum(wanted)
    if recorded != expected:
        said = f"{{pod}} asks for {expected} of {GPU}, but {recorded} devices are recorded on it."
        findings.append(_finding("request-annotation-mismatch", WARNING, pod, said))
    if pod.status is None or pod.status.phase != "Running":
        got += _excess(asks, init, got)
    return got


def _unrecorded(container: Container, missing: int) -> _Got:
    each = _number(container, GPU_MEMORY)
    # Without a stated amount HAMi gives the whole card, whose size is not known where the card is not.
    return _Got(container.name, None, missing, each * MIB * missing if each else None, None)


def _excess(asks: _Asks, init: list[list[Device]], got: list[_Got]) -> list[_Got]:
    """Until they are done, init containers keep the larger of what they and the app containers have of a card."""
    more: list[_Got] = []
    peaks: dict[str, tuple[int, int, str]] = {}
    for container, slot in zip(asks.init, init, strict=False):
        for uuid in {item.uuid for item in slot}:
            mine = [item for item in slot if item.uuid == uuid]
            peak = (sum(item.memory for item in mine), len(mine), container.name)
            peaks[uuid] = max(peaks.get(uuid, (0, 0, "")), peak)
    for uuid, (memory, number, name) in peaks.items():
        held = [item for item in got if item.uuid == uuid]
        extra = memory - sum(item.memory or 0 for item in held)
        if len(held) < number:
            more.append(_Got(name, uuid, number - len(held), max(extra, 0), None))
        elif extra > 0:
            held[0].memory = (held[0].memory or 0) + extra
    return more


def _allocations(pod: Pod, got: list[_Got], keys: set[str]) -> list[Allocation]:
    return [
        Allocation(
            pod_uid=pod.metadata.uid,
            namespace=pod.metadata.namespace,
            pod=pod.metadata.name,
            container=item.container,
            resource=GPU,
            quantity=item.quantity,
            evidence=ANNOTATION if item.uuid in keys else COUNT_ONLY,
            stack=NAME,
            card=item.uuid if item.uuid in keys else None,
            memory_bytes=item.memory,
            core_percent=item.core,
            mode=MEMORY,
        )
        for item in got
    ]


def _binding(pod: Pod, context: Context, findings: list[Finding]) -> list[float]:
    """`assumed-not-assigned` for a binding that is stuck; for a younger one the time at which it will be."""
    annotations = annotations_of(pod)
    since = _seconds(annotations.get(_TIME))
    if annotations.get(_PHASE) != "allocating" or since is None:
        return []
    due = since + context.assume_timeout_s
    if context.now < due:
        return [due]
    said = (
        f"{{pod}} was given a card more than {context.assume_timeout_s // 60} minutes ago and HAMi's device plugin has not "
        "confirmed it. Look at the pod's events and the plugin's log."
    )
    findings.append(_finding("assumed-not-assigned", WARNING, pod, said))
    return []


def _seconds(text: str | None) -> float | None:
    """Unix seconds as text; None when missing or of another form."""
    return float(text) if text is not None and len(text) <= 12 and text.isascii() and text.isdigit() else None


def _finding(code: str, severity: str, pod: Pod, text: str) -> Finding:
    name = name_of(pod)
    return Finding(code=code, severity=severity, text=text.replace("{pod}", name), pod=name)


_PLUGIN = "hami-device-plugin"

STACK = Stack(
    name=NAME,
    label="HAMi",
    resources=RESOURCES,
    read=read,
    marks=marks,
    takes=(GPU,),
    node_labels=NodeLabels(names=("gpu",)),
    components=Components(
        by_label={"app.kubernetes.io/component": {_PLUGIN: _PLUGIN, "hami-scheduler": "hami-scheduler"}},
        device_plugins=(_PLUGIN,),
    ),
    kept=Kept(
        pod_labels=("hami.io/vgpu-node",),
        pod_annotations=("hami.io/", "nvidia.com/use-gpu", "nvidia.com/nouse-gpu"),
        node_annotations=(_NODE_PREFIX, _CORDON),
        # Change with every registration, or are large, and are not read.
        node_annotations_dropped=("hami.io/node-handshake", "hami.io/node-nvidia-score"),
    ),
)
