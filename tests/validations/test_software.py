"""What the software of a node lacks: a warning before a launch, and the cause of a run that waits."""

from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.translation import override

from accounts.roles import Role
from inventory.models import Cluster, Component, Node
from pages.frame.worded import worded
from runtime.scope import Scope, seeing
from tests.cast import bearer, make_token, make_user, signed_in
from tests.factories import make_cluster, make_node
from tests.pages.reading import get, read
from tests.validations.fakecluster import FakeCluster
from tests.validations.recorded import launched, passed_by, wish
from tests.validations.software import IN_USE, SAID, component, upgraded
from validations import campaigns, querysets
from validations.models import Run
from validations.planning import cautions, plan
from validations.requests import request_run
from validations.software import CODE, Cause, cause_of, causes
from wording.said import sentence, stored

BODY = {"suite": "cuda-vectoradd", "node": "gpu-1"}
NO_SCHEDULER = "gpushare-scheduler-extender is pending since 4 min."


def told(cause: Cause | None) -> str:
    assert cause is not None
    return str(cause.lasting(timezone.now()))


@pytest.fixture
def olga(db: None) -> User:
    return make_user("olga", Role.OPERATOR)


@pytest.fixture
def api(olga: User) -> Client:
    return bearer(make_token(olga, Role.OPERATOR))


def post(api: Client, path: str, body: Any) -> Any:
    return api.post(f"/api/v1/{path}", body, content_type="application/json")


# Causes.


def test_the_first_cause_of_a_node_is_a_sentence(prod: Cluster) -> None:
    component(prod)
    component(prod, name="device-plugin", state="waiting", first_cause=False)
    found = cause_of(prod.pk, "gpu-1")
    assert told(found) == SAID
    assert found is not None
    assert (found.component, found.state, found.blocks) == ("driver", "crash-looping", True)
    assert cause_of(prod.pk, "gpu-2") is None


def test_a_cause_without_a_why_and_one_that_is_itself_ready(prod: Cluster) -> None:
    row = component(prod, state="missing", why="", since=timezone.now() - timedelta(hours=3))
    assert told(cause_of(prod.pk, "gpu-1")) == "driver is missing since 3 h."
    stuck = sentence("The driver upgrade of this node has failed.")
    row.state, row.step, row.warnings, row.wording = "ready", "upgrade-failed", [str(stuck)], None
    row.save()
    assert told(cause_of(prod.pk, "gpu-1")) == "driver, since 3 h: The driver upgrade of this node has failed."


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({}, "The driver is being upgraded (pod-restart-required) since 4 min."),
        ({"step": "drain-required", "state": "ready", "first_cause": False},
         "The driver is being upgraded (drain-required) since 4 min."),
        ({"state": "crash-looping", "why": IN_USE},
         "The driver is being upgraded (pod-restart-required) since 4 min: Pods on the node use the driver."),
        ({"step": "upgrade-done", "state": "crash-looping", "why": IN_USE}, SAID),
        ({"step": "upgrade-required", "state": "crash-looping", "why": IN_USE}, SAID),
        ({"step": "upgrade-required", "state": "outdated", "first_cause": False}, ""),
    ],
)  # fmt: skip
def test_an_upgrade_of_the_driver_says_its_step(prod: Cluster, columns: dict[str, Any], said: str) -> None:
    upgraded(prod, **columns)
    found = cause_of(prod.pk, "gpu-1")
    assert (told(found) if found else "") == said


def test_a_scheduler_of_the_cluster_concerns_the_nodes_of_its_stack_alone(prod: Cluster) -> None:
    make_node(prod, "shared", "gpushare", 1)
    component(prod, "", "gpushare-scheduler-extender", stack="gpushare", state="pending", why="")
    component(prod, "", "gpu-operator", stack="nvidia", state="not ready")
    found = causes([(prod.pk, "gpu-1"), (prod.pk, "shared")])
    assert {node: told(one) for (_, node), one in found.items()} == {"shared": NO_SCHEDULER}
    Component.objects.filter(name="gpushare-scheduler-extender").update(state="ready")
    assert causes([(prod.pk, "shared")]) == {}


