"""Arguments that several commands share."""

from __future__ import annotations

from collections.abc import Iterable

from django.core.management.base import CommandError

from inventory.models import Cluster
from wording.close_names import close_names


def chosen_clusters(name: str | None) -> list[Cluster]:
    """The cluster of that name, or all. Raises CommandError when there is none."""
    known = {cluster.name: cluster for cluster in Cluster.objects.all()}
    if not known:
        raise CommandError("no clusters yet; add one: gpudash cluster add NAME --kubeconfig FILE")
    if name is None:
        return list(known.values())
    if name not in known:
        close = close_names(name, known, 3) or sorted(known)
        raise CommandError(f"there is no cluster {name!r}; clusters: {', '.join(close)}")
    return [known[name]]


def one_cluster(name: str | None) -> Cluster:
    """The cluster of that name, or the only one. Raises CommandError when there is none, or several."""
    known = {cluster.name: cluster for cluster in Cluster.objects.all()}
    listed = ", ".join(known)
    if not known:
        raise CommandError("No clusters yet. Add one: gpudash cluster add NAME --kubeconfig FILE")
    if name is None and len(known) > 1:
        raise CommandError(f"There are several clusters: {listed}. Choose one with --cluster.")
    if name is not None and name not in known:
        raise CommandError(f"There is no cluster {name!r}. Clusters: {listed}.")
    return known[name] if name is not None else next(iter(known.values()))


def no_node(cluster: Cluster, name: str, names: Iterable[str]) -> CommandError:
    """That the cluster has no node of that name; it names those that are close."""
    close = close_names(name, names)
    hint = f" Did you mean: {', '.join(close)}?" if close else ""
    return CommandError(f"Cluster {cluster} has no node {name!r}.{hint}")
