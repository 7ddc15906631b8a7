"""Why a card that is not allocated is unavailable, and so what "free" means: one rule for all that shows it.

A card is free when it is not allocated and a pod can be allocated it: its stack does not mark it unhealthy, its node is ready and not
cordoned, and the data of its cluster are current. Any other card that is not allocated is unavailable. The reconciler writes what it
knows of cards and nodes into their rows (`unavailable_reason`, the states "free" and "unavailable"). Whether a cluster's data are
current depends on the clock alone, so it is checked here.
Source for nodes and taints: kubernetes/kubernetes v1.36.3 (NodeUnschedulable, TaintToleration).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from django.db.models import Q

from inventory.condition import in_step, sync_of
from inventory.condition import watches as watches_now
from inventory.models import Card, NodeTotals, Watch
from inventory.models.choices import CardState, UnavailableReason
from kube.objects import Node, Taint
from runtime.cached import once, shared

#: Effects of taints that keep a pod off.
_EFFECTS = frozenset(("NoSchedule", "NoExecute"))


def of_node(ready: bool | None, cordoned: bool) -> Iterator[UnavailableReason]:
    """What keeps any pod off a node, whatever it asks for, the most telling first. ready: None when the node does not say."""
    if not ready:
        yield UnavailableReason.READINESS_UNKNOWN if ready is None else UnavailableReason.NOT_READY
    if cordoned:
        yield UnavailableReason.CORDONED


def taints_of(node: Node) -> Iterator[Taint]:
    """Those that keep pods off that do not tolerate them."""
    for taint in (node.spec.taints if node.spec else None) or ():
        if taint.effect in _EFFECTS:
            yield taint


def written(taint: Taint) -> str:
    """As a toleration of it is typed."""
    return f"{taint.key}{'=' if taint.value else ''}{taint.value or ''}:{taint.effect}"


def unbelieved() -> tuple[int, ...]:
    """Ids of the clusters whose mirror cannot be believed now; most often none. One query a request.

    A cluster without watches is not among them: whatever rows it had came by a watch.
    """
    return once("unbelieved clusters", lambda: shared("unbelieved clusters", None, _unbelieved))


def _unbelieved() -> tuple[int, ...]:
    return tuple(sorted(cluster for cluster, own in watches_of_clusters().items() if not in_step(sync_of(own))))


def watches_of_clusters() -> Mapping[int, list[Watch]]:
    """Id of a cluster → its watches. One query a request."""
    return once("watches", _watches)


def _watches() -> dict[int, list[Watch]]:
    found: dict[int, list[Watch]] = {}
    for watch in watches_now():
        found.setdefault(watch.cluster_id, []).append(watch)
    return found


def in_believed() -> Q:
    """Rows of clusters that are believed: no condition at all where all are, so that lists keep their indexes."""
    ids = unbelieved()
    return ~Q(cluster_id__in=ids) if ids else Q()


def in_states(states: Iterable[str]) -> Q:
    """Cards in any of these states now. One query when it matters which clusters are believed."""
    wanted = set(states)
    away = unbelieved() if wanted & {CardState.FREE, CardState.UNAVAILABLE} else ()
    if not away:
        return Q(state__in=wanted)
    found = Q(state__in=wanted - {CardState.FREE})
    if CardState.FREE in wanted:
        found |= Q(state=CardState.FREE) & ~Q(cluster_id__in=away)
    if CardState.UNAVAILABLE in wanted:
        found |= Q(state=CardState.FREE, cluster_id__in=away)
    return found


def reason_in(reasons: Iterable[str]) -> Q:
    """Cards or totals of nodes that are kept off for any of these reasons now: of a cluster that is not believed, for that alone."""
    wanted, away = set(reasons), Q(cluster_id__in=unbelieved())
    found = Q(unavailable_reason__in=wanted - {UnavailableReason.STALE}) & ~away
    return found | away if UnavailableReason.STALE in wanted else found


def with_room(column: str, least: int) -> Q:
    """Rows that have at least so many bytes of what can be given out now."""
    found = Q(**{f"{column}__gte": least})
    return found & in_believed() if least > 0 else found


def cards_now(cards: Iterable[Card]) -> None:
    """Have cards that were read say what is so now: of a cluster that is not believed nothing is free. They are not to be saved."""
    away: tuple[int, ...] | None = None
    for card in cards:
        away = unbelieved() if away is None else away
        if card.cluster_id not in away or card.removed_at is not None:
            continue
        card.unavailable_reason = UnavailableReason.STALE.value
        if card.state == CardState.FREE:
            card.state = CardState.UNAVAILABLE.value
        card.memory_free_bytes, card.memory_unavailable_bytes = _moved(
            card.memory_free_bytes, card.memory_unavailable_bytes
        )


def totals_now(rows: Iterable[NodeTotals]) -> None:
    """The same of totals of nodes."""
    away: tuple[int, ...] | None = None
    for row in rows:
        away = unbelieved() if away is None else away
        if row.cluster_id not in away:
            continue
        row.unavailable_reason = UnavailableReason.STALE.value
        row.cards_free, row.cards_unavailable = _moved(row.cards_free, row.cards_unavailable)
        row.memory_free_bytes, row.memory_unavailable_bytes = _moved(
            row.memory_free_bytes, row.memory_unavailable_bytes
        )
        row.largest_gap_bytes, gap = _moved(row.largest_gap_bytes, None)
        row.gap_unavailable_bytes = max(
            (one for one in (gap, row.gap_unavailable_bytes) if one is not None), default=None
        )


def free_now(free: int | None, unavailable: int | None, believed: bool) -> tuple[int | None, int | None]:
    """(free, unavailable) of a row, by whether the mirror of its cluster can be believed now."""
    return (free, unavailable) if believed else _moved(free, unavailable)


def _moved(free: int | None, unavailable: int | None) -> tuple[int | None, int | None]:
    """(what is free, what is apart) when all that is free is apart. What is over-committed stays so."""
    if free is None or free <= 0:
        return free, unavailable
    return 0, free + (unavailable or 0)