def test_the_scheduler_comes_before_what_gives_out_no_cards(prod: Cluster) -> None:
    make_node(prod, "shared", "gpushare", 1)
    component(prod, "shared", "dcgm-exporter")
    assert (found := cause_of(prod.pk, "shared")) is not None
    assert (found.component, found.blocks) == ("dcgm-exporter", False)
    component(prod, "", "gpushare-scheduler-extender", stack="gpushare", state="pending", why="")
    assert told(cause_of(prod.pk, "shared")) == NO_SCHEDULER
    component(prod, "shared", "gpushare-device-plugin")
    assert told(cause_of(prod.pk, "shared")).startswith("gpushare-device-plugin is")


def test_the_queries_do_not_grow_with_the_nodes_nor_mix_up_clusters(prod: Cluster) -> None:
    other = make_cluster("other")
    places = [(cluster.pk, f"n-{number}") for cluster in (prod, other) for number in range(40)]
    for number in range(40):
        component(prod, f"n-{number}")
    component(prod, "", "hami-scheduler", stack="hami", state="missing")
    counted = []
    for some in (places[:1], places):
        with CaptureQueriesContext(
            connection,
        ) as queries:
            found = causes(some)
        counted.append(len(queries))
        assert set(found) == {place for place in some if place[0] == prod.pk}
    assert counted == [2, 2]
    with CaptureQueriesContext(connection) as queries:
        assert causes([]) == {}
    assert len(queries) == 0


def test_who_sees_a_part_of_the_cluster_gets_the_sentence_and_no_remedy(prod: Cluster) -> None:
    component(prod)
    whole = cause_of(prod.pk, "gpu-1")
    with seeing(Scope(namespaces=frozenset({(prod.pk, "team-a")}))):
        part = cause_of(prod.pk, "gpu-1")
    with seeing(Scope(frozenset({prod.pk + 1}))):
        assert cause_of(prod.pk, "gpu-1") is None
    assert whole is not None
    assert part is not None
    assert stored(part.lasting(timezone.now())) == stored(whole.lasting(timezone.now()))
    assert (bool(whole.remedy), part.remedy) == (True, "")


# Before a launch.


def test_rest_warns_in_preview_answer_and_run_and_refuses_nothing(prod: Cluster, api: Client) -> None:
    component(prod)
    seen = post(api, "runs/preview", BODY).json()
    assert seen["launchable"] is True
    (warning,) = seen["warnings"]
    assert (warning["code"], warning["component"], warning["text"]) == (CODE, "driver", SAID)
    assert warning["wording"]["arguments"]["component"] == "driver"
    answer = post(api, "runs", BODY)
    assert answer.status_code == 201
    (warning,) = answer.json()["warnings"]
    assert (warning["code"], warning["component"]) == (CODE, "driver")
    assert " UTC: Pods on the node use the driver." in warning["text"]
    Component.objects.all().delete()
    assert api.get(f"/api/v1/runs/{answer.json()['id']}").json()["warnings"] == [warning]
    assert post(api, "runs/preview", BODY).json()["warnings"] == []


def test_the_form_warns_before_and_after_the_launch(prod: Cluster, olga: User) -> None:
    component(prod)
    client = signed_in(olga)
    page = get(client, "/validations/new?suite=cuda-vectoradd&node=gpu-1")
    assert "Ready to launch." in page.text
    assert SAID in page.text
    assert "Remedy: kubectl delete pod -n gpu-operator nvidia-driver-x" in page.text
    answer = client.post("/validations/new", BODY | {"key": "k"}, follow=True)
    text = read(answer).text
    assert "driver is crash-looping since 20" in text
    assert Run.objects.get().node_snapshot["software"]["component"] == "driver"
    assert "Remedy" not in text


def test_nothing_is_said_of_a_node_whose_software_works(prod: Cluster, olga: User) -> None:
    component(prod, "gpu-2")
    assert plan(wish()).warnings == []
    run, _ = request_run(wish())
    assert "software" not in run.node_snapshot
    assert cautions(run) == []
    assert "is crash-looping" not in get(signed_in(olga), "/validations/new?suite=cuda-vectoradd&node=gpu-1").text


def test_the_command_warns(prod: Cluster) -> None:
    component(prod)
    err = StringIO()
    call_command("validate", "cuda-vectoradd", node=["gpu-1"], stdout=StringIO(), stderr=err)
    assert err.getvalue().startswith("warning: driver is crash-looping since 20")


