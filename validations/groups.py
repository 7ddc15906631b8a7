"""Where a run of a group of nodes would go: its places, why they do not make a group, and which nodes have passed alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import F

from inventory.models import Node, NodeTotals
from validations.models import LastResult, RunNode
from validations.suites import registry
from validations.suites.engine.base import Reason, Suite
from validations.suites.engine.placement import pick
from validations.targets import NoPlace, Place, find_cluster, find_place
from wording.said import sentence, series

#: Nodes of one group.
MOST = 64


def find_places(suite: Suite, cluster: str, names: Sequence[str]) -> tuple[Place, ...]:
    """Raises NoPlace."""
    if not suite.nodes <= len(names) <= MOST:
        raise NoPlace("nodes", sentence("From {least} to {most} nodes are required.", least=suite.nodes, most=MOST))
    if len(set(names)) < len(names):
        raise NoPlace("nodes", sentence("Each node may be named once."))
    return tuple(find_place(cluster, name) for name in names)


def why_not(suite: Suite, places: Iterable[Place], options: dict[str, Any]) -> list[Reason]:
    """Why these nodes cannot take the run now, each reason with its node; empty when they can."""
    every = list(places)
    found = [_of_node(one, place) for place in every for one in suite.fit(place.target, options)]
    if found:
        return found
    resources = {pick(suite.families, place.target, options).resource.name for place in every}
    if len(resources) > 1:
        names = ", ".join(sorted(resources))
        return [Reason("no-resource", sentence("The nodes have different resources: {names}.", names=names))]
    return []


def _of_node(reason: Reason, place: Place) -> Reason:
    if place.node.name in reason.text:
        return reason
    return Reason(reason.code, sentence("Node {node}: {text}", node=place.node.name, text=reason.text))


def hostnames(places: Iterable[Place]) -> list[str]:
    return [place.target.hostname or place.node.name for place in places]


def rows(run_id: str, places: Sequence[Place]) -> list[RunNode]:
    """The rows of the nodes, not written yet. One query."""
    passed = passed_alone(places)
    return [
        RunNode(run_id=run_id, place=at, node_name=place.node.name, alone_id=passed.get(place.node.name))
        for at, place in enumerate(places)
    ]


def passed_alone(places: Sequence[Place]) -> dict[str, str]:
    """Node → its last run that passed and tested its cards together. A group without one of each node proves little when it fails."""
    suites = [one.id for one in registry().values() if one.nodes == 1 and one.cards > 1]
    names = [place.node.name for place in places]
    good = LastResult.objects.filter(
        cluster=places[0].cluster, node_name__in=names, suite__in=suites, verdict="passed", good_id=F("run_id")
    )
    return dict(good.order_by("ended_at").values_list("node_name", "run_id"))


def without_pass(nodes: Iterable[RunNode]) -> list[str]:
    """Names of those that had not passed alone when the group was requested."""
    return [one.node_name for one in nodes if one.alone_id is None]


def not_alone(names: Sequence[str]) -> Reason:
    """What is said of a group with such nodes."""
    told = series(names, ", ")
    return Reason(
        "no-pass-alone", sentence("No test of several cards has passed on these nodes alone: {names}.", names=told)
    )


def idle(suite: Suite, cluster: str, pool: str, number: int) -> list[str]:
    """So many nodes of a pool on which nothing holds a card now, those first that have passed alone. Raises NoPlace."""
    where = find_cluster(cluster)
    free = NodeTotals.objects.filter(
        cluster=where, pool=pool, cards_total__gte=1, cards_allocated=0, unplaced_count=0, unavailable_reason=""
    ).order_by("node_name")
    names = list(free.values_list("node_name", flat=True)[:1000])
    ready = Node.objects.filter(cluster=where, name__in=names, ready=True, unschedulable=False).order_by("name")
    found = [find_place(where.name, name) for name in ready.values_list("name", flat=True)[: number + MOST]]
    usable = [place for place in found if not suite.fit(place.target)]
    if len(usable) < number:
        text = sentence(
            "Pool {pool} has {there} idle nodes for this suite, {number} are required.",
            pool=f"{pool[:255]!r}",
            there=len(usable),
            number=number,
        )
        raise NoPlace("pool", text)
    passed = passed_alone(usable)
    return [one.node.name for one in sorted(usable, key=lambda one: one.node.name not in passed)][:number]
