"""Clients of clusters, one per cluster and process: an exec plugin must not run at every pass. Workers only."""

from __future__ import annotations

import threading

from django.conf import settings

from inventory.clusters import launcher_source
from inventory.kube.client import ApiError, BadKubeconfig, Client
from inventory.models import Cluster
from validations.installation import instance_name
from validations.lifecycle.cluster_api import ClusterApi

_clients: dict[int, tuple[tuple[str, str], Client]] = {}
_lock = threading.Lock()


def api_of(cluster: Cluster) -> ClusterApi:
    """Raises BadKubeconfig."""
    source = launcher_source(cluster)
    with _lock:
        known = _clients.get(cluster.pk)
        if known is None or known[0] != source:
            known = (source, Client(*source))
            _clients[cluster.pk] = known
    return ClusterApi(known[1], settings.VALIDATION_NAMESPACE, instance_name())


def forget(cluster_id: int) -> None:
    """After a 401 or an error of the file: read the credentials anew next time."""
    with _lock:
        known = _clients.pop(cluster_id, None)
    if known is not None:
        known[1].close()


__all__ = ["ApiError", "BadKubeconfig", "api_of", "forget"]
