"""Clients with the credentials that launch. Workers only."""

from __future__ import annotations

from django.conf import settings

from inventory.clusters import launcher_source
from inventory.models import Cluster
from kube.clients import Clients
from validations.installation import instance_name
from validations.lifecycle.cluster_api import ClusterApi

_clients = Clients()
forget = _clients.forget


def api_of(cluster: Cluster) -> ClusterApi:
    """Raises BadKubeconfig."""
    client = _clients.of(cluster.pk, launcher_source(cluster))
    return ClusterApi(client, settings.VALIDATION_NAMESPACE, instance_name())
