"""Cases, marked nodes and the switch over REST: who may what, dry runs, acts that are done twice, filters, scopes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from accounts.roles import Role
from api.quarantine.metrics import families
from audit.models import Entry
from inventory.marks import Mark
from inventory.models import Cluster
from quarantine.models import Case, CaseState, QuarantineSwitch
from runtime.clock import database_now
from tests.cast import bearer, make_token, make_user
from tests.factories import make_cluster, make_node
from tests.factories.quarantine import CORDON, make_case, mark_node, our_mark
from tests.scopes.world import scoped_token


@pytest.fixture
def fleet(cluster: Cluster) -> Cluster:
    make_node(cluster, "node-0", "nvidia", 2)
    make_node(cluster, "node-1", "nvidia", 2)
    Cluster.objects.update(quarantine_kubeconfig="/etc/gpudash/quarantine")
    return cluster


@pytest.fixture
def operator(db: None) -> Client:
    return bearer(make_token(make_user("olga", Role.OPERATOR), Role.OPERATOR))


def send(client: Client, method: str, path: str, body: Any = None, status: int = 200) -> Any:
    data = json.dumps(body).encode() if body is not None else b""
    response = client.generic(method, f"/api/v1/{path}", data, content_type="application/json")
    assert response.status_code == status, response.content
    return response.json() if response.content else None


def test_a_case_is_accepted_after_a_dry_run_and_returned(operator: Client, fleet: Cluster) -> None:
    case = make_case(fleet, "node-0")
    path = f"out-of-service/{case.pk}"
    plan = send(operator, "POST", f"{path}/accept", {"dry_run": True})["plan"]
    assert plan["does"] == [f"Taint the node with gpudash.io/failed-validation={case.pk}:NoSchedule."]
    assert plan["commands"][0].startswith("kubectl taint node node-0")
    assert (plan["body"]["metadata"]["uid"] != "", plan["by_gpudash"], plan["blocked_by"]) == (True, True, None)
    assert Case.objects.get().state == CaseState.RECOMMENDED
    found = send(operator, "POST", f"{path}/accept", {"note": "slow", "how": "cordon"})
    assert found["plan"] is None
    told = found["case"]
    assert (told["state"], told["accepted_by"], told["accepted_note"], told["how"]) == (
        "accepted",
        "olga",
        "slow",
        "cordon",
    )
    assert send(operator, "POST", f"{path}/accept", {})["case"]["accepted_note"] == "slow"
    assert Entry.objects.filter(action="case-accept").count() == 1
    assert send(operator, "POST", f"{path}/return", {"dry_run": True})["plan"]["does"]
    answer = send(operator, "POST", f"{path}/return", {}, 400)
    assert [one["field"] for one in answer["errors"]] == ["note"]
    assert send(operator, "POST", f"{path}/return", {"note": "new card"})["case"]["return_reason"] == "person"
    assert send(operator, "POST", f"{path}/return", {"note": "again"})["case"]["returned_note"] == "new card"
    send(operator, "POST", f"{path}/decline", {}, 409)


def test_a_recommendation_is_declined_once(operator: Client, fleet: Cluster) -> None:
    case = make_case(fleet, "node-0")
    for note in ("known", "twice"):
        told = send(operator, "POST", f"out-of-service/{case.pk}/decline", {"note": note})["case"]
        assert (told["state"], told["declined_note"]) == ("declined", "known")
    send(operator, "POST", f"out-of-service/{case.pk}/accept", {}, 409)
    send(operator, "POST", f"out-of-service/{case.pk}/accept", {"dry_run": True}, 409)


def test_what_is_wrong_is_named(operator: Client, fleet: Cluster) -> None:
    case = make_case(fleet, "node-0")
    path = f"out-of-service/{case.pk}/accept"
    for body, field in (({"how": "axe"}, "how"), ({"note": 5}, "note"), ({"colour": "red"}, "colour")):
        answer = send(operator, "POST", path, body, 400)
        assert [one["field"] for one in answer["errors"]] == [field]
    send(operator, "GET", "out-of-service/0nothing", status=404)
    assert send(operator, "POST", path, {"note": "x" * 501}, 400)


def test_the_lists_and_their_filters(api: Client, fleet: Cluster) -> None:
    wish, out = make_case(fleet, "node-0"), make_case(fleet, "node-1", CaseState.OUT, policy=None)
    mark_node(fleet, "node-1", our_mark(out), CORDON)
    told = send(api, "GET", "out-of-service")["results"]
    assert [(one["id"], one["node"], one["state"]) for one in told] == [
        (out.pk, "node-1", "out"),
        (wish.pk, "node-0", "recommended"),
    ]
    assert told[0]["reason_wording"]
    for query, number in (("state=out", 1), ("open=true", 2), ("open=false", 0), ("node=node-0", 1), ("q=failed", 2)):
        assert len(send(api, "GET", f"out-of-service?{query}")["results"]) == number, query
    [marked] = send(api, "GET", "node-marks")["results"]
    assert (marked["node"], marked["out"], marked["tools"]) == ("node-1", True, ["gpudash", "kubectl"])
    assert (marked["cases"], marked["marks"][0]["case"], marked["marks"][1]["by_is_hint"]) == ([out.pk], out.pk, True)
    for query, number in (
        ("tool=kubectl", 1),
        ("tool=NVSentinel", 0),
        ("tool=unknown", 0),
        ("kind=cordon", 1),
        ("kind=label", 0),
        ("out=false", 0),
        ("cluster=prod", 1),
    ):
        assert len(send(api, "GET", f"node-marks?{query}")["results"]) == number, query


def test_hostile_texts_are_no_marks(api: Client, fleet: Cluster) -> None:
    text = '","blocks":true,"kind":"cordon","tool":"kubectl'
    mark_node(fleet, "node-0", Mark(kind="label", tool="CoreWeave", key=text, reason=text))
    for query in ("tool=kubectl", "kind=cordon", "out=true", "tool=unknown"):
        assert send(api, "GET", f"node-marks?{query}")["results"] == [], query


def test_the_switch(operator: Client, api: Client, fleet: Cluster) -> None:
    admin = bearer(make_token(make_user("anna", Role.ADMIN), Role.ADMIN))
    assert send(api, "GET", "quarantine")["automatic"] is False
    send(operator, "PATCH", "quarantine", {"automatic": True}, 403)
    told = send(admin, "PATCH", "quarantine", {"automatic": True})
    assert (told["automatic"], told["cap_percent"], told["changed_by"]) == (True, 20, "anna")
    send(admin, "PATCH", "quarantine", {"cap_percent": 0}, 400)
    QuarantineSwitch.objects.update(tripped_at=database_now(), tripped_reason="3 of 8 nodes of prod are out.")
    assert send(api, "GET", "quarantine")["tripped_reason"] == "3 of 8 nodes of prod are out."
    send(operator, "POST", "quarantine/reset", status=403)
    assert send(admin, "POST", "quarantine/reset")["tripped_at"] is None


def test_a_token_of_one_cluster(fleet: Cluster) -> None:
    far = make_cluster("far")
    make_node(far, "far-0", "nvidia", 1)
    mine, other = make_case(fleet, "node-0"), make_case(far, "far-0")
    mark_node(far, "far-0", CORDON)
    QuarantineSwitch.objects.create(tripped_at=database_now(), tripped_reason="far is full")
    user = make_user("olga", Role.ADMIN)
    client = bearer(scoped_token(user, "prod", role=Role.ADMIN))
    assert [one["id"] for one in send(client, "GET", "out-of-service")["results"]] == [mine.pk]
    assert send(client, "GET", "node-marks")["results"] == []
    send(client, "POST", f"out-of-service/{other.pk}/accept", {}, 404)
    assert send(client, "POST", f"out-of-service/{mine.pk}/accept", {})["case"]["state"] == "accepted"
    assert send(client, "GET", "quarantine")["tripped_reason"] is None
    send(client, "PATCH", "quarantine", {"automatic": True}, 403)
    send(client, "POST", "quarantine/reset", status=403)


def test_who_sees_a_namespace_may_not_act(fleet: Cluster) -> None:
    case = make_case(fleet, "node-0")
    client = bearer(scoped_token(make_user("olga", Role.OPERATOR), "prod/team-a", role=Role.OPERATOR))
    assert send(client, "GET", f"out-of-service/{case.pk}")["id"] == case.pk
    send(client, "POST", f"out-of-service/{case.pk}/accept", {}, 403)


def test_the_scrape(api: Client, fleet: Cluster) -> None:
    make_cluster("far")
    make_case(fleet, "node-0")
    mark_node(fleet, "node-0", CORDON, Mark(kind="taint", key="x", effect="NoSchedule", blocks=True))
    mark_node(fleet, "node-1", CORDON)
    text = "".join(families())
    for line in (
        'gpudash_nodes_out_of_service{cluster="prod",tool="kubectl"} 2',
        'gpudash_nodes_out_of_service{cluster="prod",tool="unknown"} 1',
        'gpudash_nodes_out_of_service{cluster="prod",tool="gpudash"} 0',
        'gpudash_out_of_service_cases{cluster="prod",state="recommended"} 1',
        'gpudash_out_of_service_cases{cluster="far",state="out"} 0',
        "gpudash_quarantine_tripped 0",
    ):
        assert f"{line}\n" in text
