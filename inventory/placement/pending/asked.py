"""What a pod requests, in the words of its stacks: which stack, and how many bytes where a resource is memory."""

from __future__ import annotations

from dataclasses import dataclass

from inventory.models import Pod
from inventory.stack_context import stack_context
from stacks import STACKS, owner
from stacks.engine.base import Context
from stacks.engine.registry import registry

_BY_NAME = {stack.name: stack for stack in STACKS}
#: More resources than a pod can sensibly ask for.
MOST_RESOURCES = 8


@dataclass(frozen=True)
class Ask:
    """One resource of a pod. stack: name of the system that owns it, "" where none does. units: bytes of one by a node's unit.

    memory: whether it is an amount of memory at all.
    """

    resource: str
    quantity: int
    stack: str
    units: dict[str, int]

    @property
    def memory(self) -> bool:
        return bool(self.units)

    @property
    def label(self) -> str:
        return _BY_NAME[self.stack].label if self.stack else ""

    def bytes_by(self, unit: str) -> int | None:
        """Bytes of all of it on a node that counts in this unit; None where it is no memory, or the unit is not known."""
        each = self.units.get(unit)
        return None if each is None else self.quantity * each


def asks_of(pod: Pod, context: Context | None = None) -> list[Ask]:
    """By name of the resource. context: of the settings; who asks for many pods makes it once."""
    context = context or stack_context()
    requests = pod.requests if isinstance(pod.requests, dict) else {}
    named = sorted((name, number) for name, number in requests.items() if isinstance(number, int))
    return [_ask(name, number, context) for name, number in named[:MOST_RESOURCES]]


def _ask(resource: str, quantity: int, context: Context) -> Ask:
    stack = owner(resource, context) or ""
    return Ask(resource, quantity, stack, _units(stack, resource, context))


def _units(stack: str, resource: str, context: Context) -> dict[str, int]:
    if resource in registry.in_bytes:
        return dict.fromkeys(("", "GiB", "MiB"), 1)
    if not stack:
        return {}
    told = ((unit, _BY_NAME[stack].memory_of(resource, unit, context)) for unit in ("", "GiB", "MiB"))
    return {unit: size for unit, size in told if size is not None}
