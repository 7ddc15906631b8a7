"""A pool of devices may be of several nodes, or of none: what is missing of it is said where it matters, and nowhere else."""

from __future__ import annotations

import pytest

from inventory.models import Cluster, Finding, NodeTotals
from inventory.models.cluster import Kind
from tests.controlplane import claims
from tests.controlplane.objects import Json
from tests.factories import make_node
from tests.factories.batch import mirror, reconcile

pytestmark = pytest.mark.django_db


def sliced(name: str, node: str, pool: str, count: int) -> Json:
    made = claims.resource_slice(node or "none", [claims.card(int(node[1:] or 0), node or "none")], count=count)
    made["metadata"] = {"name": name, "uid": name}
    made["spec"]["pool"]["name"] = pool
    if not node:
        made["spec"] |= {"nodeName": None, "allNodes": True}
    return made


def test_a_pool_over_two_nodes_is_complete_with_the_slices_of_both(cluster: Cluster) -> None:
    mirror(
        cluster, Kind.NODES, [claims.node(name) | {"metadata": {"name": name, "uid": name}} for name in ("n1", "n2")]
    )
    mirror(cluster, Kind.RESOURCESLICES, [sliced("a", "n1", "both", 2)])
    reconcile(cluster, ["n1"])
    assert NodeTotals.objects.get(node_name="n1").cards_total is None
    mirror(cluster, Kind.RESOURCESLICES, [sliced("b", "n2", "both", 2)])
    reconcile(cluster, ["n1"])
    reconcile(cluster, ["n2"])
    assert dict(NodeTotals.objects.values_list("node_name", "cards_total")) == {"n1": 1, "n2": 1}
    assert not Finding.objects.filter(ended_at=None).exists()


def test_what_is_missing_of_a_pool_of_no_node_makes_no_node_unknown(cluster: Cluster) -> None:
    mirror(cluster, Kind.RESOURCESLICES, [sliced("far", "", "network", 2)])
    make_node(cluster, "own", "nvidia-count", 2, loads=(0.0,))
    totals = NodeTotals.objects.get(node_name="own")
    assert (totals.cards_total, totals.cards_free, totals.stacks) == (2, 2, ["nvidia"])
