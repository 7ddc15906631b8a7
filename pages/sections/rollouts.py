"""Driver upgrades and MIG changes of a fleet: how many nodes are at which step, which block others, and which are stuck."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import Count, F, Min
from django.utils import timezone

from inventory.components import steps
from inventory.models import Cluster, Component, NodeTotals, SoftwareObject
from inventory.models.cluster import Kind
from inventory.queries import rows as querysets
from kube.decoders import decoder
from kube.software import ClusterPolicy
from pages.words.components import ComponentLine, component_line, list_url
from stacks.engine.software import base
from validations import validity, validity_counts

#: Nodes that are listed one by one; of more, how many.
NODES_SHOWN = 10
_policy = decoder(ClusterPolicy)


class StepLine(NamedTuple):
    """Nodes at one step. since: of the one that is there longest."""

    step: str
    level: str
    nodes: int
    since: datetime | None
    url: str


class Validated(NamedTuple):
    """Cards of nodes whose upgrade is done: how many there are, and how many were validated on the new driver."""

    nodes: int
    cards: int
    validated: int


@dataclass(frozen=True)
class Rollout:
    """Upgrades, or changes, in one cluster. steps: those under way. waiting: nodes that wait for their turn.

    taken, slots: how many nodes are being upgraded, and how many may be at once; None: without a limit, or not known.
    unavailable: how many nodes may be unavailable, as the policy says it. held: nodes that take a slot, or are stuck.
    maintained: a maintenance operator prepares the nodes, and the policy's limits do not apply.
    """

    cluster: str
    steps: list[StepLine]
    waiting: int
    taken: int
    slots: int | None
    unavailable: str
    held: list[ComponentLine]
    more: int
    validated: Validated | None
    maintained: bool = False

    @property
    def full(self) -> bool:
        return self.slots is not None and self.taken >= self.slots

    @property
    def stuck(self) -> list[ComponentLine]:
        return [line for line in self.held if is_stuck(line.row)]


class _Counted(NamedTuple):
    cluster_id: int
    name: str
    step: str
    nodes: int
    since: datetime | None


@dataclass(frozen=True)
class Rollouts:
    upgrades: list[Rollout]
    mig: list[Rollout]


def rollouts() -> Rollouts:
    """Those with a step that is not over. Eight queries at most."""
    counted = _counted()
    going = {(one.cluster_id, one.name) for one in counted if steps.under_way(one.step)}
    if not going:
        return Rollouts([], [])
    names = dict(Cluster.objects.values_list("pk", "name"))
    held = _held(going)
    upgrades = sorted({cluster for cluster, name in going if name in steps.DRIVERS})
    policies = _policies(upgrades)
    validated = _validated(upgrades)
    return Rollouts(
        [
            _rollout(names[pk], _of(counted, pk, steps.DRIVERS), held, policies.get(pk), validated.get(pk))
            for pk in upgrades
        ],
        [
            _rollout(names[pk], _of(counted, pk, steps.MIG), held, None, None)
            for pk in sorted({cluster for cluster, name in going if name in steps.MIG})
        ],
    )


def is_stuck(row: Component) -> bool:
    """A MIG change that waits for nothing any more: the manager acts again only when its label changes."""
    if row.name not in steps.MIG or row.step != steps.PENDING or row.step_since is None:
        return False
    return timezone.now() - row.step_since > timedelta(seconds=base.STUCK_S)


def _counted() -> list[_Counted]:
    rows = querysets.components().exclude(step="").filter(name__in=steps.DRIVERS | steps.MIG)
    found = rows.order_by().values_list("cluster_id", "name", "step")
    return [_Counted(*one) for one in found.annotate(Count("id"), Min("step_since"))]


def _of(counted: Iterable[_Counted], cluster_id: int, names: Collection[str]) -> list[_Counted]:
    found = [one for one in counted if one.cluster_id == cluster_id and one.name in names]
    return sorted(found, key=lambda one: steps.place(one.step))


def _held(going: Collection[tuple[int, str]]) -> list[Component]:
    """Components at a step that is under way and does not wait, those that are there longest first."""
    rows = querysets.components().exclude(step="").exclude(step__in=steps.OVER | steps.WAIT)
    rows = rows.filter(cluster_id__in={pk for pk, _ in going}, name__in={name for _, name in going})
    return list(rows.order_by(F("step_since").asc(nulls_last=True), "id")[: NODES_SHOWN * 20])


def _rollout(
    cluster: str,
    counted: list[_Counted],
    held: list[Component],
    policy: tuple[int, str] | None,
    validated: Validated | None,
) -> Rollout:
    names = {one.name for one in counted}
    mine = [row for row in held if row.cluster.name == cluster and row.name in names]
    mine.sort(key=lambda row: not (row.step in steps.FAILED or is_stuck(row)))
    taken = sum(one.nodes for one in counted if steps.takes_slot(one.step))
    lines = [
        StepLine(
            one.step,
            "error" if one.step in steps.FAILED else "none" if one.step in steps.WAIT else "info",
            one.nodes,
            one.since,
            list_url(cluster=cluster, component=one.name, step=one.step),
        )
        for one in counted
        if steps.under_way(one.step)
    ]
    maintained = any(one.step in steps.MAINTENANCE for one in counted)
    slots, unavailable = (None, "") if policy is None or maintained else policy
    return Rollout(
        cluster=cluster,
        steps=lines,
        waiting=sum(one.nodes for one in counted if one.step in steps.WAIT),
        taken=taken,
        slots=slots or None,
        unavailable=unavailable,
        held=[component_line(row) for row in mine[:NODES_SHOWN]],
        more=max(0, taken - NODES_SHOWN),
        validated=validated,
        maintained=maintained,
    )


def _policies(cluster_ids: Collection[int]) -> dict[int, tuple[int, str]]:
    """Cluster → (maxParallelUpgrades, 0: no limit; maxUnavailable) of its oldest ClusterPolicy, which rules."""
    rows = SoftwareObject.objects.filter(cluster_id__in=cluster_ids, kind=Kind.CLUSTERPOLICIES)
    found: dict[int, tuple[int, str]] = {}
    for cluster_id, facts in rows.order_by("created_at", "id").values_list("cluster_id", "facts"):
        driver = (made.driver if (made := _policy.decode(facts).spec) else None) or None
        policy = driver.upgradePolicy if driver else None
        parallel = policy.maxParallelUpgrades if policy else None
        unavailable = policy.maxUnavailable if policy else None
        found.setdefault(
            cluster_id,
            (
                steps.MAX_PARALLEL if parallel is None else parallel,
                steps.MAX_UNAVAILABLE if unavailable is None else str(unavailable),
            ),
        )
    return found


def _validated(cluster_ids: Collection[int]) -> dict[int, Validated]:
    """Of nodes whose driver is ready after its upgrade. A card is validated on the driver that the node has now, or is not."""
    if not cluster_ids:
        return {}
    rows = querysets.components().filter(cluster_id__in=cluster_ids, name__in=steps.DRIVERS, state=base.READY)
    done = set(rows.filter(step__in=steps.OVER).exclude(step="").values_list("cluster_id", "node_name"))
    if not done:
        return {}
    totals = NodeTotals.objects.filter(cluster_id__in=cluster_ids)
    cards = {
        (pk, node): number or 0 for pk, node, number in totals.values_list("cluster_id", "node_name", "cards_total")
    }
    validated = validity_counts.by_node(cluster_ids)
    found: dict[int, Validated] = {}
    for place in done:
        before = found.get(place[0], Validated(0, 0, 0))
        found[place[0]] = Validated(
            before.nodes + 1,
            before.cards + cards.get(place, 0),
            before.validated + validated.get(place, {}).get(validity.VALIDATED, 0),
        )
    return found
