"""The makers of cards whose stacks are known, and what the setup of another stack asks of them.

A stack that allocates the cards of a maker names the maker, never the maker's stack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from kube import quantity
from kube.objects import Node
from stacks.engine.base import Context
from stacks.engine.node_facts import driver_version
from stacks.engine.node_system import os_of
from stacks.engine.registry import marked, owner, registry
from stacks.engine.rendering import names
from stacks.engine.setup import REMOVE, Difference, Maker, Rival, named
from stacks.engine.versions import Version, version_of
from wording.said import sentence

#: Names of resources as they are called where no setting says otherwise.
_ANY = Context(now=0.0)


def maker(name: str) -> Maker:
    """Raises LookupError: no stack is of this maker."""
    for stack in registry.stacks:
        if stack.setup is not None and stack.setup.maker is not None and stack.setup.maker.name == name:
            return stack.setup.maker
    raise LookupError(f"no stack for the vendor {name}")


def linux_nodes(nodes: Iterable[Node], has_card: Callable[[Node], bool]) -> tuple[Node, ...]:
    """Linux nodes with cards, by name."""
    return tuple(node for node in named(nodes) if os_of(node) != "windows" and has_card(node))


class Chosen(NamedTuple):
    """Nodes with cards of a maker, by name. mine: those that a stack gets. taken: those whose cards another stack allocates.

    changing: those of `mine` whose cards the maker's own plugin offers now.
    """

    mine: tuple[Node, ...]
    taken: tuple[Node, ...]
    changing: tuple[Node, ...]


def chosen(nodes: Sequence[Node], own: str, made_by: str) -> Chosen:
    """own: the word of the setup that gets them. Raises LookupError, as `maker`."""
    seen = [(node, _stacks(node)) for node in nodes]
    theirs = {
        stack.name
        for stack in registry.stacks
        if stack.setup is not None and stack.setup.maker is not None and stack.setup.maker.name == made_by
    }
    own_names = {stack.name for stack in registry.stacks if stack.setup is not None and stack.setup.name == own}
    taken = [bool(stacks - theirs - own_names) and not stacks & own_names for _, stacks in seen]
    mine = [pair for pair, away in zip(seen, taken, strict=True) if not away]
    return Chosen(
        tuple(node for node, _ in mine),
        tuple(node for (node, _), away in zip(seen, taken, strict=True) if away),
        tuple(node for node, stacks in mine if stacks & theirs and not stacks & own_names),
    )


def with_others(nodes: Iterable[Node], own: str) -> tuple[Node, ...]:
    """Those whose cards a stack besides this one allocates, though it may be by the same resource. own: name of the stack."""
    return tuple(node for node in nodes if _stacks(node) - {own})


def _stacks(node: Node) -> set[str]:
    """Names of the stacks whose resources the node offers, or whose mark it carries."""
    capacity = (node.status.capacity if node.status else None) or {}
    owners = {owner(name, _ANY) for name, value in capacity.items() if quantity.count(str(value))}
    return {name for name in owners if name is not None} | {stack.name for stack in marked(node)}


def of_others(picked: Chosen, of: str, label: str) -> Iterator[str]:
    """Sentences on nodes that the label would take from another stack. of: the stack, for people."""
    if picked.taken:
        yield sentence(
            "Other stacks allocate the cards of these nodes: {nodes}. They do not get the label {label}. Remove the other stack "
            "there first if {stack} must allocate them.",
            nodes=names(picked.taken),
            label=label,
            stack=of,
        )
    if picked.changing:
        yield sentence(
            "The device plugin of the vendor offers the cards of these nodes now: {nodes}. commands.sh moves them to {stack}: "
            "delete the lines of nodes that must not change, and move their pods first.",
            nodes=names(picked.changing),
            stack=of,
        )


def to_remove(rivals: Sequence[Rival], why: str) -> Iterator[Difference]:
    for rival in rivals:
        if rival.commands:
            yield Difference(f"DaemonSet {rival.key.namespace}/{rival.key.name}", REMOVE, why)


def removal(rivals: Sequence[Rival]) -> list[str]:
    """The commands, each once."""
    return list(dict.fromkeys(line for rival in rivals for line in rival.commands))


def below_driver(nodes: Iterable[Node], floor: Version, of: str, made_by: str) -> Iterator[str]:
    """A sentence on nodes whose driver is older than the stack's floor. of: the stack, for people."""
    old = [node for node in nodes if (found := version_of(driver_version(node))) is not None and found < floor]
    if old:
        drivers = sorted({driver_version(node) for node in old})
        yield sentence(
            "{stack} needs {vendor} driver {floor} or newer. These nodes have {drivers}: {nodes}. Update the driver first.",
            stack=of,
            vendor=made_by,
            floor=floor.short,
            drivers=", ".join(drivers[:5]),
            nodes=names(old),
        )
