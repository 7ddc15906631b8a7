"""Pending pods of a page or a cluster, read together: where they fit, by a constant number of queries."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from inventory.models import Cluster, Node, NodeTotals, Pod
from inventory.placement.pending.decided import where_they_fit, with_deciding
from tests.factories import make_cluster, make_fleet, make_node, make_pending_pod
from tests.factories.batch import reconcile

pytestmark = pytest.mark.django_db


def test_where_pending_pods_fit(cluster: Cluster) -> None:
    for name, load in (("full", 1.0), ("roomy", 0.0), ("away", 0.0), ("unknown", 0.0)):
        make_node(cluster, name, "gpushare", 1, loads=(load,))
    make_node(cluster, "another", "nvidia", 1, loads=(0.0,))
    Node.objects.filter(name="away").update(unschedulable=True)
    reconcile(cluster, ["away"])
    NodeTotals.objects.filter(node_name="unknown").update(largest_gap_bytes=None, gap_unavailable_bytes=None)
    make_pending_pod(cluster, "hungry", quantity=12)
    assert where_they_fit(Pod.objects.all()) == {(cluster.pk, "roomy"), (cluster.pk, "unknown")}
    assert where_they_fit(Pod.objects.filter(pending=False)) == set()


def test_pods_that_wait_are_read_together() -> None:
    counts = []
    for number in (2, 40):
        cluster = make_cluster("prod")
        make_fleet(cluster, nodes=number, cards=2, pending=number)
        with CaptureQueriesContext(connection) as queries:
            where_they_fit(Pod.objects.filter(pending=True))
            with_deciding(Pod.objects.filter(pending=True))
        counts.append(len(queries))
        cluster.delete()
    assert counts[0] == counts[1]
