"""Validation suites, one module each, and the registry that finds them.

A module of this package with a `SUITE` is a suite: to add a test is to add a file. Nothing here imports Django or does I/O
beyond importing its own modules.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from validations.suites.base import Suite


@cache
def registry() -> MappingProxyType[str, Suite]:
    """All suites by id, in the order of their ids. Raises ValueError when two modules claim one id."""
    found: dict[str, Suite] = {}
    for module in iter_modules(__path__):
        suite: Suite | None = getattr(import_module(f"{__name__}.{module.name}"), "SUITE", None)
        if suite is None:
            continue
        if suite.id in found:
            raise ValueError(f"two suites have the id {suite.id}")
        found[suite.id] = suite
    return MappingProxyType(dict(sorted(found.items())))


def find(suite_id: str) -> Suite | None:
    """The suite of this id, None when there is none."""
    return registry().get(suite_id)
