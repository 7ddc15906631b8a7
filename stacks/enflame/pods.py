"""What a pod holds of cards that gcushare gives out in slices: one card for all its containers, by its number on the pod.

Enflame's scheduler and others write the number, and for slices of the hardware how many each container has been given: the plugin
reads both.
"""

from __future__ import annotations

from kube.objects import Pod
from stacks.enflame.cut import Cut
from stacks.enflame.names import DOMAIN, DRS, NAME, OF_SLICES, SHARED, mapping
from stacks.engine.base import ANNOTATION, MEMORY, PARTS, Allocation, Finding
from stacks.engine.describe import Described
from stacks.engine.names import annotations_of
from stacks.engine.requests import Need, allocation, name_of
from stacks.shared import chosen
from stacks.shared.holding import warning
from wording.said import sentence

#: By index where there are slices of the hardware, else by minor number; an older name of several cards.
_INDEX, _MINOR, _CARDS = f"{DOMAIN}gcu-assigned-index", f"{DOMAIN}gcu-assigned-minor", f"{DOMAIN}gcu-assigned-id"
#: Slices of the hardware for each container.
_CONTAINERS = "assigned-containers"
KEPT = (f"{DOMAIN}gcu-assigned-", _CONTAINERS)


def holding(pod: Pod, needs: list[Need], here: Cut, about: Described, findings: list[Finding]) -> list[Allocation]:
    """One hold for each container and card. about: of a card."""
    places = _places(pod, here, findings) or [None]
    made = _made(pod, findings)
    by_container: dict[tuple[bool, int], dict[str, Need]] = {}
    for need in needs:
        by_container.setdefault((need.init, need.position), {})[need.resource] = need
    found: list[Allocation] = []
    for mine in by_container.values():
        need, slices = _slices(mine, made)
        if slices is None:
            # How many slices become of it is the scheduler's matter.
            found.append(
                allocation(pod, need, NAME, MEMORY, card=places[0] if len(places) == 1 else None, evidence=ANNOTATION)
            )
            continue
        of_time = need.resource == SHARED
        for place, card in enumerate(places):
            # What does not divide is on the first.
            part = slices // len(places) + (slices % len(places) if place == 0 else 0)
            whole = about.memory_bytes
            each = whole * part // here.each if of_time and whole is not None and here.each else None
            found.append(
                allocation(
                    pod,
                    need._replace(resource=SHARED if of_time else DRS),
                    NAME,
                    PARTS,
                    quantity=part,
                    card=card,
                    evidence=ANNOTATION,
                    memory_bytes=each if of_time else here.profiles.get(part),
                    core_percent=part * 100 // here.each if here.each else None,
                )
            )
    return found


def _slices(mine: dict[str, Need], made: dict[str, int]) -> tuple[Need, int | None]:
    """(what the container asks for, how many slices it holds by it; None when not known)."""
    need = mine.get(DRS) or mine.get(SHARED)
    if need is not None:
        return need, need.quantity
    need = next(mine[name] for name in OF_SLICES if name in mine)
    return need, made.get(need.container)


def _made(pod: Pod, findings: list[Finding]) -> dict[str, int]:
    """Container → slices of the hardware that the scheduler has made of what it asks for."""
    value = annotations_of(pod).get(_CONTAINERS)
    decoded = mapping(value) if value is not None else {}
    if decoded is None:
        findings.append(
            warning(
                "annotation-unreadable",
                pod,
                sentence("The annotation {name} of {pod} is invalid.", pod=name_of(pod), name=_CONTAINERS),
            )
        )
    made = {name: item.get("request") for name, item in (decoded or {}).items() if isinstance(item, dict)}
    return {name: number for name, number in made.items() if type(number) is int and 0 < number <= 128}


def _places(pod: Pod, here: Cut, findings: list[Finding]) -> list[str | None]:
    """The cards of the pod; none where nothing is written."""
    known = here.number is not None
    if (numbers := chosen.numbers(pod, (_INDEX,), findings)) is None:
        numbers = chosen.numbers(pod, (_MINOR,), findings)
        numbers = [int(here.minors.get(str(number), number)) for number in numbers] if numbers is not None else None
    if numbers is None:
        numbers = chosen.numbers(pod, (_CARDS,), findings)
    return chosen.inside(pod, numbers, here.keys, known, findings) if numbers else []
