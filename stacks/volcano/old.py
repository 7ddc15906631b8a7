"""GPU share of Volcano, as it was before virtual GPUs: memory in MiB, or whole cards, of cards that are known by their number.

Each card has an equal part of the node's memory.
Source: volcano-sh/volcano (pkg/scheduler/api/devices), volcano-sh/devices.
"""

from __future__ import annotations

from kube.objects import Node, Pod
from stacks.engine import health_reports
from stacks.engine.base import HEALTH_UNKNOWN, MEMORY, UNHEALTHY, Allocation, Card, Finding, StackReport
from stacks.engine.describe import describe
from stacks.engine.labels import MIB
from stacks.engine.names import MAX_CARDS, annotations_of
from stacks.engine.offers import offer, states
from stacks.engine.overrides import overrides
from stacks.engine.requests import Need, holds, name_of, requests
from stacks.shared.holding import held, indices, warning
from wording.said import sentence

NAME = "volcano"
MEMORY_MIB, NUMBER = "volcano.sh/gpu-memory", "volcano.sh/gpu-number"
RESOURCES = (MEMORY_MIB, NUMBER)
INDEX, SICK = "volcano.sh/gpu-index", "volcano.sh/gpu-unhealthy-ids"


def read(node: Node, pods: list[Pod]) -> StackReport | None:
    """Cards by number, holders by the index on their pods. None when the node has no such memory and no pod holds some."""
    asking = [(pod, needs) for pod in pods if holds(pod) and (needs := requests(pod, lambda name: name in RESOURCES))]
    if not asking and not states(node, MEMORY_MIB) and not states(node, NUMBER):
        return None
    number, memory = offer(node, NUMBER).slots, offer(node, MEMORY_MIB).slots
    known = number if number is not None and number <= MAX_CARDS and (number > 0 or not memory) else None
    each = memory // known if known and memory is not None else None
    sick = frozenset(indices(annotations_of(node).get(SICK)) or ())
    findings: list[Finding] = []
    allocations = [item for pod, needs in asking for item in _holding(pod, needs, known, each, findings)]
    about = describe(node, overrides(node))
    cards = [
        Card(
            key=str(index),
            stack=NAME,
            mode=MEMORY,
            index=index,
            model=about.model,
            model_source=about.model_source,
            health=UNHEALTHY if index in sick else HEALTH_UNKNOWN,
            told=health_reports.of_register(NAME, UNHEALTHY if index in sick else HEALTH_UNKNOWN, f"annotation {SICK}"),
            memory_total_bytes=each * MIB if each is not None else None,
            memory_physical_bytes=about.memory_bytes,
            memory_source=f"{MEMORY_MIB} ÷ {NUMBER}" if each is not None else "",
            units=each,
        )
        for index in range(known or 0)
    ]
    healthy = sum(1 for card in cards if card.health != UNHEALTHY)
    return StackReport(
        stack=NAME,
        cards=tuple(cards),
        cards_known=known is not None,
        allocations=tuple(allocations),
        findings=tuple(findings),
        unit="MiB",
        unit_source="Volcano counts in MiB",
        memory_total_bytes=each * healthy * MIB if each is not None else None,
    )


def _holding(
    pod: Pod, needs: list[Need], known: int | None, each: int | None, findings: list[Finding]
) -> list[Allocation]:
    text = annotations_of(pod).get(INDEX)
    named = indices(text) if text is not None else None
    if text is None:
        said = sentence(
            "{pod} has GPU memory, but no recorded card. Check that the Volcano scheduler placed the pod.",
            pod=name_of(pod),
        )
        findings.append(warning("bound-without-card", pod, said))
    elif named is None:
        findings.append(
            warning(
                "annotation-unreadable",
                pod,
                sentence("The annotation {name} of {pod} is invalid.", pod=name_of(pod), name=INDEX),
            )
        )
    elif known is not None and any(index >= known for index in named):
        said = sentence(
            "{pod} is recorded on the cards {text}, but the node has only {cards}.",
            pod=name_of(pod),
            text=text[:40],
            cards=known,
        )
        findings.append(warning("index-out-of-range", pod, said))
    cards = [str(index) if known is not None and index < known else None for index in named or ()]
    found: list[Allocation] = []
    left = list(cards)
    for need in needs:
        if need.resource == MEMORY_MIB:
            # Each of the cards is charged the whole amount.
            found += [
                held(pod, need.container, MEMORY_MIB, need.quantity, NAME, card=card, memory=need.quantity * MIB)
                for card in cards or [None]
            ]
            continue
        memory = each * MIB if each is not None else None
        mine, left = left[: need.quantity], left[need.quantity :]
        found += [held(pod, need.container, NUMBER, 1, NAME, card=card, memory=memory, whole=True) for card in mine]
        if rest := need.quantity - len(mine):
            total = memory * rest if memory is not None else None
            found.append(held(pod, need.container, NUMBER, rest, NAME, memory=total, whole=True))
    wanted = sum(need.quantity for need in needs if need.resource == NUMBER)
    if named is not None and wanted and wanted != len(named):
        said = sentence(
            "{pod} requests {wanted} of {resource}, but its record has {number}.",
            pod=name_of(pod),
            wanted=wanted,
            resource=NUMBER,
            number=len(named),
        )
        findings.append(warning("request-annotation-mismatch", pod, said))
    return found
