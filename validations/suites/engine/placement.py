"""Which extended resource a run asks for, how much of it, and whether it can name a card.

The scheduler and the device plugin make the allocation; only a family that `binds` has the manifest do what its scheduler would.
Knows no family by name: `validations.suites` fills the registry once, when it is imported.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from validations.suites.engine.family import Family
from validations.suites.engine.options import Values
from validations.suites.engine.target import Resource, Settings, Target


class Registry:
    """All families, and the questions that are asked of them."""

    def __init__(self) -> None:
        self.families: dict[str, Family] = {}
        self._in_turn: tuple[Family, ...] = ()

    def populate(self, families: Iterable[Family]) -> None:
        """families: of two that would serve the same resource the first does, but those of one stack only before all others."""
        self.families = {one.name: one for one in families}
        self._in_turn = tuple(sorted(self.families.values(), key=lambda one: not one.stack))

    def serving(self, resource: str, stack: str, settings: Settings) -> Family | None:
        """The family of an extended resource on a node of this sharing system; None when no suite can ask for it."""
        stack = stack.lower()
        return next((one for one in self._in_turn if one.stack in ("", stack) and one.has(resource, settings)), None)

    @property
    def variables(self) -> frozenset[str]:
        """Environment variables that webhooks of the sharing systems may add to a container."""
        return frozenset(name for one in self.families.values() for name in one.variables)

    def with_api(self, api: str, os: str = "") -> tuple[str, ...]:
        """Names of the families whose containers get this programming interface of the GPU, best first. os: "" for all."""
        found = [one for one in self.families.values() if api in one.apis and os in ("", one.os)]
        return tuple(one.name for one in sorted(found, key=lambda one: (one.os, one.rank, one.name)))


registry = Registry()


def with_api(api: str, os: str = "") -> tuple[str, ...]:
    """The families of a suite that needs this programming interface, best first: "cuda", "directx", "opencl", "vulkan" …"""
    return registry.with_api(api, os)


class Choice(NamedTuple):
    """A resource of the target that a run can ask for, and its family."""

    resource: Resource
    family: Family


def family_of(resource: str, target: Target) -> Family | None:
    """The family of a resource of the target, None when it is none that a suite can ask for."""
    return registry.serving(resource, target.stack, target.settings)


def candidates(families: tuple[str, ...], target: Target, wanted: str = "") -> list[Choice]:
    """Resources of the target that a suite can use, best first: what has something free, then the order of families."""
    served = [(one, family_of(one.name, target)) for one in target.resources]
    suiting = [
        Choice(resource, family)
        for resource, family in served
        if family is not None
        and family.name in families
        and resource.allocatable != 0
        and (not wanted or resource.name == wanted)
    ]
    return sorted(suiting, key=lambda one: (one.resource.free == 0, families.index(one.family.name), one.resource.name))


def pick(families: tuple[str, ...], target: Target, values: Values) -> Choice:
    """The resource that a run asks for. Raises ValueError when the target has none that suits."""
    found = candidates(families, target, str(values.get("resource", "")))
    if not found:
        raise ValueError(f"node {target.node} has no resource that this suite can use")
    return found[0]


def units(choice: Choice, values: Values, cards: int) -> int | None:
    """How much to ask for, in the resource's unit; None for memory units of a size that is not known."""
    return choice.family.units(choice.resource, values, cards)


def limits(choice: Choice, target: Target, values: Values, cards: int) -> dict[str, str]:
    """The extended resources of the container. Raises ValueError where `units` knows no answer."""
    needed = units(choice, values, cards)
    if needed is None:
        raise ValueError(f"the memory unit of {choice.resource.name} on node {target.node} is not known")
    return {choice.resource.name: str(needed), **choice.family.also(values)}


def pod_annotations(
    choice: Choice, target: Target, values: Values, cards: int, moment: datetime | None
) -> dict[str, str]:
    """Annotations by which the pod gets the card that was asked for; {} where none does. moment: now."""
    if not _names_card(choice, target, cards):
        return {}
    return dict(choice.family.annotations(target, units(choice, values, cards) or 0, moment))


def _names_card(choice: Choice, target: Target, cards: int) -> bool:
    return choice.family.names_card(choice.resource, target, cards)


def binds(choice: Choice, target: Target, cards: int) -> bool:
    """Whether the pod brings its node and its card, so that no scheduler sees it."""
    return choice.family.binds and _names_card(choice, target, cards)


def card_exact(families: tuple[str, ...], target: Target, wanted: str = "") -> bool:
    """Whether a run of these families on the target asks for one card only: the only one, or the one that it names.

    wanted: the resource that the run is told to ask for, "" for the best.
    """
    if target.cards_total == 1:
        return True
    found = candidates(families, target, wanted)
    return bool(found) and _names_card(found[0], target, 1)
