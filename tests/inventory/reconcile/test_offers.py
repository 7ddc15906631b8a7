"""What the scheduler counts of a node: resources of cards, CPU and main memory, as they are written into its totals."""

from __future__ import annotations

import pytest

from inventory.models import Cluster, Node, NodeTotals
from inventory.reconcile.offers import Host, Requested, offer_columns
from kube.objects import Node as KubeNode
from kube.objects import NodeStatus
from tests.factories import make_node
from tests.factories.batch import reconcile
from tests.stacks.build import CONTEXT, node


def test_what_is_bound_is_taken_from_what_is_allocatable() -> None:
    bound = (Requested({"nvidia.com/gpu": 2}, 4000, 8), Requested({"nvidia.com/gpu": 1, "x.com/y": 1}, 500, 1))
    found = offer_columns(node({"nvidia.com/gpu": "8", "rdma/hca": "1"}), Host(96_000, 100), bound, CONTEXT)
    assert found == {"offers": '{"nvidia.com/gpu":[8,5]}', "cpu_free_millis": 91_500, "host_memory_free_bytes": 91}


def test_what_a_node_states_and_does_not_give_out_is_nothing_and_what_it_does_not_state_is_unknown() -> None:
    gone = KubeNode(status=NodeStatus(capacity={"nvidia.com/gpu": "8"}, allocatable={"nvidia.com/gpu": "0"}))
    found = offer_columns(gone, Host(), (Requested({"nvidia.com/gpu": 1}, 1, 1),), CONTEXT)
    assert found == {"offers": '{"nvidia.com/gpu":[0,-1]}', "cpu_free_millis": None, "host_memory_free_bytes": None}
    assert offer_columns(None, Host(), (), CONTEXT)["offers"] == ""


@pytest.mark.django_db
def test_the_totals_of_a_node_have_it(cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 4, loads=(1.0, 0.0))
    totals = NodeTotals.objects.get()
    assert totals.offers == '{"nvidia.com/gpu":[4,2]}'
    assert (totals.cpu_free_millis, totals.host_memory_free_bytes) == (96_000 - 2 * 1500, (768 - 8) * 2**30)
    Node.objects.update(cpu_millis=None)
    reconcile(cluster, ["a"])
    assert NodeTotals.objects.get().cpu_free_millis is None
