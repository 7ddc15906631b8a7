"""Clients with the credentials that mark nodes. Launch workers only."""

from __future__ import annotations

from inventory.clusters import quarantine_source
from inventory.models import Cluster
from kube.clients import Clients
from quarantine.calls import Api

_clients = Clients()
forget = _clients.forget


def api_of(cluster: Cluster) -> Api:
    """Raises BadKubeconfig."""
    return Api(_clients.of(cluster.pk, quarantine_source(cluster)))
