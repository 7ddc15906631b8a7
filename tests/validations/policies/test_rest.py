"""Policies over REST: made, changed, paused, deleted; their cards and counts; whether a card is usable."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any
from xml.etree import ElementTree

import pytest
from django.db import connection
from django.db.models import F
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.roles import Role
from audit.models import Entry
from inventory.models import Card, Cluster, Node, NodeTotals
from runtime.clock import database_now
from tests.cast import bearer, make_token, make_user
from tests.factories import make_cluster, make_node
from tests.scopes.world import scoped_token
from tests.validations.policies.test_compare import NEW, OLD, passed
from validations.models import Policy, PolicyCard, PolicyCount, PolicySwitch
from validations.policies import manage
from validations.policies.counts import count
from validations.policies.evaluate import evaluate
from validations.policies.manage import PolicyDraft

DRAFT = {"name": "Weekly", "suite": "cuda-vectoradd", "max_age_s": 604_800}


@pytest.fixture
def fleet(prod: Cluster) -> Cluster:
    for rows in (Card, Node, NodeTotals):
        rows.objects.filter(cluster=prod).delete()
    make_node(prod, "node-0", "nvidia", 2, loads=(0.0, 0.0))
    return prod


@pytest.fixture
def operator(db: None) -> Client:
    return bearer(make_token(make_user("olga", Role.OPERATOR), Role.OPERATOR))


def send(client: Client, method: str, path: str, body: Any = None, status: int = 200) -> Any:
    response = client.generic(method, f"/api/v1/{path}", _json(body), content_type="application/json")
    assert response.status_code == status, response.content
    return response.json() if response.content else None


def _json(body: Any) -> bytes:
    return json.dumps(body).encode() if body is not None else b""


def look() -> None:
    for policy in Policy.objects.all():
        evaluate(policy, database_now())
    count(database_now())


def test_a_policy_is_made_changed_paused_and_deleted(operator: Client, api: Client, fleet: Cluster) -> None:
    made = send(operator, "POST", "policies", DRAFT, 201)
    assert (made["name"], made["cluster"], made["requested_by"], made["paused"]) == ("Weekly", None, "olga", False)
    path = f"policies/{made['id']}"
    changed = send(operator, "PATCH", path, {"cluster": "prod", "max_per_pool": 2})
    assert (changed["cluster"], changed["max_per_pool"], changed["max_age_s"]) == ("prod", 2, 604_800)
    assert send(operator, "PATCH", path, {"max_per_pool": None})["max_per_pool"] is None
    assert send(operator, "POST", f"{path}/pause")["paused"] is True
    assert send(operator, "POST", f"{path}/resume")["paused"] is False
    look()
    [listed] = send(api, "GET", "policies")["results"]
    assert (listed["cards"], listed["due"], listed["valid"]) == (2, 2, 0)
    send(operator, "DELETE", path, status=204)
    assert not Policy.objects.exists()
    assert set(Entry.objects.values_list("action", flat=True)) >= {"policy-create", "policy-change", "policy-remove"}


def test_what_is_wrong_is_named(operator: Client, fleet: Cluster) -> None:
    send(operator, "POST", "policies", DRAFT, 201)
    for change, field in (
        ({}, "name"),
        ({"name": "x", "suite": "nope"}, "suite"),
        ({"name": "x", "max_age_s": 1}, "max_age_s"),
        ({"name": "x", "window_cron": "never", "window_minutes": 5}, "window_cron"),
        ({"name": "x", "time_zone": "Mars"}, "time_zone"),
        ({"name": "x", "pool": "x" * 256}, "pool"),
        ({"name": "x", "model": "a\0b"}, "model"),
        ({"name": "x", "node_labels": {"a": "\0"}}, "node_labels"),
        ({"name": "x", "colour": "red"}, "colour"),
        ({"name": "x", "max_per_cluster": "4"}, "max_per_cluster"),
    ):
        answer = send(operator, "POST", "policies", DRAFT | change, 400)
        assert [error["field"] for error in answer["errors"]] == [field], change
    send(operator, "GET", "policies/" + "0" * 15, status=404)


def test_the_preview_counts_and_writes_nothing(api: Client, fleet: Cluster) -> None:
    Card.objects.filter(pk=Card.objects.earliest("pk").pk).update(allocations_count=1)
    found = send(api, "POST", "policies/preview", DRAFT)
    assert (found["cards"], found["due"], found["now"]) == (2, 1, 1)
    told = {(one["state"], one["reason"]): one["cards"] for one in found["reasons"]}
    assert told == {("excluded", "in-use"): 1, ("due", "never-validated"): 1}
    assert len(found["windows"]) == 1
    assert not Policy.objects.exists()


def test_the_cards_and_the_counts(api: Client, fleet: Cluster) -> None:
    policy = manage.create(PolicyDraft(name="All", suite="cuda-vectoradd"))
    Node.objects.update(driver_version="570.1")
    look()
    rows = send(api, "GET", f"policies/{policy.pk}/cards?state=due")["results"]
    assert [(row["node"], row["state"], row["reason"]) for row in rows] == [("node-0", "due", "never-validated")] * 2
    assert send(api, "GET", f"policies/{policy.pk}/cards?reason=in-use")["results"] == []
    [fleet_row] = send(api, "GET", "policy-counts")["results"]
    assert (fleet_row["policy"], fleet_row["driver"], fleet_row["due"]) == (None, "570.1", 2)
    [own] = send(api, "GET", f"policy-counts?policy={policy.pk}&driver=570.1&since=14d")["results"]
    assert own["policy"] == policy.pk
    PolicyCount.objects.update(at=database_now() - timedelta(days=20))
    assert send(api, "GET", "policy-counts?since=14d")["results"] == []


def test_all_policies_are_paused_by_who_sees_everything(operator: Client, api: Client, fleet: Cluster) -> None:
    assert send(operator, "POST", "policies/pause-all") == {"paused": True}
    assert PolicySwitch.all_paused()
    assert send(operator, "POST", "policies/resume-all") == {"paused": False}
    send(api, "POST", "policies/pause-all", status=403)


def test_a_token_of_one_cluster_has_policies_of_it_alone(fleet: Cluster) -> None:
    make_node(make_cluster("other"), "far", "nvidia", 1)
    user = make_user("olga", Role.OPERATOR)
    client = bearer(scoped_token(user, "prod", role=Role.OPERATOR))
    everywhere = manage.create(PolicyDraft(name="Everywhere", suite="cuda-vectoradd"))
    elsewhere = manage.create(PolicyDraft(name="Elsewhere", suite="cuda-vectoradd", cluster="other"))
    Policy.objects.update(held="Cluster other: refused.")
    look()
    assert [row["name"] for row in send(client, "GET", "policies")["results"]] == ["Everywhere"]
    told = send(client, "GET", f"policies/{everywhere.pk}")
    assert (told["cards"], told["blocked_by"]) == (2, None)
    send(client, "GET", f"policies/{elsewhere.pk}", status=404)
    send(client, "POST", "policies", DRAFT, 403)
    send(client, "POST", "policies", DRAFT | {"cluster": "other"}, 400)
    for method, path, body in (
        ("PATCH", f"policies/{everywhere.pk}", {"max_per_pool": 1}),
        ("DELETE", f"policies/{everywhere.pk}", None),
        ("POST", f"policies/{everywhere.pk}/pause", None),
        ("POST", "policies/pause-all", None),
    ):
        send(client, method, path, body, 403)
    mine = send(client, "POST", "policies", DRAFT | {"cluster": "prod"}, 201)
    send(client, "PATCH", f"policies/{mine['id']}", {"cluster": ""}, 403)
    send(client, "POST", f"policies/{mine['id']}/pause")


def test_whether_a_place_is_usable(api: Client, fleet: Cluster) -> None:
    manage.create(PolicyDraft(name="All", suite="cuda-vectoradd"))
    look()
    found = send(api, "GET", "usable?cluster=prod&node=node-0")
    assert (found["usable"], found["reason"]) == ("unknown", "never-validated")
    assert found["link"].startswith("http://testserver/cards/")
    key = Card.objects.latest("pk").key
    assert send(api, "GET", f"usable?cluster=prod&node=node-0&card={key}")["card"] == key
    Node.objects.update(unschedulable=True)
    Card.objects.update(unavailable_reason="cordoned")
    assert send(api, "GET", "usable?cluster=prod&node=node-0")["usable"] == "no"
    for place in ("cluster=prod&node=nope", "cluster=mars&node=x", "cluster=prod&node=node-0&card=99"):
        assert send(api, "GET", f"usable?{place}")["usable"] == "unknown", place
    send(api, "GET", "usable?cluster=prod", status=400)
    send(api, "GET", "usable?cluster=prod&node=%00", status=400)
    send(Client(), "GET", "usable?cluster=prod&node=node-0", status=401)


def test_out_of_scope_a_place_is_unknown_like_one_that_is_not_there(fleet: Cluster) -> None:
    make_node(make_cluster("other"), "far", "nvidia", 1)
    client = bearer(scoped_token(make_user("vera", Role.VIEWER), "prod"))
    seen, nothing = (send(client, "GET", f"usable?cluster={name}&node=far") for name in ("other", "mars"))
    assert (seen["usable"], seen["reason"]) == (nothing["usable"], nothing["reason"]) == ("unknown", "no-cluster")


def test_the_badge_is_an_image_without_a_script(api: Client, fleet: Cluster) -> None:
    for node in ("node-0", "nope", "<script>alert(1)</script>", "x" * 300, "a\x01b"):
        response = api.get("/api/v1/usable.svg", {"cluster": "prod", "node": node})
        assert response.status_code == 200, node
        assert response.headers["Content-Type"].startswith("image/svg+xml")
        names = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(response.content).iter()}
        assert names == {"svg", "title", "rect", "g", "text"}
        assert b"unknown" in response.content


def test_no_list_asks_more_for_more_policies(api: Client, fleet: Cluster) -> None:
    found = []
    for number in (1, 8):
        for index in range(number):
            manage.create(PolicyDraft(name=f"{number}-{index}", suite="cuda-vectoradd"))
        look()
        policy = Policy.objects.latest("pk")
        paths = ("policies", f"policies/{policy.pk}", f"policies/{policy.pk}/cards", "policy-counts")
        found.append([_queries(api, path) for path in paths])
    assert found[0] == found[1]
    assert PolicyCard.objects.count() == 9 * 2


def _queries(client: Client, path: str) -> int:
    client.get(f"/api/v1/{path}")
    with CaptureQueriesContext(connection) as queries:
        assert client.get(f"/api/v1/{path}").status_code == 200
    return len(queries)


def test_a_badge_without_a_place_is_a_problem_in_words(api: Client) -> None:
    answer = api.get("/api/v1/usable.svg")
    assert answer.status_code == 400
    assert "cluster" in answer.json()["detail"] or "cluster" in str(answer.json())
    assert api.options("/api/v1/usable.svg").status_code == 200


def test_a_place_that_is_not_there_is_named(api: Client, fleet: Cluster) -> None:
    for query, text in (
        ({"node": "nope"}, "Cluster prod has no cards on a node 'nope'."),
        ({"node": "gpu-1", "card": "99"}, "Node 'gpu-1' has no card '99'."),
    ):
        assert api.get("/api/v1/usable", {"cluster": "prod", **query}).json()["text"] == text
    wrong = api.get("/api/v1/usable", {"cluster": "prod", "node": "gpu-1", "gpu": "0"})
    assert wrong.json()["detail"] == "gpu: There is no parameter of this name. There are: card, cluster, node."


@pytest.fixture
def upgraded(fleet: Cluster) -> Cluster:
    """Both cards passed on the old driver; on the new one the first has half of its bandwidth."""
    manage.create(PolicyDraft(name="a", suite="cuda-vectoradd"))
    Node.objects.update(driver_version=OLD)
    for card in Card.objects.all():
        passed(card, OLD, timedelta(days=2))
    look()
    PolicyCount.objects.update(at=F("at") - timedelta(days=1))
    Node.objects.update(driver_version=NEW)
    passed(Card.objects.order_by("index")[0], NEW, timedelta(hours=5), bandwidth=50.0)
    look()
    return fleet


def test_two_drivers_are_compared(api: Client, upgraded: Cluster) -> None:
    found = send(api, "GET", f"policies/compare?a={OLD}&b={NEW}")
    assert (found["by"], found["before"]["name"], found["after"]["name"]) == ("driver", OLD, NEW)
    assert (found["before"]["counts"]["cards"], found["after"]["counts"]["cards"]) == (2, 2)
    assert found["lost"] == {"failed": 0, "slower": 1, "not_tested": 1}
    [group] = found["groups"]
    assert group["lost"] == found["lost"]
    assert group["before"] == found["before"]["counts"]
    slower, untested = found["cards"]
    assert (slower["cluster"], slower["node"], slower["lost"]) == ("prod", "node-0", "slower")
    assert (slower["measurement"], slower["unit"]) == ("bandwidth", "GB/s")
    assert (slower["value_before"], slower["value_after"], slower["slower_percent"]) == (100.0, 50.0, 100.0)
    assert (untested["lost"], untested["measurement"], untested["slower_percent"]) == ("not-tested", None, None)
    assert untested["run_after"] is None


def test_the_cards_of_a_comparison_come_in_pages(api: Client, upgraded: Cluster) -> None:
    path = f"policies/compare?a={OLD}&b={NEW}&limit=1"
    first = send(api, "GET", path)
    second = send(api, "GET", f"{path}&cursor={first['next']}")
    assert [one["lost"] for one in (*first["cards"], *second["cards"])] == ["slower", "not-tested"]
    assert second["next"] is None
    assert [one["lost"] for one in send(api, "GET", f"{path}&loss=not-tested")["cards"]] == ["not-tested"]


@pytest.mark.parametrize(
    "query",
    ["", "a=1", "a=1&b=1", "by=x&a=1&b=2", "a=1&b=2&limit=0", "a=1&b=2&limit=9999", "a=1&b=2&loss=x", "a=1&b=2&x=1"],
)
def test_a_comparison_that_makes_no_sense_is_refused(api: Client, upgraded: Cluster, query: str) -> None:
    send(api, "GET", f"policies/compare?{query}", status=400)


def test_a_comparison_of_a_card_that_is_gone_is_begun_again(api: Client, upgraded: Cluster) -> None:
    refused = send(api, "GET", f"policies/compare?a={OLD}&b={NEW}&cursor=0", status=400)
    assert refused["errors"][0]["field"] == "cursor"


def test_only_administrators_let_a_policy_take_cards_out(operator: Client, fleet: Cluster) -> None:
    path = f"policies/{send(operator, 'POST', 'policies', DRAFT, 201)['id']}"
    send(operator, "PATCH", path, {"takes_out": True}, 403)
    assert send(operator, "PATCH", path, {"takes_out": False})["takes_out"] is False
    admin = bearer(make_token(make_user("anna", Role.ADMIN), Role.ADMIN))
    told = send(admin, "PATCH", path, {"takes_out": True})
    assert (told["takes_out"], told["requested_by"]) == (True, "olga")
    assert send(operator, "PATCH", path, {"max_per_pool": 3})["takes_out"] is True
    send(operator, "PATCH", path, {"model": "other", "takes_out": True}, 403)
    assert send(operator, "PATCH", path, {"model": "other"})["takes_out"] is False
