"""Why the GPU software of a node keeps runs from starting, as its components say it (`inventory.models.Component`).

A cause warns before a launch and never forbids one: what is known may be old, and a run may be what shows that a repair worked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec
from django.db.models import Q

from inventory.models import Component, NodeTotals
from inventory.reconcile.software import STATE_WORDS
from runtime.scope import current
from runtime.spans import DAY, HOUR, MINUTE
from stacks.engine.registry import registry
from stacks.engine.software.base import CAUSES, CRASH_LOOPING, NOT_READY, OUTDATED, READY
from wording.said import Said, restored, sentence

#: Code of the warning and of the reason.
CODE = "software-not-ready"
#: Nodes that one sentence names.
NAMED = 10
#: The component whose step is the state of an upgrade, and states in which none is under way.
_DRIVER = "driver"
_NO_UPGRADE = ("", "upgrade-done", "upgrade-required", "upgrade-failed")

#: Id of the cluster, name of the node.
NodeKey = tuple[int, str]


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """The component that explains why the software of a node is not ready.

    why, remedy: "" where not known; the remedy also for who does not see the cluster whole, since it may name pods. step: state of
    an upgrade of the driver that is under way, else "". since: of the step, else of the state. blocks: whether no run of the node
    can start by it; False for what gives out no cards, such as an exporter.
    """

    component: str
    state: str
    why: str
    remedy: str
    since: datetime
    step: str
    blocks: bool

    def lasting(self, now: datetime) -> Said:
        """For who reads it now: since 4 min."""
        return self._told(_since((now - self.since).total_seconds()))

    def dated(self) -> Said:
        """For who reads it later: since 2026-11-22 15:40 UTC."""
        moment = f"{self.since.astimezone(UTC):%Y-%m-%d %H:%M}"
        return self._told(sentence("since {moment} UTC", moment=moment))

    def _told(self, since: Said) -> Said:
        named = {"component": self.component, "since": since, "why": self.why}
        if self.step:
            if self.why and self.state in (NOT_READY, CRASH_LOOPING):
                return sentence(
                    "The driver is being upgraded ({step}) {since}: {why}",
                    step=self.step,
                    since=since,
                    why=self.why,
                )
            return sentence("The driver is being upgraded ({step}) {since}.", step=self.step, since=since)
        if self.why and self.state in (READY, OUTDATED):
            return sentence("{component}, {since}: {why}", **named)
        state = STATE_WORDS.get(self.state, self.state)
        if self.why:
            return sentence("{component} is {state} {since}: {why}", state=state, **named)
        return sentence("{component} is {state} {since}.", component=self.component, state=state, since=since)


def _since(seconds: float) -> Said:
    whole = max(0, int(seconds))
    if whole < MINUTE:
        return sentence("since {n} s", n=whole)
    if whole < HOUR:
        return sentence("since {n} min", n=whole // MINUTE)
    if whole < 2 * DAY:
        return sentence("since {n} h", n=whole // HOUR)
    return sentence("since {n} d", n=whole // DAY)


class _Row(msgspec.Struct, frozen=True):
    """Columns of a component. Of the forms of its texts not all are for everybody: those that may be read are named here."""

    cluster_id: int
    node_name: str
    name: str
    stack: str
    state: str
    step: str
    first_cause: bool
    since: datetime | None
    state_since: datetime
    step_since: datetime | None
    why: str
    warnings: list[str]
    remedy: str
    wording__why: Any
    wording__warnings: Any
    wording__remedy: Any

    @property
    def upgrade(self) -> bool:
        return self.name == _DRIVER and self.step not in _NO_UPGRADE

    @property
    def blocks(self) -> bool:
        return self.name not in registry.optional_components

    @property
    def rank(self) -> int:
        """Of several causes of a node the lowest counts."""
        return 0 if self.upgrade else 1 if self.node_name and self.blocks else 2 if not self.node_name else 3


def causes(places: Iterable[NodeKey]) -> dict[NodeKey, Cause]:
    """The cause of each node that has one: two queries, however many nodes; one where the software of their clusters is ready."""
    wanted = set(places)
    if not wanted:
        return {}
    clusters, names = {cluster for cluster, _ in wanted}, {node for _, node in wanted}
    own = Q(first_cause=True) | (Q(name=_DRIVER) & ~Q(step__in=_NO_UPGRADE))
    shared = Q(node_name="", name__in=registry.schedulers, state__in=CAUSES)
    found = Component.objects.filter((~Q(node_name="") & own) | shared)
    found = found.filter(cluster_id__in=clusters, node_name__in=["", *sorted(names)])
    rows = [_Row(*values) for values in found.order_by("position", "id").values_list(*_Row.__struct_fields__)]
    best: dict[NodeKey, _Row] = {}
    for row in (row for row in rows if row.node_name):
        _take(best, (row.cluster_id, row.node_name), row)
    if of_clusters := [row for row in rows if not row.node_name]:
        for place, stacks in _stacks(wanted, {row.cluster_id for row in of_clusters}).items():
            for row in of_clusters:
                if row.cluster_id == place[0] and row.stack in stacks:
                    _take(best, place, row)
    return {place: _cause(row) for place, row in best.items() if place in wanted}


def cause_of(cluster_id: int, node_name: str) -> Cause | None:
    """The cause of one node."""
    return causes([(cluster_id, node_name)]).get((cluster_id, node_name))


def _take(best: dict[NodeKey, _Row], place: NodeKey, row: _Row) -> None:
    if place not in best or row.rank < best[place].rank:
        best[place] = row


def _stacks(wanted: Collection[NodeKey], clusters: Collection[int]) -> dict[NodeKey, list[str]]:
    """The stacks of nodes of these clusters."""
    names = sorted({node for cluster, node in wanted if cluster in clusters})
    rows = NodeTotals.objects.filter(cluster_id__in=clusters, node_name__in=names)
    return {
        (cluster, node): [str(one) for one in stacks]
        for cluster, node, stacks in rows.values_list("cluster_id", "node_name", "stacks")
        if (cluster, node) in wanted
    }


def _cause(row: _Row) -> Cause:
    why, form = row.why, row.wording__why
    if not why and row.warnings:
        forms = row.wording__warnings
        why, form = str(row.warnings[0]), forms[0] if isinstance(forms, list) and forms else None
    named = current().sees_whole(row.cluster_id)
    return Cause(
        component=row.name,
        state=row.state,
        why=restored(why, form),
        remedy=restored(row.remedy, row.wording__remedy) if named else "",
        since=(row.step_since if row.upgrade else row.since) or row.since or row.state_since,
        step=row.step if row.upgrade else "",
        blocks=row.upgrade or row.blocks,
    )


def on_nodes(found: Mapping[NodeKey, Cause], clusters: Mapping[int, str]) -> str:
    """How many nodes have a cause, and the first of them by name. clusters: id → name. "" where none has one."""
    names = sorted(f"{clusters.get(cluster, cluster)}/{node}" for cluster, node in found)
    if not names:
        return ""
    if len(names) == 1:
        return sentence("GPU software is not ready on node {name}.", name=names[0])
    more = ", …" if len(names) > NAMED else ""
    text = ", ".join(names[:NAMED]) + more
    return sentence("GPU software is not ready on {number} nodes: {names}.", number=len(names), names=text)
