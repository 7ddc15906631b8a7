"""Whether the first lists of a cluster are complete: before, sums would be wrong."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from inventory.models import Watch
from inventory.models.cluster import DONE_WITHOUT, OPTIONAL_KINDS, Kind


def complete(rows: Iterable[Watch]) -> bool:
    """Nodes and pods were listed once, and optional kinds unless they cannot be. rows: all watches of one cluster."""
    watches = {watch.kind: watch for watch in rows}
    needed = all(kind in watches and watches[kind].synced_at for kind in (Kind.NODES, Kind.PODS))
    optional = [watches[kind] for kind in OPTIONAL_KINDS if kind in watches]
    return needed and all(watch.synced_at or watch.state in DONE_WITHOUT for watch in optional)


def complete_of(clusters: Collection[int]) -> list[int]:
    """Those of the clusters whose lists are complete: one query."""
    rows: dict[int, list[Watch]] = {}
    for watch in Watch.objects.filter(cluster_id__in=clusters).only("cluster_id", "kind", "synced_at", "state"):
        rows.setdefault(watch.cluster_id, []).append(watch)
    return [pk for pk, own in rows.items() if complete(own)]
