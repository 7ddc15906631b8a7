"""Systems that give out parts of cards as percent of a card's cores and units of its memory.

A card is 100 of the cores, so what a node offers says how many cards there are and how much memory each has. A container with a
hundred or more holds whole cards. Which card a container has is known only where the system writes it on the pod.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from inventory.stacks.engine.base import ANNOTATION, MEMORY, ONLY_CARD, Allocation, Card, Finding, StackReport
from inventory.stacks.engine.describe import describe
from inventory.stacks.engine.names import MAX_CARDS, annotations_of
from inventory.stacks.engine.offers import offer, shortfall, states
from inventory.stacks.engine.overrides import overrides
from inventory.stacks.engine.requests import Need, holds, requests
from inventory.stacks.shared.holding import held, indices, warning
from kube.objects import Node, Pod


class Kind(NamedTuple):
    """Names of one system. unit: bytes of one of its memory. record: annotations that may name the card of a container, best first.

    None: the system writes none that is public.
    """

    cores: str
    memory: str
    unit: int
    record: Callable[[Need], tuple[str, ...]] | None = None


class _Node(NamedTuple):
    """cards, each: how many there are, and the memory of one in bytes; None when not known."""

    cards: int | None
    each: int | None


def read(name: str, kind: Kind, node: Node, pods: list[Pod]) -> StackReport | None:
    """Cards by count; None when the node has none of this kind and no pod holds some."""
    mine = (kind.cores, kind.memory)
    asking = [(pod, needs) for pod in pods if holds(pod) and (needs := requests(pod, lambda one: one in mine))]
    if not asking and not any(states(node, one) for one in mine):
        return None
    given, cores, memory = overrides(node), offer(node, kind.cores), offer(node, kind.memory)
    number = cores.slots // 100 if cores.slots is not None and cores.slots % 100 == 0 else None
    cards = given.cards if given.cards is not None else number
    cards = cards if cards is not None and cards <= MAX_CARDS and (cards > 0 or not memory.slots) else None
    here = _Node(cards, memory.slots * kind.unit // cards if cards and memory.slots is not None else None)
    about, findings = describe(node, given), list[Finding]()
    allocations = [item for pod, needs in asking for item in _pod(name, kind, here, pod, needs, findings)]
    findings += shortfall(kind.cores, cores, "The node gives out less than its cards have.")
    return StackReport(
        stack=name,
        cards=tuple(
            Card(
                key=str(index),
                stack=name,
                mode=MEMORY,
                index=index,
                model=about.model,
                model_source=about.model_source,
                memory_total_bytes=here.each,
                memory_physical_bytes=about.memory_bytes,
                memory_source=f"{kind.memory} ÷ cards" if here.each is not None else "",
            )
            for index in range(cards or 0)
        ),
        cards_known=cards is not None,
        allocations=tuple(allocations),
        findings=tuple(findings),
        memory_total_bytes=memory.allocatable * kind.unit if memory.allocatable is not None else None,
    )


def _pod(name: str, kind: Kind, here: _Node, pod: Pod, needs: list[Need], findings: list[Finding]) -> list[Allocation]:
    found: list[Allocation] = []
    by_container: dict[tuple[bool, int], list[Need]] = {}
    for need in needs:
        by_container.setdefault((need.init, need.position), []).append(need)
    for mine in by_container.values():
        cores = sum(need.quantity for need in mine if need.resource == kind.cores)
        memory = sum(need.quantity for need in mine if need.resource == kind.memory)
        places = _recorded(kind, here, pod, mine[0], findings) if kind.record is not None else []
        whole = cores // 100 if cores % 100 == 0 else 0
        found += (
            _whole(name, kind, here, pod, mine[0], whole, places)
            if whole
            else _part(name, kind, here, pod, mine[0], (cores, memory), places)
        )
    return found


def _recorded(kind: Kind, here: _Node, pod: Pod, need: Need, findings: list[Finding]) -> list[str]:
    """Keys of the cards that the pod's record names for a container; none where it does not say."""
    annotations = annotations_of(pod)
    names = kind.record(need) if kind.record is not None else ()
    text = next((annotations[name] for name in names if name in annotations), None)
    if text is None:
        said = "{pod} holds a part of a card, but no card is recorded on it. Look whether its scheduler has placed it."
        findings.append(warning("bound-without-card", pod, said))
        return []
    found = indices(text)
    if found is None:
        findings.append(warning("annotation-unreadable", pod, f"The annotation {names[0]} of {{pod}} cannot be read."))
        return []
    if here.cards is not None and any(index >= here.cards for index in found):
        said = f"{{pod}} is recorded on the cards {text[:40]}, and the node has {here.cards}."
        findings.append(warning("index-out-of-range", pod, said))
        return []
    return [str(index) for index in dict.fromkeys(found)] if here.cards is not None else []


def _whole(
    name: str, kind: Kind, here: _Node, pod: Pod, need: Need, number: int, places: list[str]
) -> list[Allocation]:
    """Cards held as a whole: their memory is that of the cards, whatever is asked for."""
    if len(places) == number:
        return [
            held(pod, need.container, kind.cores, 1, name, card=card, memory=here.each, core=100, whole=True)
            for card in places
        ]
    memory = here.each * number if here.each is not None else None
    return [held(pod, need.container, kind.cores, number, name, memory=memory, core=100 * number, whole=True)]


def _part(
    name: str, kind: Kind, here: _Node, pod: Pod, need: Need, asked: tuple[int, int], places: list[str]
) -> list[Allocation]:
    """Parts of cards: what is asked for is split evenly over the cards of the record."""
    cores, memory = asked
    resource, quantity = (kind.memory, memory) if memory else (kind.cores, cores)
    only = kind.record is None and here.cards == 1
    cards: list[str | None] = [*places] or ["0" if only else None]
    split = len(cards)
    return [
        held(
            pod,
            need.container,
            resource,
            # What does not divide is on the first.
            quantity // split + (quantity % split if place == 0 else 0),
            name,
            card=card,
            memory=memory * kind.unit // split if memory else None,
            core=cores // split or None,
            evidence=ONLY_CARD if only else ANNOTATION,
        )
        for place, card in enumerate(cards)
    ]