def test_a_campaign_counts_its_nodes_and_names_the_first(prod: Cluster, olga: User, api: Client) -> None:
    for number in range(2, 15):
        make_node(prod, f"gpu-{number:02}", "nvidia", 1)
        component(prod, f"gpu-{number:02}")
    names = [f"gpu-{number:02}" for number in range(2, 15)]
    client = signed_in(olga)
    lines = {"suite": "cuda-vectoradd", "targets": "\n".join(f"prod/{name}" for name in ["gpu-1", *names])}
    page = read(client.post("/validations/campaigns/new", lines | {"preview": "1"})).text
    first = ", ".join(f"prod/{name}" for name in names[:10])
    assert f"GPU software is not ready on 13 nodes: {first}, …." in page
    targets = [{"node": name} for name in ["gpu-1", *names]]
    answer = post(api, "campaigns", {"suite": "cuda-vectoradd", "targets": targets})
    assert answer.status_code == 201
    (warning,) = answer.json()["warnings"]
    assert (warning["code"], warning["component"]) == (CODE, None)
    assert warning["text"].startswith("GPU software is not ready on 13 nodes: prod/gpu-02, ")


def test_a_campaign_of_one_such_node_names_its_component(prod: Cluster, api: Client) -> None:
    component(prod)
    answer = post(api, "campaigns", {"suite": "cuda-vectoradd", "targets": [{"node": "gpu-1"}]}).json()
    (warning,) = answer["warnings"]
    assert (warning["component"], warning["text"]) == ("driver", "GPU software is not ready on node prod/gpu-1.")
    campaigns.advance(answer["id"])
    assert api.get(f"/api/v1/campaigns/{answer['id']}").json()["warnings"] == []


# While it waits.


def test_a_run_that_waits_says_the_cause(prod: Cluster, fake: FakeCluster, olga: User) -> None:
    component(prod)
    run, _ = request_run(wish())
    shown = querysets.run_whole(run.pk)
    assert shown is not None
    assert SAID in shown.pending_message
    passed_by(run, prod)
    fake.pod(run.job_name, unschedulable="0/3 nodes are available: 3 Insufficient nvidia.com/gpu.")
    passed_by(run, prod)
    page = get(signed_in(olga), f"/validations/runs/{run.pk}").text
    assert "3 Insufficient nvidia.com/gpu. " + SAID in page
    run.refresh_from_db()
    assert SAID not in run.pending_message


def test_a_run_that_runs_says_nothing_of_it(prod: Cluster, fake: FakeCluster) -> None:
    component(prod)
    run = launched(prod)
    fake.pod(run.job_name, node="gpu-1", running=True)
    passed_by(run, prod)
    shown = querysets.run_whole(run.pk)
    assert shown is not None
    assert (shown.state, shown.pending_message) == ("running", "")


def test_runs_that_wait_cost_one_query_more_however_many(prod: Cluster) -> None:
    for number in range(6):
        make_node(prod, f"n-{number}", "nvidia", 1, loads=(0.0,))
        component(prod, f"n-{number}")
    counted = []
    for number in range(6):
        request_run(wish(f"n-{number}"))
        if number in (0, 5):
            with CaptureQueriesContext(connection) as queries:
                assert all(SAID in run.pending_message for run in querysets.runs())
            counted.append(len(queries))
    assert counted[0] == counted[1]


def test_the_sentence_in_chinese(prod: Cluster) -> None:
    upgraded(prod)
    found = cause_of(prod.pk, "gpu-1")
    assert found is not None
    with override("zh-hans"):
        assert worded(found.lasting(timezone.now())) == "驱动正在升级（pod-restart-required，已 4 分钟）。"


@pytest.mark.parametrize(("state", "layout"), [("success", "all-1g.10gb"), ("pending", None), ("", None)])
def test_a_run_keeps_the_operator_and_the_layout(prod: Cluster, state: str, layout: str | None) -> None:
    """A layout once it has been applied."""
    component(prod, "", "gpu-operator", version="25.3.0")
    node = Node.objects.get(name="gpu-1")
    facts = json.loads(node.facts)
    facts["metadata"]["labels"] |= {"nvidia.com/mig.config": "all-1g.10gb", "nvidia.com/mig.config.state": state}
    Node.objects.update(facts=json.dumps(facts))
    run, _ = request_run(wish())
    assert (run.node_snapshot["operator"], run.node_snapshot.get("mig_layout")) == ("25.3.0", layout)
