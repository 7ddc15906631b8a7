"""What other pages say of nodes and cards out of service: node, card, nodes, overview, navigation."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client

from accounts.roles import Role
from inventory.marks import Mark
from inventory.models import Card, Cluster
from quarantine.models import CaseState, QuarantineSwitch
from runtime.clock import database_now
from tests.cast import make_user, signed_in
from tests.factories import make_node
from tests.factories.quarantine import CORDON, make_case, mark_node, our_mark
from tests.pages.reading import get


@pytest.fixture
def operator(db: None) -> Client:
    return signed_in(make_user("olga", Role.OPERATOR))


@pytest.fixture
def node(cluster: Cluster) -> Cluster:
    make_node(cluster, "node-0", "nvidia", 2)
    return cluster


def test_the_node_says_why_it_is_out_and_what_can_be_done(operator: Client, viewer: Client, node: Cluster) -> None:
    at = database_now() - timedelta(hours=3)
    case = make_case(node, "node-0", CaseState.OUT, marked_at=at, accepted_at=at, accepted_by_name="anna")
    mark_node(node, "node-0", our_mark(case))
    page = get(operator, "/nodes/prod/node-0")
    assert "Out of service 3 h" in page.text
    assert "failed · by anna · waiting for a pass" in page.text
    assert f"/out-of-service/{case.pk}/return" in page.links
    assert f"/out-of-service/{case.pk}/return" not in get(viewer, "/nodes/prod/node-0").links
    for card in Card.objects.all():
        assert "failed · by anna · waiting for a pass" in get(operator, f"/cards/{card.pk}").text


def test_a_recommendation_for_one_card_is_not_said_of_another(operator: Client, node: Cluster) -> None:
    case = make_case(node, "node-0")
    mine, other = Card.objects.order_by("pk")
    assert "Taking out of service is recommended" in get(operator, f"/cards/{mine.pk}").text
    assert f"/out-of-service/{case.pk}/accept" in get(operator, "/nodes/prod/node-0").links
    assert "recommended" not in get(operator, f"/cards/{other.pk}").text


def test_the_marks_of_others_are_said(viewer: Client, node: Cluster) -> None:
    mark_node(node, "node-0", CORDON)
    assert "Out of service · kubectl : cordon" in get(viewer, "/nodes/prod/node-0").text


def test_the_list_of_nodes_says_it_and_filters_by_it(viewer: Client, node: Cluster) -> None:
    make_node(node, "node-1", "nvidia", 1)
    taint = Mark(kind="taint", tool="NVSentinel", key="nvidia.com/gpu-error", effect="NoSchedule", blocks=True)
    mark_node(node, "node-0", taint)
    page = get(viewer, "/nodes?out=true")
    assert [row[0].split() for row in page.rows] == [["node-0", "!warning", "out", "of", "service"]]
    assert "NVSentinel" in page.titles
    assert [row[0] for row in get(viewer, "/nodes?out=false").rows] == ["node-1"]
    found = viewer.get("/api/v1/nodes").json()["results"]
    assert [(one["name"], one["out_of_service"]) for one in found] == [("node-0", True), ("node-1", False)]


def test_the_overview_asks_for_the_decision(operator: Client, admin: Client, node: Cluster) -> None:
    make_case(node, "node-0")
    page = get(operator, "/")
    assert "1 failed card to take out of service CUDA vectorAdd failed on node-0 Decide" in page.text
    assert "Out of service 1" in page.text
    make_node(node, "node-9", "nvidia", 1)
    make_case(node, "node-9", suite="cuda-nbody")
    assert "2 failed cards to take out of service CUDA n-body · CUDA vectorAdd Decide" in get(operator, "/").text
    QuarantineSwitch.objects.create(automatic=True, tripped_at=database_now(), tripped_reason="3 of 8 nodes are out.")
    assert "Policies stopped taking cards out" not in get(operator, "/").text
    assert "Policies stopped taking cards out of service cap reached Reset" in get(admin, "/").text
