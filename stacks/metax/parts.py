"""MetaX's cards that are given out in parts (sGPU): the plugin lists them on the node, a scheduler writes on the pod what it got.

The record on the pod is what the plugin reads: a list of devices for each container, with memory in MiB and percent of the cores.
Source: Project-HAMi/HAMi/pkg/device/metax (sdevice.go, protocol.go), and the adapter of
koordinator-sh/koordinator/pkg/scheduler/plugins/deviceshare, which write the same.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from kube.objects import Container, Node, Pod
from kube.quantity import size
from stacks.engine import base, health_reports
from stacks.engine.base import ANNOTATION, HEALTHY, UNHEALTHY, WARNING, Allocation, Card, Finding, StackReport
from stacks.engine.describe import Described
from stacks.engine.labels import GIB, MIB
from stacks.engine.names import MAX_CARDS, annotations_of, too_long
from stacks.engine.offers import offer, shortfall, states
from stacks.engine.requests import MOST_DEVICES, Need, allocation, asked, holds, name_of
from stacks.engine.sums import total
from stacks.shared import slots
from stacks.shared.holding import warning
from stacks.shared.slots import Device, Got, Terms
from wording.said import sentence

NAME = "metax"
DOMAIN = "metax-tech.com/"
PARTS = f"{DOMAIN}sgpu"
#: Properties of the parts that are asked for: memory of each, in GiB or with its unit, and percent of the cores.
MEMORY, CORES = f"{DOMAIN}vmemory", f"{DOMAIN}vcore"
REGISTER, ALLOCATED = f"{DOMAIN}node-gpu-devices", f"{DOMAIN}gpu-devices-allocated"
_LONGEST_UUID = 128
_MOST_MEMORY = 2**44


def read(node: Node, pods: list[Pod], about: Described) -> StackReport | None:
    """Cards and what is held of them. None when the node has no such cards and no pod holds a part of one."""
    text, findings = annotations_of(node).get(REGISTER), list[Finding]()
    listed = _listed(text, about) if text is not None else None
    if text is not None and listed is None:
        said = sentence(
            "The annotation {register} of this node is invalid. Its cards are unknown. Restart the device plugin.",
            register=REGISTER,
        )
        findings.append(Finding(code="annotation-unreadable", severity=WARNING, text=said))
    cards = {card.key: card for card in listed or ()}
    held = [item for pod in pods if holds(pod) for item in _holding(pod, cards, listed is not None, findings)]
    if text is None and not held and not states(node, PARTS):
        return None
    offered = offer(node, PARTS)
    findings += shortfall(PARTS, offered, sentence("The plugin offers fewer slices than the cards have."))
    # Where the kubelet has no part left to give, the plugin is gone.
    healthy = [
        card.memory_total_bytes for card in cards.values() if card.health == HEALTHY and offered.allocatable != 0
    ]
    counted = listed is not None or (offered.slots == 0 and not held)
    return StackReport(
        stack=NAME,
        vendor=NAME,
        cards=tuple(cards.values()),
        cards_known=counted,
        allocations=tuple(held),
        findings=tuple(findings),
        memory_total_bytes=total(healthy) if counted else None,
    )


def _listed(text: str, about: Described) -> list[Card] | None:
    """The cards of the plugin's list, each once; None when it is of no such form."""
    decoded = _decoded(text)
    if not isinstance(decoded, list) or len(decoded) > MAX_CARDS:
        return None
    found: dict[str, Card] = {}
    for index, item in enumerate(decoded):
        uuid = _uuid(item)
        if uuid is None or not isinstance(item, dict):
            return None
        found.setdefault(uuid, _card(uuid, index, item, about))
    return list(found.values())


def _decoded(text: str) -> object:
    if too_long(text):
        return None
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError, ValueError):
        return None


def _uuid(item: object) -> str | None:
    name = item.get("uuid") if isinstance(item, dict) else None
    return name if isinstance(name, str) and 0 < len(name) <= _LONGEST_UUID and name.isprintable() else None


def _number(value: object) -> int | None:
    return value if type(value) is int and 0 <= value <= MOST_DEVICES else None


