"""What keeps any pod off a node, whatever it asks for: in the order in which the scheduler of Kubernetes looks.

A node of a cluster whose mirror is not in sync is never said to have room, nor one that does not say that it is ready: there the
finder is stricter than a scheduler. Source: kubernetes/kubernetes v1.36.3 (NodeUnschedulable, TaintToleration, NodeAffinity).
"""

from __future__ import annotations

from inventory.models.choices import UnavailableReason
from inventory.placement.finder.request import Request, Toleration
from inventory.placement.finder.rows import Figures, NodeState
from inventory.queries.availability import of_node, taints_of, written
from kube.objects import Node
from stacks.engine.names import labels_of
from stacks.engine.trim_node import keeps_label

STALE = UnavailableReason.STALE.value  # nobody knows whether what the mirror has of it is still so
NOT_COUNTED = "not-counted"  # its cards have not been counted yet
NODE_UNKNOWN = "node-unknown"  # its own row is missing, or cannot be read
NOT_READY = UnavailableReason.NOT_READY.value
READINESS_UNKNOWN = UnavailableReason.READINESS_UNKNOWN.value
CORDONED = UnavailableReason.CORDONED.value
TAINT = "taint"
SELECTOR = "selector"
SELECTOR_UNKNOWN = "selector-unknown"  # the label is none that the mirror keeps
OTHER_MODEL = "other-model"
MODEL_UNKNOWN = "model-unknown"
OTHER_STACK = "other-stack"
NO_RULE = "no-rule"  # how its system places a pod is not known here
LITTLE_CPU = "little-cpu"  # even if only pods that request cards ran there
LITTLE_HOST_MEMORY = "little-host-memory"
REASONS = (
    *(STALE, NOT_COUNTED, NODE_UNKNOWN, NOT_READY, READINESS_UNKNOWN, CORDONED, TAINT, SELECTOR, SELECTOR_UNKNOWN),
    *(OTHER_MODEL, MODEL_UNKNOWN, OTHER_STACK, NO_RULE, LITTLE_CPU, LITTLE_HOST_MEMORY),
)
HOST_UNKNOWN = "host-unknown"  # the node does not say how much CPU or memory it has

#: Why, and what it is about: a taint, a label; "" for nothing.
Why = tuple[str, str]


def keeps_off(told: NodeState, node: Node, request: Request) -> Why | None:
    """Why no such pod is scheduled on the node; None when one is, as far as the node goes."""
    if (why := next(of_node(told.ready, told.cordoned), None)) is not None:
        return why.value, ""
    for taint in taints_of(node):
        if not request.tolerates(taint):
            return TAINT, written(taint)
    labels = labels_of(node)
    for key, value in request.selector:
        if labels.get(key) != value:
            unknown = key not in labels and not keeps_label(key)
            return SELECTOR_UNKNOWN if unknown else SELECTOR, f"{key}={value}"
    return None


def of_host(figures: Figures, request: Request) -> Why | None:
    """Whether the node lacks CPU or main memory for certain. What pods without a card request is not mirrored: there may be less."""
    asked = (
        (request.cpu_millis, figures.cpu_free, LITTLE_CPU),
        (request.host_memory, figures.host_memory_free, LITTLE_HOST_MEMORY),
    )
    return next(((why, "") for want, free, why in asked if want is not None and free is not None and free < want), None)


def notes_of_host(figures: Figures, request: Request) -> tuple[str, ...]:
    asked = ((request.cpu_millis, figures.cpu_free), (request.host_memory, figures.host_memory_free))
    return (HOST_UNKNOWN,) if any(want is not None and free is None for want, free in asked) else ()


def written_toleration(one: Toleration) -> str:
    """As it is typed."""
    value = "" if one.value is None else f"={one.value}"
    return f"{one.key}{value}{':' if one.effect else ''}{one.effect}"
