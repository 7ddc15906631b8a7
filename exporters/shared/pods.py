"""Pods beside NVIDIA's cards that hold a card and use none: reservations of KAI scheduler and run:ai, validations of the GPU
Operator. Sources: NVIDIA/KAI-Scheduler, pkg/common/constants; NVIDIA/gpu-operator, assets and validator.
"""

from __future__ import annotations

from exporters.engine.holders import NoHolders

_RESERVATIONS = frozenset(("kai-resource-reservation", "runai-reservation"))
_VALIDATIONS = r"nvidia-(?:cuda|device-plugin|operator|sandbox|dra|toolkit|driver)-validat(?:or|ion)(?:-.*)?"


def nvidia(*pods: str, containers: tuple[str, ...] = ()) -> NoHolders:
    """With the names of the exporter's own pods, less what charts put before and DaemonSets after."""
    return NoHolders(
        exporters="|".join(rf"(?:.*-)?{name}(?:-.*)?" for name in pods),
        containers=frozenset(containers),
        namespaces=_RESERVATIONS,
        others=_VALIDATIONS,
    )
