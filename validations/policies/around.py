"""What is around the due cards of a policy: its runs under way, what its pools have free, and which pods are pending there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta

from django.db.models import Count, Q

from inventory.models import Card, NodeTotals, Pod
from inventory.models.choices import CardState
from inventory.placement.pending.decided import where_they_fit
from validations.ids import new_id
from validations.models import ACTIVE, Policy, Run
from validations.policies.choose import Around, Place, Pool

#: Pending pods of a cluster that are looked at, the longest pending first.
MOST_PENDING = 20
_DAY = timedelta(days=1)


def around(policy: Policy, pools: Mapping[tuple[int, str], str], clusters: Collection[int], at: datetime) -> Around:
    """pools: of the nodes of these clusters (`pools_of`). A constant number of queries, and three for each cluster."""
    active = Run.objects.filter(policy=policy, state__in=ACTIVE).values_list("cluster_id", "node_name")
    in_cluster, in_pool = Counter[int](), Counter[Pool]()
    for cluster, node in active:
        in_cluster[cluster] += 1
        in_pool[cluster, pools.get((cluster, node), "")] += 1
    keeps = policy.keep_free_cards or policy.keep_free_nodes
    cards, nodes, whole = _free(clusters, pools) if keeps else (Counter[Pool](), Counter[Pool](), set())
    return Around(
        active_in_cluster=in_cluster,
        active_in_pool=in_pool,
        free_cards=cards,
        free_nodes=nodes,
        whole=whole,
        pending={node for cluster in clusters for node in _with_pending(cluster)},
        spent=_spent(clusters, at) if policy.card_minutes_per_day else {},
    )


def pools_of(clusters: Collection[int]) -> dict[tuple[int, str], str]:
    """(cluster id, node) → its pool."""
    rows = NodeTotals.objects.filter(cluster_id__in=clusters).values_list("cluster_id", "node_name", "pool")
    return {(cluster, node): pool for cluster, node, pool in rows}


def _free(
    clusters: Collection[int], pools: Mapping[tuple[int, str], str]
) -> tuple[Counter[Pool], Counter[Pool], set[tuple[int, str]]]:
    """Cards and nodes that pods can be given now, by pool, and which nodes. A run under way takes a card, whatever it is of."""
    free = Q(state=CardState.FREE)
    rows = (
        Card.objects.filter(cluster_id__in=clusters, removed_at=None).order_by().values_list("cluster_id", "node_name")
    )
    running = Counter(
        Run.objects.filter(cluster_id__in=clusters, state__in=ACTIVE).values_list("cluster_id", "node_name")
    )
    cards, nodes, whole = Counter[Pool](), Counter[Pool](), set[tuple[int, str]]()
    for cluster, node, every, number in rows.annotate(Count("pk"), Count("pk", filter=free)):
        pool, taken = (cluster, pools.get((cluster, node), "")), running[cluster, node]
        cards[pool] += max(0, number - taken)
        if number == every and not taken:
            nodes[pool] += 1
            whole.add((cluster, node))
    return cards, nodes, whole


def _with_pending(cluster: int) -> set[tuple[int, str]]:
    """Nodes of the cluster on which a pending pod fits, as far as is known."""
    return where_they_fit(
        Pod.objects.filter(cluster_id=cluster, pending=True).order_by("created_at", "pk")[:MOST_PENDING]
    )


def _spent(clusters: Collection[int], at: datetime) -> dict[Place, float]:
    """Seconds that runs took of each card in the last 24 hours."""
    # No run takes longer than a day: those that were made earlier are over.
    rows = Run.objects.filter(cluster_id__in=clusters, pk__gte=new_id(at - 2 * _DAY), started_at__isnull=False)
    recent = rows.filter(Q(ended_at__gte=at - _DAY) | Q(state__in=ACTIVE)).exclude(card_key="")
    found: Counter[Place] = Counter()
    for cluster, node, key, started, ended in recent.values_list(
        "cluster_id", "node_name", "card_key", "started_at", "ended_at"
    ).iterator(2000):
        if started is not None:
            found[cluster, node, key] += int(((ended or at) - max(started, at - _DAY)).total_seconds())
    return dict(found)
