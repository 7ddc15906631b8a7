"""Virtual GPUs of Volcano: which container holds which part of which card, by the record on its pod.

The record has a place for each container that asks, init containers have none. Memory and cores are those of each virtual GPU.
"""

from __future__ import annotations

from kube.objects import Container, Node, Pod
from stacks.engine import health_reports
from stacks.engine.base import HEALTHY, MEMORY, UNHEALTHY, WARNING, Allocation, Card, Context, Finding, StackReport
from stacks.engine.describe import describe
from stacks.engine.labels import MIB
from stacks.engine.names import annotations_of
from stacks.engine.offers import offer, shortfall, states
from stacks.engine.overrides import overrides
from stacks.engine.registry import owner
from stacks.engine.requests import asked, devices, holds, name_of
from stacks.shared.holding import held, warning
from stacks.volcano.register import ALLOCATED, REGISTER, Device, Registered, allocated, factor, register
from stacks.volcano.settings import unit
from wording.said import sentence

NAME = "volcano"
NUMBER, MEMORY_UNITS = "volcano.sh/vgpu-number", "volcano.sh/vgpu-memory"
RESOURCES = (NUMBER, MEMORY_UNITS, "volcano.sh/vgpu-memory-percentage", "volcano.sh/vgpu-cores")
BOUND_TO = "volcano.sh/vgpu-node"


def read(node: Node, pods: list[Pod], context: Context) -> StackReport | None:
    """Cards by the register, holders by the pods' records. None when the node has no virtual GPU and no pod holds one."""
    text = annotations_of(node).get(REGISTER)
    asking = [pod for pod in pods if holds(pod) and _asking(pod)]
    if not asking and (_is_gone(node, context) if text is not None else not _stated(node)):
        return None
    found, findings = register(text) if text is not None else None, list[Finding]()
    if text is not None and found is None:
        said = sentence(
            "The annotation {register} of this node is invalid. Its cards are unknown. Restart the Volcano device plugin.",
            register=REGISTER,
        )
        findings.append(Finding(code="annotation-unreadable", severity=WARNING, text=said))
    about = describe(node, overrides(node))
    size, unit_of = factor(found or [], about.memory_bytes), about.memory_source
    if size is None and about.memory_bytes is None and (told := unit(found or [], context)) is not None:
        size, unit_of = told.factor, told.source
    keys = {card.uuid for card in found} if found is not None else None
    allocations = [item for pod in asking for item in _holding(pod, keys, size, findings)]
    offered = offer(node, NUMBER)
    findings += shortfall(NUMBER, offered, sentence("Volcano offers fewer virtual GPUs than the cards have."))
    healthy = [card.units for card in found or () if card.healthy]
    return StackReport(
        stack=NAME,
        cards=tuple(_card(card, size, about.memory_bytes, unit_of) for card in found or ()),
        cards_known=found is not None,
        allocations=tuple(allocations),
        findings=tuple(findings),
        memory_total_bytes=_bytes(sum(healthy) if offered.allocatable != 0 else 0, size) if found is not None else None,
    )


def _stated(node: Node) -> bool:
    return states(node, NUMBER) or states(node, MEMORY_UNITS)


def _is_gone(node: Node, context: Context) -> bool:
    """Whether the register is left over: the plugin gives out nothing any more, and another system gives out the cards."""
    offered = (node.status.allocatable if node.status else None) or {}
    others = any(owner(name, context) not in (None, NAME) and devices(value) for name, value in offered.items())
    return others and not offer(node, NUMBER).allocatable


def _bytes(units: int | None, size: int | None) -> int | None:
    return units * size * MIB if units is not None and size is not None else None


