"""What gpushare's scheduler extender says of nodes that do not take a pod, and the unit of its memory.

Source: AliyunContainerService/gpushare-scheduler-extender, pkg/scheduler (gpushare-predicate.go).
"""

from __future__ import annotations

from stacks.engine.base import Context
from stacks.engine.stack import Refusal
from stacks.gpushare.declared import names
from stacks.gpushare.unit import BYTES
from wording.said import gettext_noop

REFUSALS = (
    Refusal(
        r"Insufficient GPU Memory in one device",
        gettext_noop(
            "No single card of these nodes has that much free memory. Free memory of several cards does not add up."
        ),
        gettext_noop("Request at most the largest free block of one card, or wait until an allocation ends."),
    ),
    Refusal(
        r"The node \S{1,253} is not for GPU share, need skip",
        gettext_noop("These nodes do not offer card memory as a resource."),
        gettext_noop("This is normal. The pod needs a node whose device plugin offers the requested resource."),
    ),
)


def memory_of(resource: str, unit: str, context: Context) -> int | None:
    """Bytes of one unit of memory on a node that counts in this unit; None for other resources."""
    return BYTES.get(unit) if resource == names(context).memory else None
