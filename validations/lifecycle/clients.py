"""Clients of clusters, one per cluster and process, for their connections. Workers only.

The lock is for the table alone: nothing that reads a file or waits for a cluster happens under it.
"""

from __future__ import annotations

import threading

from django.conf import settings

from inventory.clusters import launcher_source
from inventory.models import Cluster
from kube.client import ApiError, BadKubeconfig, Client
from validations.installation import instance_name
from validations.lifecycle.cluster_api import ClusterApi

_clients: dict[int, tuple[tuple[str, str], Client]] = {}
_lock = threading.Lock()


def api_of(cluster: Cluster) -> ClusterApi:
    """Raises BadKubeconfig."""
    source = launcher_source(cluster)
    known = _clients.get(cluster.pk)
    if known is None or known[0] != source or known[1].changed:
        known = _keep(cluster.pk, (source, Client(*source)))
    return ClusterApi(known[1], settings.VALIDATION_NAMESPACE, instance_name())


def _keep(cluster_id: int, made: tuple[tuple[str, str], Client]) -> tuple[tuple[str, str], Client]:
    """The one that is kept: that of another thread where it came first."""
    with _lock:
        known = _clients.get(cluster_id)
        if known is not None and known[0] == made[0] and not known[1].changed:
            return known
        _clients[cluster_id] = made
    if known is not None:
        known[1].close()
    return made


def forget(cluster_id: int) -> None:
    """After a 401 or an error of the file: read the file anew next time. A plugin's answer stays, unless it was refused."""
    with _lock:
        known = _clients.pop(cluster_id, None)
    if known is not None:
        known[1].close()


__all__ = ["ApiError", "BadKubeconfig", "api_of", "forget"]
