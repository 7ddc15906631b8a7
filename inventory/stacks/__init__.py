"""The sharing systems that gpudash understands: one module each, found by what it offers.

Every module of this package that has `NAME`, `owns` and `read` is a stack (see `base.Stack`), so a new sharing system is
one new file. A stack may also have `marks(node)`: whether the node carries its own mark, so that it is asked even where none
of its resources is seen, and `PLUGINS`: ids of the components whose DaemonSets it looks at (`context.daemonsets`). This module
must not know any stack by name.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import cast

from inventory.stacks.base import Context, Stack
from inventory.stacks.names import looks_like_gpu
from kube.objects import Node


def _found() -> tuple[Stack, ...]:
    modules = [importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__)]
    stacks = [module for module in modules if all(hasattr(module, name) for name in ("NAME", "owns", "read"))]
    return tuple(cast(Stack, module) for module in sorted(stacks, key=lambda module: str(module.NAME)))


def concerned(node: Node, resources: Iterable[str], context: Context) -> list[Stack]:
    """The stacks to ask about a node: those that own one of the resources seen there, and those whose mark it carries."""
    names = {owner(resource, context) for resource in resources}
    return [stack for stack in STACKS if stack.NAME in names or (stack.NAME in _MARKS and _MARKS[stack.NAME](node))]


def owner(resource: str, context: Context) -> str | None:
    """NAME of the stack that understands this extended resource; None when none does."""
    return _owner(resource, context.gpushare_resource, context.gpushare_count)


def relevant_resource(resource: str, context: Context) -> bool:
    """Whether pods that ask for this resource are mirrored: a stack owns it, or it looks like a GPU."""
    return _relevant(resource, context.gpushare_resource, context.gpushare_count)


def readers(components: Iterable[str]) -> set[str]:
    """NAMEs of the stacks whose answer a DaemonSet of these components may change."""
    return {name for part in components for name in _READERS.get(part, ())}


def _readers() -> dict[str, tuple[str, ...]]:
    parts = {stack.NAME: tuple(getattr(stack, "PLUGINS", ())) for stack in STACKS}
    return {part: tuple(name for name, read in parts.items() if part in read) for part in set().union(*parts.values())}


# Resource names are few and asked for once per container, so the answers are kept; the bound is for hostile names.
@lru_cache(maxsize=4096)
def _owner(resource: str, memory: str, count: str) -> str | None:
    context = Context(now=0.0, gpushare_resource=memory, gpushare_count=count)
    return next((stack.NAME for stack in STACKS if stack.owns(resource, context)), None)


@lru_cache(maxsize=4096)
def _relevant(resource: str, memory: str, count: str) -> bool:
    return looks_like_gpu(resource) or _owner(resource, memory, count) is not None


#: All stacks, ordered by name.
STACKS: tuple[Stack, ...] = _found()
_MARKS: dict[str, Callable[[Node], bool]] = {stack.NAME: stack.marks for stack in STACKS if hasattr(stack, "marks")}
_READERS = _readers()
