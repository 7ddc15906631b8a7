"""Taints that nodes keep, as tolerations for what must run on them."""

from __future__ import annotations

from collections.abc import Iterable

from kube.objects import Node
from stacks.engine.setup import Json

_KEEPING_AWAY = ("NoSchedule", "NoExecute")
#: Taints that come and go with the state of a node; DaemonSets tolerate most of them by themselves.
_PASSING = frozenset(
    (
        *(
            f"node.kubernetes.io/{key}"
            for key in (
                "not-ready",
                "unreachable",
                "disk-pressure",
                "memory-pressure",
                "pid-pressure",
                "unschedulable",
                "network-unavailable",
                "out-of-service",
            )
        ),
        "node.cloudprovider.kubernetes.io/uninitialized",
        "node.cloudprovider.kubernetes.io/shutdown",
        "ToBeDeletedByClusterAutoscaler",
        "DeletionCandidateOfClusterAutoscaler",
        "karpenter.sh/disrupted",
        "karpenter.sh/disruption",
    )
)


def toleration(key: str, effect: str = "NoSchedule") -> Json:
    """Of a taint with any value."""
    return {"key": key, "operator": "Exists", "effect": effect}


def tolerations(nodes: Iterable[Node], *always: Json) -> list[Json]:
    """Those of `always`, then one for each other taint of the nodes, by key."""
    taints = {
        (taint.key, taint.effect)
        for node in nodes
        for taint in (node.spec.taints if node.spec else None) or ()
        if taint.effect in _KEEPING_AWAY and taint.key and taint.key not in _PASSING
    }
    given = [toleration(key, effect) for key, effect in sorted(taints)]
    return [*always, *(one for one in given if one not in always)]
