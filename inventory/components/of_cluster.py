"""The components that a cluster has once: operators, scheduler extenders, custom resources."""

from __future__ import annotations

from stacks.engine.registry import registry
from stacks.engine.software.base import Software, Statement


def of_cluster(software: Software) -> dict[str, tuple[str, Statement]]:
    """Component → (its stack, what is true of it)."""
    found: dict[str, tuple[str, Statement]] = {}
    for declared in registry.software:
        for name, statement in declared.software.cluster(software).items():
            found[name] = (declared.name, statement)
    return found
