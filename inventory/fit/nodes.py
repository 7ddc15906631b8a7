"""What keeps any pod off a node, whatever it asks for: in the order in which the scheduler of Kubernetes looks.

A node of a cluster whose mirror is not in sync is never said to have room, nor one that does not say that it is ready: there the
finder is stricter than a scheduler. Source: kubernetes/kubernetes v1.36.3 (NodeUnschedulable, TaintToleration, NodeAffinity).
"""

from __future__ import annotations

from inventory.condition import AGEING_KINDS, NEEDED_KINDS, STALE_S, State, Sync
from inventory.fit.request import Request, Toleration
from inventory.fit.rows import NodeTold
from inventory.stacks.engine.names import labels_of
from inventory.stacks.engine.trim_node import keeps_label
from kube.objects import Node, Taint

STALE = "stale-cluster"  # nobody knows whether what the mirror has of it is still so
NOT_COUNTED = "not-counted"  # its cards have not been counted yet
NODE_UNKNOWN = "node-unknown"  # its own row is missing, or cannot be read
NOT_READY = "not-ready"
READINESS_UNKNOWN = "readiness-unknown"
CORDONED = "cordoned"
TAINT = "taint"
SELECTOR = "selector"
SELECTOR_UNKNOWN = "selector-unknown"  # the label is none that the mirror keeps
OTHER_MODEL = "other-model"
MODEL_UNKNOWN = "model-unknown"
OTHER_SYSTEM = "other-system"
NO_RULE = "no-rule"  # how its system places a pod is not known here
REASONS = (
    *(STALE, NOT_COUNTED, NODE_UNKNOWN, NOT_READY, READINESS_UNKNOWN, CORDONED, TAINT, SELECTOR, SELECTOR_UNKNOWN),
    *(OTHER_MODEL, MODEL_UNKNOWN, OTHER_SYSTEM, NO_RULE),
)

#: Why, and what it is about: a taint, a label; "" for nothing.
Why = tuple[str, str]
_KEEPS_OFF = frozenset(("NoSchedule", "NoExecute"))
_BAD = frozenset((State.REFUSED, State.UNWATCHED, State.UNREACHED, State.SILENT))


def in_step(sync: Sync) -> bool:
    """Whether the mirror of a cluster can be believed now: all has been listed, somebody watches, and there was a word lately."""
    if not sync.synced or sync.age_seconds is None or sync.age_seconds > STALE_S:
        return False
    states = {kind: one.state for kind, one in sync.conditions.items()}
    return not any(states.get(kind) in _BAD for kind in {*NEEDED_KINDS, *AGEING_KINDS})


def keeps_off(told: NodeTold, node: Node, request: Request) -> Why | None:
    """Why no such pod is scheduled on the node; None when one is, as far as the node goes."""
    if told.ready is None:
        return READINESS_UNKNOWN, ""
    if not told.ready:
        return NOT_READY, ""
    if told.cordoned:
        return CORDONED, ""
    for taint in (node.spec.taints if node.spec else None) or ():
        if taint.effect in _KEEPS_OFF and not request.tolerates(taint):
            return TAINT, written(taint)
    labels = labels_of(node)
    for key, value in request.selector:
        if labels.get(key) != value:
            unknown = key not in labels and not keeps_label(key)
            return SELECTOR_UNKNOWN if unknown else SELECTOR, f"{key}={value}"
    return None


def written(taint: Taint) -> str:
    """As a toleration of it is typed."""
    return f"{taint.key}{'=' if taint.value else ''}{taint.value or ''}:{taint.effect}"


def written_toleration(one: Toleration) -> str:
    """As it is typed."""
    value = "" if one.value is None else f"={one.value}"
    return f"{one.key}{value}{':' if one.effect else ''}{one.effect}"
