"""What the node's own figures say: devices that it has and does not give out.

A node's capacity counts all devices that a plugin reports, its allocatable those that it calls healthy. Which ones are missing is not
said, so it is the node's statement. Nothing is given out at all: then the plugin is away, or all are ill; nobody can say which.
"""

from __future__ import annotations

from kube.objects import Node
from stacks.engine.base import DEGRADED, UNHEALTHY, Context, HealthReport
from stacks.engine.health_reports import CHECK, PLUGIN
from stacks.engine.offers import offer
from stacks.engine.registry import names
from wording.said import gettext_noop, sentence

WITHHELD, NOTHING_GIVEN = "devices-withheld", "nothing-given-out"
SAYS = {
    WITHHELD: gettext_noop("The device plugin reports unhealthy devices on the node, but only their number"),
    NOTHING_GIVEN: gettext_noop(
        "No device of the node is allocatable: the device plugin is down or reports all devices as unhealthy"
    ),
}
#: Resources of one node that are looked at; a node has a handful.
_MOST = 64


def withheld(node: Node, context: Context) -> tuple[HealthReport, ...]:
    known = names(context)
    capacity = (node.status.capacity if node.status else None) or {}
    resources = sorted(name for name in capacity if "/" in name and known.relevant(name))[:_MOST]
    return tuple(told for name in resources for told in _of(node, name))


def _of(node: Node, resource: str) -> tuple[HealthReport, ...]:
    found = offer(node, resource)
    if found.capacity is None or found.allocatable is None or found.allocatable >= found.capacity:
        return ()
    code = WITHHELD if found.allocatable else NOTHING_GIVEN
    text = sentence(
        "{resource}: {withheld} of {capacity}",
        resource=resource,
        withheld=found.capacity - found.allocatable,
        capacity=found.capacity,
    )
    level = UNHEALTHY if found.allocatable else DEGRADED
    return (HealthReport(source=PLUGIN, level=level, code=code, says=SAYS[code], text=text, action=CHECK),)
