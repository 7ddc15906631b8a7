"""Mirror = cluster, object by object: what the API lists beside what the tables hold."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from inventory.mirror.software import services_needed
from inventory.models import Allocation, Card, Cluster, DaemonSet, Node, NodeTotals, Pod, Watch
from inventory.models.cluster import LOOKED_FOR, Kind, WatchState
from tests.cluster import expected
from tests.cluster.expected import Hold, Totals
from tests.controlplane.admin import Admin
from tests.controlplane.objects import Json
from tests.services import wait_until

Rows = dict[str, Any]
#: Of the fleet, nobody watches these: Koordinator is not installed, and rules that taint devices are behind a gate of the API server
#: that is off.
RESTING = {
    Kind.DEVICETAINTRULES.value: WatchState.NOT_SERVED.value,
    Kind.DEVICES.value: WatchState.NOT_SERVED.value,
    **{kind.value: WatchState.NOT_SERVED.value for kind in LOOKED_FOR},
}
#: Each of the others is held by one watcher.
WATCHED = frozenset(Kind.values) - RESTING.keys()


def all_watching(cluster: Cluster) -> bool:
    """Whether each kind is in sync, or rests where there is nothing to watch."""
    states = dict(Watch.objects.filter(cluster=cluster).values_list("kind", "state"))
    wanted = dict.fromkeys(WATCHED, WatchState.WATCHING.value) | RESTING
    if Watch.objects.filter(cluster=cluster, kind=Kind.CONFIGMAPS, selection="[]").exists():
        wanted[Kind.CONFIGMAPS.value] = WatchState.NOT_NEEDED.value  # there is no plugin that names one
    if not services_needed(cluster.pk) and states.get(Kind.SERVICES.value) == WatchState.NOT_NEEDED:
        # Those that were needed once are watched on.
        wanted[Kind.SERVICES.value] = WatchState.NOT_NEEDED.value
    return states == wanted


def in_step(admin: Admin, cluster: Cluster, patience_s: float = 90.0, daemonsets: bool = True) -> float:
    """Wait until every table agrees with the API; returns the seconds. Raises AssertionError with the differences."""
    found: list[str] = []

    def agrees() -> bool:
        found[:] = differences(admin, cluster, daemonsets)
        return not found

    try:
        return wait_until(agrees, "mirror = cluster", patience_s, every_s=0.1)
    except AssertionError as late:
        raise AssertionError("\n".join([str(late), *found[:20], *_watches(cluster)])) from None


def _watches(cluster: Cluster) -> list[str]:
    """One line for each watch: what it waits for is why the mirror differs."""
    columns = ("kind", "state", "reason", "holder", "token", "expires_at", "sent", "synced_at")
    rows = Watch.objects.filter(cluster=cluster).order_by("kind").values(*columns)
    return [", ".join(f"{name} {value}" for name, value in row.items() if value) for row in rows]


def differences(admin: Admin, cluster: Cluster, daemonsets: bool = True) -> list[str]:
    """One line for each object that is missing, left over or different."""
    nodes, pods = admin.list("/api/v1/nodes"), admin.list("/api/v1/pods")
    sides = [
        ("node", _nodes(nodes), _node_rows(cluster)),
        ("pod", _pods(pods), _pod_rows(cluster)),
        ("allocation", _allocations(nodes, pods), _allocation_rows(cluster)),
        ("totals", _totals(nodes, pods), _total_rows(cluster)),
        ("cards", {name: sums.cards for name, sums in _totals(nodes, pods).items()}, _card_rows(cluster)),
    ]
    if daemonsets:
        listed = admin.list("/apis/apps/v1/daemonsets")
        rows = dict(DaemonSet.objects.filter(cluster=cluster).values_list("uid", "name"))
        sides.append(("daemonset", {thing["metadata"]["uid"]: thing["metadata"]["name"] for thing in listed}, rows))
    return [line for what, wanted, rows in sides for line in _compare(what, wanted, rows)]


def _compare(what: str, wanted: Rows, rows: Rows) -> list[str]:
    lines = [f"{what} {key} is missing: {wanted[key]}" for key in wanted.keys() - rows.keys()]
    lines += [f"{what} {key} is left over: {rows[key]}" for key in rows.keys() - wanted.keys()]
    shared = (key for key in wanted.keys() & rows.keys() if wanted[key] != rows[key])
    return lines + [f"{what} {key}: the cluster says {wanted[key]}, the table {rows[key]}" for key in shared]


def _nodes(nodes: list[Json]) -> Rows:
    return {node["metadata"]["name"]: (node["metadata"]["uid"], _ready(node), _cordoned(node)) for node in nodes}


def _ready(node: Json) -> bool | None:
    said = {one["type"]: one["status"] for one in node["status"].get("conditions", [])}
    return {"True": True, "False": False}.get(said.get("Ready", ""))


def _cordoned(node: Json) -> bool:
    return bool(node["spec"].get("unschedulable"))


def _node_rows(cluster: Cluster) -> Rows:
    rows = Node.objects.filter(cluster=cluster).values_list("name", "uid", "ready", "unschedulable")
    return {name: (uid, ready, cordoned) for name, uid, ready, cordoned in rows}


def _pods(pods: list[Json]) -> Rows:
    return {
        pod["metadata"]["uid"]: (
            pod["metadata"]["namespace"],
            pod["metadata"]["name"],
            pod["spec"].get("nodeName", ""),
            pod["status"]["phase"],
            expected.asked(pod),
            "deletionTimestamp" in pod["metadata"],
        )
        for pod in pods
        if expected.is_kept(pod)
    }


def _pod_rows(cluster: Cluster) -> Rows:
    names = ("uid", "namespace", "name", "node_name", "phase", "requests", "terminating_since")
    rows = Pod.objects.filter(cluster=cluster).values_list(*names)
    return {row[0]: (*row[1:6], row[6] is not None) for row in rows}


def _on_nodes(pods: list[Json]) -> dict[str, list[Json]]:
    by_node: dict[str, list[Json]] = defaultdict(list)
    for pod in pods:
        if expected.holds(pod):
            by_node[pod["spec"]["nodeName"]].append(pod)
    return by_node


def _allocations(nodes: list[Json], pods: list[Json]) -> Rows:
    """Allocations by (pod, container, resource, card); pods on a node that is gone hold nothing that can be shown."""
    by_node = _on_nodes(pods)
    wanted: Rows = {}
    for node in nodes:
        kind = expected.kind_of(node)
        for pod in by_node[node["metadata"]["name"]] if kind else ():
            for hold in expected.allocations(pod, kind) if kind else ():
                wanted[_key(hold)] = (hold.quantity, hold.memory, "deletionTimestamp" in pod["metadata"])
    return wanted


def _key(hold: Hold) -> str:
    # Which card a DirectX pod is shown on is not said by the cluster.
    card = "" if "directx" in hold.resource else hold.card
    return f"{hold.pod} {hold.container} {hold.resource} {card}"


def _allocation_rows(cluster: Cluster) -> Rows:
    names = ("pod_uid", "container", "resource", "card_key", "quantity", "memory_bytes", "terminating")
    rows: Rows = {}
    for *values, terminating in Allocation.objects.filter(cluster=cluster, ended_at=None).values_list(*names):
        hold = Hold(*values)
        rows[_key(hold)] = (hold.quantity, hold.memory, terminating)
    return rows


def _totals(nodes: list[Json], pods: list[Json]) -> dict[str, Totals]:
    by_node = _on_nodes(pods)
    wanted = {}
    for node in nodes:
        kind, name = expected.kind_of(node), node["metadata"]["name"]
        if kind is not None and kind.name != "directx":
            wanted[name] = expected.totals(node, kind, by_node[name])
    return wanted


def _metered(cluster: Cluster) -> Any:
    return NodeTotals.objects.filter(cluster=cluster).exclude(node_name__startswith="directx")


def _total_rows(cluster: Cluster) -> Rows:
    rows = _metered(cluster).values_list("node_name", "cards_total", "memory_total_bytes", "memory_allocated_bytes")
    return {name: Totals(*rest) for name, *rest in rows}


def _card_rows(cluster: Cluster) -> Rows:
    counts = dict.fromkeys(_metered(cluster).values_list("node_name", flat=True), 0)
    present = Card.objects.filter(cluster=cluster, removed_at=None).exclude(node_name__startswith="directx")
    for name in present.values_list("node_name", flat=True):
        counts[name] = counts.get(name, 0) + 1
    return counts
