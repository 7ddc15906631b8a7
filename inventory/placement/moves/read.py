"""The plan of the tables: the finder's rows, and the pods of the nodes where moves would help. Two queries more than the finder has.

Pods of all namespaces are read, so that the plan is the same whoever asks; the answer leaves out names outside the scope (`named`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from inventory.models import Allocation
from inventory.models import Pod as PodRow
from inventory.placement.finder.finder import Looked, look
from inventory.placement.finder.request import Request
from inventory.placement.finder.rows import NodeKey
from inventory.placement.moves.plan import Planned, plan
from inventory.placement.moves.pods import Hold, Pod
from runtime.scope import counting, current

_HOLD = ("card_id", "stack", "mode", "resource", "quantity", "memory_bytes", "core_percent", "card__profile")
_POD = ("cluster_id", "node_name", "pod_uid", "namespace", "pod", "owner_kind", "owner_name")


def planned(request: Request, *, whole_node: bool = False, looked: Looked | None = None) -> tuple[Planned, Looked]:
    """As `finder.look`, or by what it has read: raises BadRequest when a named cluster does not exist."""
    looked = looked or look(request)
    return plan(looked, request, pods, whole_node=whole_node), looked


def pods(places: Sequence[NodeKey]) -> list[Pod]:
    """Those of these nodes that have cards now."""
    chosen = frozenset(places)
    clusters, names = {cluster for cluster, _ in chosen}, {name for _, name in chosen}
    with counting():
        now = Allocation.objects.filter(cluster_id__in=clusters, node_name__in=names, ended_at=None).order_by()
        held = list(now.values_list(*_POD, *_HOLD))
        # By their keys: most pods of a cluster have no card, and their rows are wide.
        own = PodRow.objects.filter(cluster_id__in=clusters, uid__in=now.values("pod_uid")).order_by()
        columns = ("cluster_id", "uid", "priority", "cpu_millis", "host_memory_bytes")
        asked = {(cluster, uid): rest for cluster, uid, *rest in own.values_list(*columns).iterator(5000)}
    told: dict[tuple[int, str, str], tuple[str, str, str, str]] = {}
    holds: defaultdict[tuple[int, str, str], list[Hold]] = defaultdict(list)
    for (
        cluster,
        node,
        uid,
        namespace,
        pod,
        kind,
        owner,
        card,
        stack,
        mode,
        resource,
        quantity,
        memory,
        cores,
        profile,
    ) in held:
        if (cluster, node) in chosen:
            key = cluster, node, uid
            told[key] = namespace, pod, kind, owner
            holds[key].append(Hold(card, stack, mode, resource, quantity, memory, cores or 0, profile or ""))
    found = []
    for key, mine in holds.items():
        cluster, node, uid = key
        namespace, pod, kind, owner = told[key]
        priority, cpu, memory = asked.get((cluster, uid), (0, 0, 0))
        found.append(
            Pod(
                uid=uid,
                place=(cluster, node),
                namespace=namespace,
                name=pod,
                owner_kind=kind,
                owner_name=owner,
                priority=priority or 0,
                cpu_millis=cpu or 0,
                host_memory=memory or 0,
                holds=tuple(mine),
            )
        )
    return found


def named(pod: Pod) -> bool:
    """Whether the scope includes the names of the pod."""
    return current().sees_pods(pod.place[0], pod.namespace)
