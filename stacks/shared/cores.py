"""Systems that give out parts of cards as so many of a card's cores and units of its memory.

A card has a fixed number of cores, so what a node offers says how many cards there are and how much memory each has. Which card a
container has is known only where the system writes it on the pod.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from kube.objects import Node, Pod
from stacks.engine.base import ANNOTATION, MEMORY, ONLY_CARD, Allocation, Card, Finding, StackReport
from stacks.engine.describe import Described, describe
from stacks.engine.names import MAX_CARDS, annotations_of
from stacks.engine.offers import offer, shortfall, states
from stacks.engine.overrides import Overrides, overrides
from stacks.engine.requests import Need, holds, name_of, requests
from stacks.engine.stack import NodeLabels
from stacks.shared.holding import held, indices, warning
from wording.said import sentence


class Kind(NamedTuple):
    """Names of one system. unit: bytes of one of its memory, None when not known; unit_source: who says so, in words.

    record: annotations that may name the card of a container, best first; None: the system writes none that is public. read: what
    such a one says. card: cores of a card. asked: resource that counts cards in requests, "" for none; beside it cores and memory
    stand for parts.
    required: whether the system writes a record for every pod. metered: whether memory that is asked for is held as such, with all
    cores too.
    vendor, labels: where the system reads only its own labels, since others speak of another vendor's cards.
    """

    cores: str
    memory: str
    unit: int | None
    record: Callable[[Need], tuple[str, ...]] | None = None
    read: Callable[[str | None], list[int] | None] = indices
    unit_source: str = ""
    card: int = 100
    asked: str = ""
    required: bool = True
    metered: bool = False
    vendor: str = ""
    labels: NodeLabels | None = None

    def bytes_of(self, units: int | None) -> int | None:
        """So many units of memory in bytes."""
        return units * self.unit if units is not None and self.unit is not None else None


class _Node(NamedTuple):
    """cards, each: how many there are, and the memory of one in bytes; None when not known."""

    cards: int | None
    each: int | None


def read(name: str, kind: Kind, node: Node, pods: list[Pod]) -> StackReport | None:
    """Cards by count; None when the node has none of this kind and no pod holds some."""
    mine = {kind.cores, kind.memory, kind.asked} - {""}
    asking = [(pod, needs) for pod in pods if holds(pod) and (needs := requests(pod, mine.__contains__))]
    if not asking and not any(states(node, one) for one in mine):
        return None
    given, findings = overrides(node), list[Finding]()
    here, about = _node(kind, node, given), describe(node, given, kind.labels)
    allocations = [item for pod, needs in asking for item in _pod(name, kind, here, pod, needs, findings)]
    findings += shortfall(kind.cores, offer(node, kind.cores), sentence("The node offers less than its cards have."))
    return StackReport(
        stack=name,
        vendor=kind.vendor,
        cards=tuple(_card(name, kind, here, about, index) for index in range(here.cards or 0)),
        cards_known=here.cards is not None,
        allocations=tuple(allocations),
        findings=tuple(findings),
        memory_total_bytes=kind.bytes_of(offer(node, kind.memory).allocatable),
    )


def _node(kind: Kind, node: Node, given: Overrides) -> _Node:
    cores, memory = offer(node, kind.cores), offer(node, kind.memory)
    number = cores.slots // kind.card if cores.slots is not None and cores.slots % kind.card == 0 else None
    cards = given.cards if given.cards is not None else number
    cards = cards if cards is not None and cards <= MAX_CARDS and (cards > 0 or not memory.slots) else None
    total = kind.bytes_of(memory.slots)
    return _Node(cards, total // cards if cards and total is not None else None)


def _card(name: str, kind: Kind, here: _Node, about: Described, index: int) -> Card:
    return Card(
        key=str(index),
        stack=name,
        mode=MEMORY,
        index=index,
        model=about.model,
        model_source=about.model_source,
        memory_total_bytes=here.each,
        memory_physical_bytes=about.memory_bytes,
        memory_source=f"{kind.memory} ÷ cards{kind.unit_source}" if here.each is not None else "",
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
        if whole := _cards(kind, mine, cores, memory):
            found += _whole(name, kind, here, pod, mine[0], whole, places)
        else:
            found += _part(name, kind, here, pod, mine[0], (cores, memory), places)
    return found


def _cards(kind: Kind, mine: list[Need], cores: int, memory: int) -> int:
    """How many cards a container holds as a whole; 0 for parts."""
    if not cores and not memory:
        return sum(need.quantity for need in mine)
    return cores // kind.card if cores % kind.card == 0 and not (kind.metered and memory) else 0


def _recorded(kind: Kind, here: _Node, pod: Pod, need: Need, findings: list[Finding]) -> list[str]:
    """Keys of the cards that the pod's record names for a container; none where it does not say."""
    annotations = annotations_of(pod)
    names = kind.record(need) if kind.record is not None else ()
    name = next((name for name in names if name in annotations), None)
    if name is None:
        if kind.required:
            said = sentence(
                "{pod} has a share of a card, but no recorded card. Check that the scheduler of the stack placed the pod.",
                pod=name_of(pod),
            )
            findings.append(warning("bound-without-card", pod, said))
        return []
    text = annotations[name]
    found = kind.read(text)
    if found is None:
        findings.append(
            warning(
                "annotation-unreadable",
                pod,
                sentence("The annotation {name} of {pod} is invalid.", pod=name_of(pod), name=name),
            )
        )
        return []
    if here.cards is not None and any(index >= here.cards for index in found):
        said = sentence(
            "{pod} is recorded on the cards {text}, but the node has only {cards}.",
            pod=name_of(pod),
            text=text[:40],
            cards=here.cards,
        )
        findings.append(warning("index-out-of-range", pod, said))
        return []
    return [str(index) for index in dict.fromkeys(found)] if here.cards is not None else []


def _whole(
    name: str, kind: Kind, here: _Node, pod: Pod, need: Need, number: int, places: list[str]
) -> list[Allocation]:
    """Cards held as a whole: their memory is that of the cards, whatever is asked for."""
    resource = kind.asked if need.resource == kind.asked else kind.cores
    if len(places) == number:
        return [
            held(pod, need.container, resource, 1, name, card=card, memory=here.each, core=100, whole=True)
            for card in places
        ]
    memory = here.each * number if here.each is not None else None
    return [held(pod, need.container, resource, number, name, memory=memory, core=100 * number, whole=True)]


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
            memory=memory * kind.unit // split if memory and kind.unit is not None else None,
            core=cores * 100 // kind.card // split or None,
            evidence=ONLY_CARD if only else ANNOTATION,
        )
        for place, card in enumerate(cards)
    ]