def _card(card: Registered, size: int | None, physical: int | None, source: str) -> Card:
    return Card(
        key=card.uuid,
        stack=NAME,
        mode=MEMORY,
        uuid=card.uuid,
        model=card.type.removeprefix("NVIDIA-") or None,
        model_source=f"annotation {REGISTER}" if card.type else "",
        health=HEALTHY if card.healthy else UNHEALTHY,
        told=health_reports.of_register(NAME, HEALTHY if card.healthy else UNHEALTHY, f"annotation {REGISTER}"),
        memory_total_bytes=_bytes(card.units, size),
        memory_physical_bytes=physical,
        memory_source=f"annotation {REGISTER}, unit by the {source}" if size is not None else "",
        shares=card.shares,
        units=card.units,
    )


def _of(container: Container, resource: str) -> int:
    return next((devices(value) or 0 for name, value in asked(container) if name == resource), 0)


def _number(container: Container) -> int:
    """Virtual GPUs that a container asks for; memory alone means one."""
    return _of(container, NUMBER) or min(1, _of(container, MEMORY_UNITS))


def _asking(pod: Pod) -> list[Container]:
    return [item for item in (pod.spec.containers if pod.spec else None) or () if _number(item)]


def _holding(pod: Pod, keys: set[str] | None, size: int | None, findings: list[Finding]) -> list[Allocation]:
    asking = _asking(pod)
    slots = _slots(pod, findings)
    found: list[Allocation] = []
    strange: set[str] = set()
    for place, container in enumerate(asking):
        mine: list[Device] = slots[place] if place < len(slots) else []
        for item in mine:
            card = item.uuid if keys is not None and item.uuid in keys else None
            strange |= {item.uuid} if card is None and keys is not None else set()
            memory = _bytes(item.units, size)
            found.append(
                held(pod, container.name, MEMORY_UNITS, item.units, NAME, card=card, memory=memory, core=item.core)
            )
        if (missing := _number(container) - len(mine)) > 0:
            found.append(_unrecorded(pod, container, missing, size))
    recorded, wanted = sum(map(len, slots)), sum(map(_number, asking))
    if slots and recorded != wanted:
        said = sentence(
            "{pod} requests {wanted} of {resource}, but its record has {recorded}.",
            pod=name_of(pod),
            wanted=wanted,
            resource=NUMBER,
            recorded=recorded,
        )
        findings.append(warning("request-annotation-mismatch", pod, said))
    if strange:
        said = sentence(
            "{pod} is recorded on {names}, which this node has not registered.",
            pod=name_of(pod),
            names=", ".join(sorted(strange)[:5]),
        )
        findings.append(warning("index-out-of-range", pod, said))
    return found


def _unrecorded(pod: Pod, container: Container, missing: int, size: int | None) -> Allocation:
    each = _of(container, MEMORY_UNITS)
    if not each:
        return held(pod, container.name, NUMBER, missing, NAME)
    return held(pod, container.name, MEMORY_UNITS, each * missing, NAME, memory=_bytes(each * missing, size))


def _slots(pod: Pod, findings: list[Finding]) -> list[list[Device]]:
    """The record of the pod; nothing where it is missing, cannot be read, or was written for another node."""
    annotations = annotations_of(pod)
    text = annotations.get(ALLOCATED)
    meant = annotations.get(BOUND_TO)
    here = pod.spec.nodeName if pod.spec else None
    if text is None:
        said = sentence(
            "{pod} has a virtual GPU, but no recorded card. Check that the Volcano scheduler placed the pod.",
            pod=name_of(pod),
        )
        findings.append(warning("bound-without-card", pod, said))
        return []
    if meant and meant != here:
        said = sentence(
            "The record of {pod} is for the node {meant}, but the pod runs on this node. Its card is unidentified.",
            pod=name_of(pod),
            meant=meant[:80],
        )
        findings.append(warning("request-annotation-mismatch", pod, said))
        return []
    if (slots := allocated(text)) is None:
        findings.append(
            warning(
                "annotation-unreadable",
                pod,
                sentence("The annotation {name} of {pod} is invalid.", pod=name_of(pod), name=ALLOCATED),
            )
        )
    return slots or []
