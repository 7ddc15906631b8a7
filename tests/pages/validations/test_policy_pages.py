"""Policies on pages: the fleet's number, the list, the form with its preview, one policy with its plan and its cards."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.roles import Role
from inventory.models import Card, Cluster, Node
from runtime.clock import database_now
from tests.cast import make_user, signed_in
from tests.factories import make_cluster, make_fleet, make_node
from tests.pages.reading import get, read
from tests.pages.validations.rows import make_run
from tests.scopes.world import scoped_user
from validations.models import Launcher, Policy, PolicyCard, PolicyCount, PolicySwitch, Run
from validations.policies import manage
from validations.policies.counts import count
from validations.policies.evaluate import evaluate
from validations.policies.manage import PolicyDraft

FORM = {
    "drawn": "1",
    "name": "Weekly",
    "suite": "cuda-vectoradd",
    "level": "checked",
    "max_age": "7",
    "max_age_unit": "d",
    "void_on_driver": "on",
    "time_zone": "UTC",
    "max_per_cluster": "4",
    "keep_free_nodes": "0",
    "keep_free_cards": "0",
}


@pytest.fixture
def fleet(cluster: Cluster) -> Cluster:
    """Four idle cards, one of them in use by a pod."""
    for number in range(4):
        make_node(cluster, f"node-{number}", "nvidia", 1, loads=(0.0,))
    Card.objects.filter(node_name="node-3").update(allocations_count=1)
    Launcher.objects.update_or_create(cluster=cluster, defaults={"gives_way": True})
    return cluster


def made(name: str = "All cards", **more: Any) -> Policy:
    policy = manage.create(PolicyDraft(name=name, suite="cuda-vectoradd", **more))
    look(policy)
    return policy


def look(*policies: Policy) -> None:
    for policy in policies:
        evaluate(policy, database_now())
    count(database_now())


def test_without_a_policy_the_page_says_what_one_is(operator: Client, viewer: Client, fleet: Cluster) -> None:
    page = get(operator, "/policies")
    assert "A policy keeps cards validated" in page.text
    assert "/policies/new" in page.links
    assert "Requires the role operator" in get(viewer, "/policies").text


def test_the_list_says_how_many_cards_are_what_and_why(viewer: Client, fleet: Cluster) -> None:
    policy = made(window_cron="0 22 * * *", window_minutes=480, time_zone="Europe/Berlin")
    PolicyCard.objects.filter(node_name="node-0").update(state="valid", reason="", valid_until=database_now())
    count(database_now())
    page = get(viewer, "/policies")
    assert "1 of 4 cards valid · 2 due · 1 excluded (in use)" in page.text
    [row] = page.rows
    assert row[:4] == ["All cards", "CUDA vectorAdd", "7 d, or new driver", "22:00, 8 h, Europe/Berlin"]
    assert row[5:8] == ["1", "2", "0"]
    assert "/policies/cards?state=due" in page.links
    assert f"/policies/{policy.pk}?state=due" in page.links
    assert "Valid cards" in page.text


def test_the_numbers_follow_the_filter(viewer: Client, fleet: Cluster) -> None:
    make_node(make_cluster("other"), "far", "nvidia", 1, loads=(0.0,))
    made()
    assert "0 of 5 cards valid · 4 due" in get(viewer, "/policies").text
    page = get(viewer, "/policies?cluster=other")
    assert "0 of 1 card valid · 1 due" in page.text
    assert page.rows[0][6] == "1"
    assert "/policies/cards?state=due&cluster=other" in page.links
    assert len(get(viewer, "/policies/cards?state=due&cluster=other").rows) == 1


def test_a_policy_that_is_not_for_a_card_does_not_count_for_it(viewer: Client, fleet: Cluster) -> None:
    look(made(), manage.create(PolicyDraft(name="Windows", suite="directx-directml", level="ran")))
    PolicyCard.objects.filter(policy__name="All cards", node_name="node-0").update(state="valid", reason="")
    count(database_now())
    page = get(viewer, "/policies")
    assert "1 of 4 cards valid · 2 due · 1 excluded (in use)" in page.text
    PolicyCard.objects.filter(policy__name="All cards").update(reason="not-applicable", state="excluded")
    count(database_now())
    assert "0 of 4 cards valid · 4 excluded (suite not applicable)" in get(viewer, "/policies").text


def test_a_scoped_viewer_sees_the_counts_of_its_clusters_only(fleet: Cluster) -> None:
    make_node(make_cluster("other"), "far-away", "nvidia", 1, loads=(0.0,))
    policy = made()
    Policy.objects.update(held="Cluster other: refused.")
    client = signed_in(scoped_user("carl", "prod"))
    for path in ("/policies", f"/policies/{policy.pk}", "/policies/cards"):
        page = get(client, path)
        assert "far-away" not in page.text
        assert "other" not in page.text
    assert "0 of 4 cards valid" in get(client, "/policies").text
    elsewhere = made("Elsewhere", cluster="other")
    assert get(client, f"/policies/{elsewhere.pk}", status=404)
    assert "Elsewhere" not in get(client, "/policies").text


def test_a_new_driver_is_marked_in_the_chart(viewer: Client, fleet: Cluster) -> None:
    Node.objects.update(driver_version="570.1")
    made()
    PolicyCount.objects.update(at=database_now().replace(minute=0, second=0, microsecond=0) - timedelta(days=3))
    Node.objects.exclude(name="node-0").update(driver_version="580.2")
    count(database_now())
    page = get(viewer, "/policies")
    assert "driver 570.1 → 580.2 on 3 cards · 0 valid · 2 due · 1 excluded" in page.text
    assert re.search(r'class="moment"[^>]*title="driver 580.2"', page.html)


def test_all_are_paused_after_a_confirmation_and_resumed_by_a_button(operator: Client, fleet: Cluster) -> None:
    made()
    page = get(operator, "/policies")
    assert "/policies/pause-all" in page.links
    assert "1 policy starts no more runs." in get(operator, "/policies/pause-all").text
    assert not PolicySwitch.objects.filter(paused=True).exists()
    assert operator.post("/policies/pause-all").headers["Location"] == "/policies"
    page = get(operator, "/policies")
    assert "All policies are paused. olga" in page.text
    assert page.rows[0][-1].endswith("all paused")
    operator.post("/policies/resume-all")
    assert not PolicySwitch.all_paused()


def test_a_policy_is_made_by_the_form(operator: Client, fleet: Cluster) -> None:
    assert "New policy" in get(operator, "/policies/new").text
    sent = FORM | {
        "cluster": "prod",
        "node_labels": "team=research\nzone=a",
        "window_cron": "0 2 * * 6",
        "window_minutes": "60",
    }
    response = operator.post("/policies/new", sent)
    policy = Policy.objects.get()
    assert response.headers["Location"] == f"/policies/{policy.pk}"
    assert (policy.name, policy.suite, policy.max_age_s, policy.requested_by_name) == (
        "Weekly",
        "cuda-vectoradd",
        7 * 86_400,
        "olga",
    )
    assert policy.node_labels == {"team": "research", "zone": "a"}
    assert (policy.void_on_driver, policy.void_on_image, policy.cluster) == (True, False, fleet)


def test_what_is_wrong_stands_at_its_field(operator: Client, fleet: Cluster) -> None:
    wrong = FORM | {
        "name": "",
        "max_per_cluster": "many",
        "time_zone": "Mars",
        "node_labels": "nothing",
        "max_age": "0",
    }
    page = read(operator.post("/policies/new", wrong))
    assert page.status == 400
    assert "Must be KEY=VALUE" in page.text
    assert "Must be an integer." in page.text
    page = read(operator.post("/policies/new", FORM | {"name": "", "time_zone": "Mars", "max_age": "0"}))
    assert "Must have 1 to 100 characters." in page.text
    assert "There is no time zone 'Mars'" in page.text
    assert "Must be an integer from 3600" in page.text
    assert Policy.objects.count() == 0


def test_a_name_is_taken_once(operator: Client, fleet: Cluster) -> None:
    made("Weekly")
    assert "Policy 'Weekly' already exists." in read(operator.post("/policies/new", FORM)).text


def test_the_form_of_a_policy_shows_what_it_is(operator: Client, fleet: Cluster) -> None:
    policy = made(max_age_s=36 * 3600, void_on_image=False, model="A100", options={"deadline_s": 900})
    page = get(operator, f"/policies/{policy.pk}/edit")
    values = {tag["name"]: tag.get("value") for tag in page.tags_of("input") if "name" in tag}
    assert (values["max_age"], values["model"], values["name"]) == ("36", "A100", "All cards")
    assert values["option.deadline_s"] == "900"
    ticked = {tag["name"] for tag in page.tags_of("input") if tag.get("type") == "checkbox" and "checked" in tag}
    assert ticked == {"void_on_driver", "void_on_machine"}
    operator.post(f"/policies/{policy.pk}/edit", FORM | {"void_on_reboot": "on"})
    policy.refresh_from_db()
    assert (policy.name, policy.void_on_reboot, policy.void_on_machine) == ("Weekly", True, False)


def test_the_preview_counts_and_writes_nothing(viewer: Client, fleet: Cluster) -> None:
    page = read(viewer.post("/policies/new", FORM | {"name": "", "preview": "1"}))
    assert page.status == 200
    assert "Would test 3 cards: 3 now" in page.text
    assert "1 (in use)" in page.text
    closed = FORM | {"preview": "1", "window_cron": "0 0 1 1 *", "window_minutes": "60"}
    assert re.search(
        r"Would test 3 cards: 3 after \d{4}-01-01 00:00|3 after", read(viewer.post("/policies/new", closed)).text
    )
    assert (Policy.objects.count(), PolicyCard.objects.count()) == (0, 0)


def test_one_policy_says_what_it_does_and_its_cards(operator: Client, fleet: Cluster) -> None:
    policy = made(max_per_pool=2, keep_free_nodes=1)
    Policy.objects.update(held="2 held: the limit per pool is reached.")
    page = get(operator, f"/policies/{policy.pk}")
    assert "0 of 4 cards valid · 3 due · 1 excluded (in use)" in page.text
    assert "max 4 parallel per cluster · max 2 parallel per pool · keeps 1 node free per pool" in page.text
    assert "the limit per pool is reached" in page.text
    assert [row[0] for row in page.tables["Windows of the next 24 h"]] != []
    rows = page.tables["Cards under policies"]
    assert len(rows) == 4
    assert {(row[1].split()[-1], row[2]) for row in rows} == {("due", "never validated"), ("excluded", "in use")}
    assert len(get(operator, f"/policies/{policy.pk}?reason=in-use").tables["Cards under policies"]) == 1


def test_a_policy_is_paused_resumed_and_deleted(operator: Client, fleet: Cluster) -> None:
    policy = made()
    operator.post(f"/policies/{policy.pk}/pause")
    assert get(operator, "/policies").rows[0][-1].endswith("paused")
    operator.post(f"/policies/{policy.pk}/resume")
    policy.refresh_from_db()
    assert not policy.paused
    assert "Deletes the states of 4 cards" in get(operator, f"/policies/{policy.pk}/remove").text
    assert Policy.objects.exists()
    assert operator.post(f"/policies/{policy.pk}/remove").headers["Location"] == "/policies"
    assert not Policy.objects.exists()


CHANGES = ("new", "pause-all", "resume-all", "{id}/edit", "{id}/pause", "{id}/resume", "{id}/remove")


def test_who_may_not_launch_changes_no_policy(viewer: Client, fleet: Cluster) -> None:
    policy = made()
    for one in CHANGES:
        assert viewer.post(f"/policies/{one.format(id=policy.pk)}", FORM).status_code == 403, one
    for path in (
        "/policies",
        "/policies/new",
        "/policies/cards",
        f"/policies/{policy.pk}",
        f"/policies/{policy.pk}/edit",
    ):
        assert get(viewer, path)


def test_an_operator_of_one_cluster_has_policies_of_it_alone(fleet: Cluster) -> None:
    make_cluster("other")
    client = signed_in(scoped_user("oleg", "prod", role=Role.OPERATOR))
    everywhere, here = made("Everywhere"), made("Here", cluster="prod")
    for one in CHANGES[1:]:
        assert client.post(f"/policies/{one.format(id=everywhere.pk)}", FORM).status_code == 403, one
    assert "Must be a cluster of your scope." in read(client.post("/policies/new", FORM)).text
    assert "There is no cluster 'other'" in read(client.post("/policies/new", FORM | {"cluster": "other"})).text
    assert client.post("/policies/new", FORM | {"cluster": "prod"}).status_code == 302
    assert client.post(f"/policies/{here.pk}/pause").status_code == 302
    moved = client.post(f"/policies/{here.pk}/edit", FORM | {"name": "Wider"})
    assert moved.status_code == 400


def test_who_sees_namespaces_only_changes_nothing(fleet: Cluster) -> None:
    client = signed_in(scoped_user("nora", "prod/team-a", role=Role.OPERATOR))
    policy = made(cluster="prod")
    for one in CHANGES:
        assert client.post(f"/policies/{one.format(id=policy.pk)}", FORM | {"cluster": "prod"}).status_code == 403, one


def test_what_is_no_policy_is_not_there(viewer: Client, db: None) -> None:
    for text in ("nope", "0" * 15, "%00"):
        assert "all policies" in get(viewer, f"/policies/{text}", status=404).text


PAGES = ("/policies", "/policies/cards", "/policies/{id}", "/policies/{id}/edit", "/policies/new")


def test_no_page_asks_more_for_more_policies_or_cards(db: None) -> None:
    client, found = signed_in(make_user("vera", Role.VIEWER)), []
    cluster = make_cluster("prod")
    for nodes, policies in ((3, 1), (60, 8)):
        make_fleet(cluster, nodes=nodes, cards=2)
        made_ones = [made(f"{nodes} {number}") for number in range(policies)]
        found.append([queries(client, path.format(id=made_ones[0].pk)) for path in PAGES])
        for model in (Card, Node, Policy):
            model.objects.all().delete()
    few, many = found
    assert [count for count, most in zip(many, few, strict=True) if count > most] == []
    assert max(few) <= 31


def queries(client: Client, path: str) -> int:
    client.get(path)
    with CaptureQueriesContext(connection) as asked:
        assert client.get(path).status_code == 200
    return len(asked)


def test_a_run_and_a_card_say_which_policies(viewer: Client, fleet: Cluster) -> None:
    policy = made()
    card = Card.objects.get(node_name="node-0")
    page = get(viewer, f"/cards/{card.pk}")
    assert "All cards due (never validated)" in page.text
    assert f"/policies/{policy.pk}" in page.links
    run = make_run(fleet, node="node-0", card=card)
    Run.objects.filter(pk=run.pk).update(policy=policy)
    page = get(viewer, f"/validations/runs/{run.pk}")
    assert "policy All cards" in page.text
    assert f"/policies/{policy.pk}" in page.links
    assert len(get(viewer, f"/validations?policy={policy.pk}").rows) == 1


def test_a_run_that_gave_way_is_on_the_page_of_its_policy(viewer: Client, fleet: Cluster) -> None:
    policy = made()
    assert "gave way" not in get(viewer, f"/policies/{policy.pk}").text
    reasons = [{"code": "preempted", "text": "Preempted by a pod of higher priority: x", "line": None}]
    run = make_run(fleet, node="node-0", card=Card.objects.get(node_name="node-0"), verdict="skipped", reasons=reasons)
    Run.objects.filter(pk=run.pk).update(policy=policy)
    page = get(viewer, f"/policies/{policy.pk}")
    assert "Last skipped run: node-0 card" in page.text
    assert "skipped: another pod needed the card" in page.text
    assert f"/validations/runs/{run.pk}" in page.links
    Run.objects.filter(pk=run.pk).update(reasons=[{"code": "timeout", "text": "x", "line": None}])
    assert "Last skipped run" not in get(viewer, f"/policies/{policy.pk}").text


def test_only_administrators_let_a_policy_take_cards_out(operator: Client, admin: Client, fleet: Cluster) -> None:
    policy = made()
    path, sent = f"/policies/{policy.pk}/edit", FORM | {"takes_out": "on"}
    assert "Administrators only." in get(operator, path).text
    operator.post(path, sent)
    policy.refresh_from_db()
    assert not policy.takes_out
    assert "Administrators only." not in get(admin, path).text
    admin.post(path, sent)
    policy.refresh_from_db()
    assert policy.takes_out
    assert "taken out of service automatically" in get(operator, f"/policies/{policy.pk}").text
    operator.post(path, sent | {"name": "Renamed"})
    policy.refresh_from_db()
    assert policy.takes_out
    operator.post(path, sent | {"pool": "other"})
    policy.refresh_from_db()
    assert not policy.takes_out
