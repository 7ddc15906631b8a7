"""KAI scheduler and run:ai: fractions of NVIDIA cards. A reservation pod takes a whole card, and a group of pods shares it.

Pods of a group ask for no resource of the node; a label names their group, and the reservation pod of the group says which card it
got. So the group's pods are the holders, in the place of the reservation. Source: NVIDIA/KAI-Scheduler 72de64f (pkg/common/constants,
pkg/binder/binding/resourcereservation); run-ai/fake-gpu-operator, design/samples.

A fraction's memory is that part of the card, as run:ai records it (half of 15360 MiB is 7680); the scheduler itself rounds a card
down to 100 MiB when it compares a fraction with an amount.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction

import msgspec

from kube.objects import Node, Pod
from stacks.engine.base import ANNOTATION, ERROR, MEMORY, WARNING, Allocation, Card, Context, Finding, StackReport
from stacks.engine.describe import describe
from stacks.engine.labels import MIB
from stacks.engine.names import MAX_CARDS, annotations_of, labels_of
from stacks.engine.overrides import overrides
from stacks.engine.requests import Need, allocation, devices, holds, name_of
from stacks.engine.stack import Kept, Stack
from wording.said import sentence

NAME = "kai"
FRACTION, AMOUNT = "gpu-fraction", "gpu-memory"
_NUMBER_OF_DEVICES, _CONTAINER = "gpu-fraction-num-devices", "gpu-fraction-container-name"
_RECEIVED = "received-resource-type"
_CARD = "run.ai/reserve_for_gpu_index"
_GROUP = "runai-gpu-group"
_NAMESPACES = ("kai-resource-reservation", "runai-reservation")
_NAMES = ("gpu-reservation-", "runai-reservation-gpu-")
_SCHEDULERS = ("kai-scheduler", "runai-scheduler")
_PART = re.compile(r"[0-9]{0,3}(\.[0-9]{1,9})?")
_UUID = re.compile(r"GPU-[0-9A-Za-z-]{1,60}")
_INDEX = re.compile(r"[0-9]{1,4}")


class _Ask(msgspec.Struct, frozen=True):
    """What a pod asks of each of its cards. part: of a card; quantity: percent or MiB; memory: bytes, None when not known."""

    resource: str
    quantity: int
    part: Fraction | None
    memory: int | None


def read(node: Node, pods: list[Pod], context: Context) -> StackReport | None:
    """The pods of the groups on the cards of their reservations. None when no pod here has a fraction of a card."""
    holding = [pod for pod in pods if holds(pod)]
    reservations = _reservations(holding)
    sharing = [pod for pod in holding if _shares(pod)]
    if not reservations and not sharing:
        return None
    about = describe(node, overrides(node))
    findings: list[Finding] = []
    allocations: list[Allocation] = []
    parts: dict[str, Fraction] = {}
    members: set[str] = set()
    for pod in sharing:
        ask = _asked(pod, about.memory_bytes, findings)
        groups = _groups(pod)
        members |= set(groups)
        for group in groups:
            parts[group] = parts.get(group, Fraction(0)) + (ask.part or 0)
        allocations += _held(pod, ask, groups, reservations, findings)
    cards = {key: _card(key) for pod in reservations.values() if (key := _key(pod)) is not None}
    findings += _over(parts, reservations) if about.memory_bytes is None else []
    return StackReport(
        stack=NAME,
        cards=tuple(cards.values()),
        allocations=tuple(allocations),
        findings=tuple(findings),
        beside=True,
        instead=tuple(pod.metadata.uid for group, pod in reservations.items() if group in members and pod.metadata.uid),
    )


def named(node: Node, pods: list[Pod]) -> tuple[str, ...]:
    """UUIDs of cards of this node that reservations name."""
    keys = (_key(pod) for pod in _reservations(pod for pod in pods if holds(pod)).values())
    return tuple(key for key in keys if key is not None and not _INDEX.fullmatch(key))


def _reservations(holding: Iterable[Pod]) -> dict[str, Pod]:
    """Group → its reservation pod. That whose card is known counts where there are several."""
    found: dict[str, Pod] = {}
    for pod in holding:
        if _reserves(pod):
            for group in _groups(pod):
                if group not in found or _key(found[group]) is None:
                    found[group] = pod
    return found


def _reserves(pod: Pod) -> bool:
    annotations, metadata = annotations_of(pod), pod.metadata
    if FRACTION in annotations or AMOUNT in annotations:
        return False
    ours = metadata.namespace in _NAMESPACES or labels_of(pod).get("app") in _NAMESPACES
    return ours or _CARD in annotations or metadata.name.startswith(_NAMES)


def _shares(pod: Pod) -> bool:
    """Whether the pod has a part of a card. On a pod of another scheduler the annotations mean nothing; a MIG slice is no part."""
    annotations = annotations_of(pod)
    if FRACTION not in annotations and AMOUNT not in annotations:
        return False
    if received := annotations.get(_RECEIVED):
        return received == "Fraction"
    return bool(_groups(pod)) or (pod.spec is not None and pod.spec.schedulerName in _SCHEDULERS)


def _groups(pod: Pod) -> list[str]:
    """The groups of a pod, one for each card: from the one label, or from the label for each card."""
    labels = labels_of(pod)
    # Upstream writes the second form with the name of the group as key and as value.
    several = [name.partition("/")[2] for name in sorted(labels) if name.startswith(f"{_GROUP}/")]
    one = labels.get(_GROUP)
    return list(dict.fromkeys([*([one] if one else []), *(name for name in several if name)]))


def _key(pod: Pod) -> str | None:
    """The card of a reservation: its UUID, or its index as old versions write it. None before the pod has written it."""
    text = annotations_of(pod).get(_CARD, "").strip()
    if _INDEX.fullmatch(text):
        return str(int(text)) if int(text) < MAX_CARDS else None
    return text if _UUID.fullmatch(text) else None


def _card(key: str) -> Card:
    index = int(key) if _INDEX.fullmatch(key) else None
    return Card(key=key, stack=NAME, index=index, uuid=key if index is None else None)


def _asked(pod: Pod, memory: int | None, findings: list[Finding]) -> _Ask:
    annotations = annotations_of(pod)
    resource = FRACTION if FRACTION in annotations else AMOUNT
    text = annotations[resource].strip()
    if resource == AMOUNT:
        amount = devices(text) if text.isascii() and text.isdigit() else None
        if amount:
            part = Fraction(amount * MIB, memory) if memory else None
            return _Ask(resource, amount, part, amount * MIB)
    elif (portion := _portion(text)) is not None:
        held = int(portion * memory) if memory is not None else None
        return _Ask(resource, int(portion * 100) or 1, portion, held)
    said = sentence(
        "The annotation {resource} of {pod} is {text}, which is neither a fraction of a card nor a number of MiB. "
        "The allocation of the pod is unknown.",
        resource=resource,
        pod=name_of(pod),
        text=f"{text[:40]!r}",
    )
    findings.append(_finding("annotation-unreadable", WARNING, said, pod))
    return _Ask(resource, 1, None, None)


def _portion(text: str) -> Fraction | None:
    """A part of a card; None when it is no number, nothing, or more than a card."""
    portion = Fraction(text) if text.strip(".") and _PART.fullmatch(text) else Fraction(0)
    return portion if 0 < portion <= 1 else None


def _held(
    pod: Pod, ask: _Ask, groups: list[str], reservations: dict[str, Pod], findings: list[Finding]
) -> list[Allocation]:
    number = devices(annotations_of(pod).get(_NUMBER_OF_DEVICES, "1")) or 1
    # What has no group is held on a card that is not known.
    places: list[str | None] = [*groups, *[None] * max(0, min(number, MAX_CARDS) - len(groups))]
    missing = [group for group in places if group is None or group not in reservations]
    if missing:
        said = sentence(
            "{pod} has a fraction of a card, but this node has no reservation pod of its group. The card is "
            "unidentified. Check the binder of the scheduler and the namespace of its reservation pods.",
            pod=name_of(pod),
        )
        findings.append(_finding("bound-without-card", WARNING, said, pod))
    return [_allocation(pod, ask, reservations.get(group) if group is not None else None) for group in places]


def _allocation(pod: Pod, ask: _Ask, reservation: Pod | None) -> Allocation:
    return allocation(
        pod,
        Need(_container(pod), ask.resource, ask.quantity, 0),
        NAME,
        MEMORY,
        card=_key(reservation) if reservation is not None else None,
        evidence=ANNOTATION,
        memory_bytes=ask.memory,
        with_pod=reservation.metadata.uid if reservation is not None else "",
    )


def _container(pod: Pod) -> str:
    """The container that gets the part: the named one, else the first."""
    spec = pod.spec
    app, init = (spec.containers or [], spec.initContainers or []) if spec is not None else ([], [])
    wanted = annotations_of(pod).get(_CONTAINER)
    found = next((item.name for item in (*app, *init) if item.name == wanted), None)
    return found if found is not None else app[0].name if app else ""


def _over(parts: dict[str, Fraction], reservations: dict[str, Pod]) -> list[Finding]:
    """`card-over-committed` by the fractions alone, for cards whose memory is not known."""
    found = []
    for group, part in parts.items():
        if part > 1:
            key = _key(reservations[group]) if group in reservations else None
            text = sentence(
                "{part} of a card is allocated to the pods of the group {group}. Workloads may run out of memory. "
                "Delete or move a pod.",
                part=f"{float(part):.4g}",
                group=group[:60],
            )
            found.append(Finding(code="card-over-committed", severity=ERROR, text=text, card=key))
    return found


def _finding(code: str, severity: str, text: str, pod: Pod) -> Finding:
    return Finding(code=code, severity=severity, text=text, pod=name_of(pod))


STACK = Stack(
    name=NAME,
    label="KAI scheduler, run:ai",
    # Annotations of pods; the node offers whole cards only.
    resources=(FRACTION, AMOUNT),
    read=read,
    divides=("nvidia.com/gpu",),
    names_cards=named,
    kept=Kept(
        pod_labels=(_GROUP,),
        pod_label_prefixes=(f"{_GROUP}/",),
        pod_annotations=(FRACTION, AMOUNT, _RECEIVED, _CARD),
    ),
)
