"""Cards whose numbers a scheduler writes on the pod for the vendor's plugin, one list for the pod.

The plugin gives the pod these cards, so the numbers are those of the node. Where no scheduler has written any the plugin, or the
kubelet, has chosen, and the card is not known.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from kube.objects import Pod
from stacks.engine.base import ANNOTATION, WHOLE, Allocation, Finding
from stacks.engine.groups import Group
from stacks.engine.names import annotations_of
from stacks.engine.requests import Need, allocation, name_of
from stacks.shared.holding import indices, warning
from wording.said import sentence

Reader = Callable[[str | None], list[int] | None]


def numbers(pod: Pod, names: tuple[str, ...], findings: list[Finding], read: Reader = indices) -> list[int] | None:
    """What the first of these annotations says; None when none is there, or it cannot be read."""
    annotations = annotations_of(pod)
    name = next((name for name in names if name in annotations), None)
    if name is None:
        return None
    found = read(annotations[name])
    if found is None:
        findings.append(
            warning(
                "annotation-unreadable",
                pod,
                sentence("The annotation {name} of {pod} is invalid.", pod=name_of(pod), name=name),
            )
        )
    return list(dict.fromkeys(found)) if found is not None else None


def inside(pod: Pod, found: list[int], keys: Collection[str], known: bool, findings: list[Finding]) -> list[str | None]:
    """The keys of these cards; None for one that the node does not have. known: whether its cards are."""
    strange = [number for number in found if str(number) not in keys]
    if strange and known:
        said = sentence(
            "{pod} is recorded on the card {names}, but the node has only {number}.",
            pod=name_of(pod),
            names=", ".join(map(str, strange[:5])),
            number=len(keys),
        )
        findings.append(warning("index-out-of-range", pod, said))
    return [str(number) if str(number) in keys else None for number in found]


def whole(
    pod: Pod, needs: list[Need], group: Group | None, found: list[int] | None, findings: list[Finding], stack: str
) -> list[Allocation]:
    """Whole cards in the order of the containers. Where there are as many numbers as the last container asks for, they are its own.

    A scheduler may write them once for each container, so that the last stands. group: None where the node names no such cards.
    """
    wanted = sum(need.quantity for need in needs)
    places: list[str | None] = []
    before = needs[:-1] if found is not None and len(found) == needs[-1].quantity < wanted else []
    if found is not None:
        keys = {str(index) for index in range(group.number or 0)} if group is not None else set[str]()
        places = inside(pod, found, keys, group is not None and group.number is not None, findings)
        if not before and len(found) != wanted:
            said = sentence(
                "{pod} requests {wanted} of {resource}, but its record has {number}.",
                pod=name_of(pod),
                wanted=wanted,
                resource=needs[0].resource,
                number=len(found),
            )
            findings.append(warning("request-annotation-mismatch", pod, said))
            places = []
    held = [_one(pod, need, group, stack, need.quantity, None) for need in before]
    for need in needs[len(before) :]:
        mine, places = places[: need.quantity], places[need.quantity :]
        named = [card for card in mine if card is not None]
        held += [_one(pod, need, group, stack, 1, card) for card in named]
        if rest := need.quantity - len(named):
            held.append(_one(pod, need, group, stack, rest, None))
    return held


def _one(pod: Pod, need: Need, group: Group | None, stack: str, quantity: int, card: str | None) -> Allocation:
    memory = group.about.memory_of(quantity) if group is not None else None
    return allocation(pod, need, stack, WHOLE, quantity=quantity, card=card, evidence=ANNOTATION, memory_bytes=memory)
