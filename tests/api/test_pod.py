"""One pod by REST: while it is pending the closest nodes, what each lacks, and the pods that would have to move."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from inventory.models import Card, Cluster, Pod
from tests.factories import GIB, make_cluster, make_fleet, make_node, make_pending_pod

pytestmark = pytest.mark.django_db


def ask(api: Client, name: str, status: int = 200) -> Any:
    answer = api.get(f"/api/v1/pods/{Pod.objects.get(name=name).pk}")
    assert answer.status_code == status
    return answer.json()


def test_a_pending_pod_has_its_reason_its_closest_nodes_and_who_would_have_to_move(
    api: Client, cluster: Cluster
) -> None:
    make_node(cluster, "full", "gpushare", 1, loads=(1.0,))
    make_node(cluster, "roomy", "gpushare", 1, loads=(0.4,))
    make_pending_pod(cluster, "hungry", quantity=12)
    found = ask(api, "hungry")
    assert (found["name"], found["deciding_reason"]) == ("hungry", "No card has 12 GiB free. Largest: 9 GiB on roomy.")
    near = found["closest"]
    assert [one["node"] for one in near] == ["roomy", "full"]
    [lack] = near[0]["lacks"]
    card = Card.objects.get(node_name="roomy")
    assert {name: lack[name] for name in ("code", "wanted", "there", "card", "pods_total", "enough")} == {
        "code": "block",
        "wanted": 12 * GIB,
        "there": 9 * GIB,
        "card": card.key,
        "pods_total": 2,
        "enough": True,
    }
    [pod] = lack["blocking"]
    assert (pod["namespace"], pod["pod"], pod["amount"]) == ("default", "train-roomy-0-0", 3 * GIB)
    assert near[0]["counted"] == {"aliyun.com/gpu-mem": {"allocatable": 15, "free": 9}}


def test_a_pod_with_a_node_has_none(api: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 1, loads=(1.0,))
    assert ask(api, "train-a-0-0")["closest"] == []


def test_one_that_is_not_there_is_said_so(api: Client, cluster: Cluster) -> None:
    answer = api.get("/api/v1/pods/9999")
    assert answer.status_code == 404
    assert answer.json()["detail"] == "There is no pod 9999. /api/v1/pods lists them."


def test_queries_do_not_grow_with_the_cluster(api: Client) -> None:
    api.get("/api/v1/cards")  # the token notes its use, once a minute
    counts = []
    for nodes in (4, 120):
        cluster = make_cluster("prod")
        make_fleet(cluster, nodes=nodes, cards=2)
        make_pending_pod(cluster, "hungry", quantity=20)
        with CaptureQueriesContext(connection) as queries:
            assert ask(api, "hungry")["closest"]
        counts.append(len(queries))
        cluster.delete()
    assert counts[0] == counts[1] <= 14