def _card(uuid: str, index: int, item: Mapping[str, object], about: Described) -> Card:
    """The writer leaves out what is 0 or false. Its "model" says how a card is given out and is no name of one."""
    memory = _number(item.get("totalVRam", 0))
    return Card(
        key=uuid,
        stack=NAME,
        mode=base.MEMORY,
        index=index,
        uuid=uuid,
        model=about.model,
        model_source=about.model_source,
        health=HEALTHY if item.get("healthy") is True else UNHEALTHY,
        told=health_reports.of_register(
            NAME, HEALTHY if item.get("healthy") is True else UNHEALTHY, f"annotation {REGISTER}"
        ),
        memory_total_bytes=memory * MIB if memory else None,
        memory_physical_bytes=about.memory_bytes,
        memory_source=f"annotation {REGISTER}" if memory else "",
        shares=_number(item.get("totalDevCount", 0)),
        resource=PARTS,
    )


def _holding(pod: Pod, cards: Mapping[str, Card], known: bool, findings: list[Finding]) -> list[Allocation]:
    """What a pod holds, by its record; what is asked for and not recorded has no card."""
    if not slots.asks(pod, PARTS):
        return []
    text = annotations_of(pod).get(ALLOCATED)
    record = _record(text) if text is not None else None
    if text is not None and record is None:
        findings.append(
            warning(
                "annotation-unreadable",
                pod,
                sentence("The annotation {name} of {pod} is invalid.", pod=name_of(pod), name=ALLOCATED),
            )
        )
    got = slots.got(pod, _TERMS, record or [], findings if record is not None else None)
    strange = sorted({item.uuid for item in got if item.uuid is not None and item.uuid not in cards})
    if strange and known:
        said = sentence(
            "{pod} is recorded on {names}, which is not in the list of this node.",
            pod=name_of(pod),
            names=", ".join(strange[:5]),
        )
        findings.append(warning("index-out-of-range", pod, said))
    return [
        allocation(
            pod,
            Need(item.container, PARTS, item.quantity, 0),
            NAME,
            item.mode,
            card=item.uuid if item.uuid in cards else None,
            evidence=ANNOTATION,
            memory_bytes=item.memory,
            core_percent=item.core,
        )
        for item in got
    ]


def _record(text: str) -> list[list[Device]] | None:
    """A list of devices for each container; None when it is of no such form."""
    decoded = _decoded(text)
    if not isinstance(decoded, list) or len(decoded) > MAX_CARDS:
        return None
    found: list[list[Device]] = []
    for slot in decoded:
        # A container without a device may have null.
        made = [_device(item) for item in slot or ()] if isinstance(slot, list | None) else [None]
        known = [item for item in made if item is not None]
        if len(known) < len(made) or len(made) > MAX_CARDS:
            return None
        found.append(known)
    return found


def _device(item: object) -> Device | None:
    uuid = _uuid(item)
    if uuid is None or not isinstance(item, dict):
        return None
    memory, core = _number(item.get("vRam", 0)), _number(item.get("compute", 0))
    return Device(uuid, memory * MIB, core or None) if memory is not None and core is not None else None


def _recorded(container: Container, device: Device) -> Got:
    return Got(container.name, device.uuid, 1, device.memory, device.core, base.MEMORY)


def _unrecorded(container: Container, missing: int) -> Got:
    each = _memory_of(container)
    return Got(container.name, None, missing, each * missing if each is not None else None, None, base.MEMORY)


def _more(container: str, uuid: str, number: int, memory: int) -> Got:
    return Got(container, uuid, number, memory, None, base.MEMORY)


def _memory_of(container: Container) -> int | None:
    """Bytes of each part; a plain number is GiB. Where none is asked for a part is a whole card, and which is not known."""
    value = next((value for name, value in asked(container) if name == MEMORY), None)
    number = size(value)
    if number is None:
        return None
    memory = number * GIB if str(value).isdigit() else number
    return memory if MIB <= memory <= _MOST_MEMORY else None


_TERMS = Terms(PARTS, _recorded, _unrecorded, _more)
