"""Runs of several nodes: asked for, followed, judged and bisected, against the scripted API server."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from accounts.roles import Role
from audit.models import Entry
from inventory.clusters import client_of
from inventory.models import Cluster, Node, NodeTotals
from kube.workloads import Job
from tests.cast import bearer, make_token, make_user, signed_in
from tests.factories import make_cluster, make_node
from tests.pages.reading import get
from tests.scopes.world import scoped_user
from tests.validations import test_crashes
from tests.validations.fakecluster import FakeCluster
from tests.validations.recorded import codes, later, passed_by
from tests.validations.suites.golden import ROOT
from validations import campaigns, groups, querysets
from validations.baseline import baseline_of
from validations.lifecycle.members import observe_group
from validations.models import LastResult, Run, RunNode, State
from validations.planning import Refused, RunDraft, plan
from validations.policies.manage import PolicyDraft, create
from validations.requests import Busy, request_again, request_cancel, request_run
from validations.suites import find
from validations.suspected import suspected

SUITE = "nccl-multinode"
NODES = ["gpu-1", "gpu-2"]


@pytest.fixture
def pair(prod: Cluster) -> Cluster:
    """A cluster with the nodes of NODES, and two more."""
    for name in ("gpu-2", "gpu-3", "gpu-4"):
        make_node(prod, name, "nvidia", 4, loads=(0.0,))
    return prod


def draft(*nodes: str, **more: Any) -> RunDraft:
    return RunDraft(suite=SUITE, nodes=list(nodes or NODES), **more)


def log_of(run: Run, name: str = "two-nodes") -> bytes:
    text = (ROOT / SUITE / f"{name}.log").read_text("utf-8")
    for index in range(2):
        text = text.replace(f"nccl-worker-{index}", f"{run.job_name}-{index}")
        text = text.replace(f"gpudash-0199bd4f8a2c3e71-{index}", f"{run.job_name}-{index}")
    return text.encode()


def finished(run: Run, fake: FakeCluster, log: str = "two-nodes", exit_code: int = 0) -> Run:
    """The run after its Job was made, its pods ran and the first of them ended with this log."""
    passed_by(run, run.cluster)
    nodes = run.group
    fake.members(run.job_name, nodes, running=True)
    passed_by(run, run.cluster)
    fake.logs[f"{run.job_name}-0"] = log_of(run, log)
    fake.members(run.job_name, nodes, exit_code=0)
    fake.members(run.job_name, nodes[:1], exit_code=exit_code)
    fake.condition(run.job_name, "Failed" if exit_code else "Complete", "x")
    return passed_by(run, run.cluster, 2)


def test_a_group_is_one_run_with_a_row_for_each_node(pair: Cluster, fake: FakeCluster) -> None:
    run, new = request_run(draft())
    assert (new, run.node_name, run.nodes_count, run.group) == (True, "", 2, NODES)
    assert str(run.target_text) == "nodes gpu-1, gpu-2"
    run = finished(run, fake)
    assert (run.verdict, run.level, codes(run)) == ("passed", "checked", ["no-pass-alone"])
    told = [(one.node_name, one.index, one.first_rank, one.last_rank, one.said) for one in run.nodes.all()]
    assert told == [("gpu-1", 0, 0, 7, "exit code 0"), ("gpu-2", 1, 8, 15, "exit code 0")]
    assert (fake.jobs, LastResult.objects.count(), baseline_of(run)) == ({}, 0, None)


def test_the_job_has_one_pod_for_each_node_and_no_other_object(pair: Cluster) -> None:
    made = plan(draft(options={"rdma_resource": "rdma/ib", "networks": "net-a", "min_bandwidth": 300})).manifest
    spec, template = made["spec"], made["spec"]["template"]
    pod, container = template["spec"], template["spec"]["containers"][0]
    assert (spec["completionMode"], spec["completions"], spec["parallelism"], spec["backoffLimit"]) == (
        "Indexed",
        2,
        2,
        0,
    )
    required = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert required["nodeSelectorTerms"][0]["matchExpressions"][0]["values"] == NODES
    assert pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert template["metadata"]["annotations"] == {"k8s.v1.cni.cncf.io/networks": "net-a"}
    assert container["resources"]["limits"]["rdma/ib"] == "1"
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"], "add": ["IPC_LOCK"]}
    env = {one["name"]: one["value"] for one in container["env"]}
    job = made["metadata"]["name"]
    zone = f"gpudash-group.{made['metadata']['namespace']}.svc"
    assert env["GPUDASH_HOSTS"] == f"{job}-0.{zone},{job}-1.{zone}"
    assert env["NCCL_TESTS_MIN_BW"] == "300"
    assert {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "8Gi"}} in pod["volumes"]
    assert "hostNetwork" not in pod
    plain = plan(draft()).manifest["spec"]["template"]["spec"]["containers"][0]["securityContext"]
    assert plain["capabilities"] == {"drop": ["ALL"]}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"nodes": []}, "nodes"),
        ({"nodes": ["gpu-1"]}, "nodes"),
        ({"nodes": ["gpu-1", "gpu-1"]}, "nodes"),
        ({"nodes": ["gpu-1", "nowhere"]}, "node"),
        ({"nodes": [f"n{number}" for number in range(65)]}, "nodes"),
        ({"node": "gpu-1"}, "node"),
        ({"pool": "no-such-pool", "nodes": [], "node_count": 2}, "pool"),
        ({"pool": "a"}, "pool"),
        ({"suite": "cuda-vectoradd"}, "nodes"),
        ({"options": {"networks": "a b"}}, "options.networks"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_field(pair: Cluster, change: dict[str, Any], field: str) -> None:
    given: dict[str, Any] = {"suite": SUITE, "nodes": NODES} | change
    with pytest.raises(Refused) as error:
        request_run(RunDraft(**given))
    assert list(error.value.problems) == [field]
    assert not RunNode.objects.exists()


def test_a_node_that_does_not_fit_is_named(pair: Cluster) -> None:
    make_node(pair, "small", "nvidia", 1, loads=(0.0,))
    [reason, *_] = plan(draft("gpu-1", "small")).reasons
    assert "small" in reason.text


def test_a_second_group_waits_for_the_first(pair: Cluster) -> None:
    first, _ = request_run(draft())
    with pytest.raises(Busy) as error:
        request_run(draft("gpu-3", "gpu-4"))
    assert error.value.run == first


def test_idle_nodes_of_a_pool_are_chosen_those_that_passed_alone_first(pair: Cluster, fake: FakeCluster) -> None:
    pool = NodeTotals.objects.get(node_name="gpu-3").pool
    make_node(pair, "busy", "nvidia", 4)
    Node.objects.filter(name="gpu-2").update(unschedulable=True)
    suite = find(SUITE)
    assert suite is not None
    assert groups.idle(suite, "prod", pool, 2) == ["gpu-1", "gpu-3"]
    with pytest.raises(groups.NoPlace):
        groups.idle(suite, "prod", pool, 4)


def test_a_failed_group_blames_nobody_and_offers_pairs(pair: Cluster, fake: FakeCluster) -> None:
    good, _ = request_run(draft("gpu-3", "gpu-4"))
    finished(good, fake)
    run, _ = request_run(draft())
    run = finished(run, fake, "slow", 1)
    assert (run.verdict, codes(run)[0], LastResult.objects.count()) == ("failed", "bandwidth", 0)
    whole = querysets.run_whole(run.pk)
    assert whole is not None
    told = suspected(whole)
    assert told is not None
    assert told.found.what == "unknown"
    assert [one.nodes for one in told.next] == [["gpu-1", "gpu-3"], ["gpu-2", "gpu-4"]]


def test_a_log_with_hosts_of_others_proves_nothing(pair: Cluster, fake: FakeCluster) -> None:
    run, _ = request_run(draft())
    passed_by(run, pair)
    fake.members(run.job_name, NODES, running=True)
    passed_by(run, pair)
    fake.logs[f"{run.job_name}-0"] = (ROOT / SUITE / "two-nodes.log").read_bytes()
    fake.members(run.job_name, NODES, exit_code=0)
    fake.condition(run.job_name, "Complete", "x")
    run = passed_by(run, pair, 2)
    assert (run.verdict, codes(run)[0]) == ("errored", "group-not-formed")


def test_a_pod_too_many_is_no_pod_of_the_group(pair: Cluster, fake: FakeCluster) -> None:
    run, _ = request_run(draft())
    passed_by(run, pair)
    fake.members(run.job_name, [*NODES, "gpu-3"], running=True)
    run = passed_by(run, pair)
    assert (run.verdict, codes(run)[0]) == ("errored", "pod-changed")


def test_a_pod_with_another_variable_from_elsewhere_is_not_believed(pair: Cluster, fake: FakeCluster) -> None:
    run, _ = request_run(draft())
    passed_by(run, pair)
    fake.members(run.job_name, NODES, running=True)
    env = fake.pods[f"{run.job_name}-0"]["spec"]["containers"][0]["env"]
    env[-1]["valueFrom"] = {"secretKeyRef": {"name": "a", "key": "b"}}
    run = passed_by(run, pair)
    assert (run.verdict, codes(run)[0]) == ("errored", "pod-changed")


def test_until_all_run_the_group_is_where_the_one_behind_is(pair: Cluster, fake: FakeCluster) -> None:
    run, _ = request_run(draft())
    passed_by(run, pair)
    fake.members(run.job_name, NODES[:1], running=True)
    run = passed_by(run, pair)
    assert (run.state, run.pending_message) == ("pending", "1 of 2 pods of the group exist.")
    fake.members(run.job_name, NODES, running=True)
    fake.members(run.job_name, NODES, waiting="ImagePullBackOff", message="no such image")
    fake.members(run.job_name, NODES[:1], running=True)
    run = passed_by(run, pair)
    assert (run.state, run.pending_message) == ("pulling", "gpu-2: no such image")
    later(run, 1)
    request_cancel(run, None)
    run = passed_by(run, pair, 2)
    assert (codes(run)[0], fake.jobs) == ("cancelled", {})


def test_a_pod_that_the_namespace_rejects_is_told_with_the_rule(pair: Cluster, fake: FakeCluster) -> None:
    """One pod runs, the other is never made: the Job's event says why, and the run ends with it in its time."""
    run, _ = request_run(draft())
    passed_by(run, pair)
    fake.members(run.job_name, NODES[:1], running=True)
    rule = 'Error creating: pods "x" is forbidden: exceeded quota: gpudash-validations, requested: pods=1'
    uid = fake.jobs[run.job_name]["metadata"]["uid"]
    fake.events.append({"reason": "FailedCreate", "message": rule, "involvedObject": {"uid": uid}})
    run = passed_by(run, pair)
    assert (run.state, run.pending_reason, run.pending_message) == ("pending", "NoPod", f"FailedCreate: {rule}")
    later(run, 3600)
    run = passed_by(run, pair, 2)
    assert (run.verdict, codes(run)[0], fake.jobs) == ("errored", "unschedulable", {})
    assert rule in run.reason_text


def test_a_job_that_kueue_suspends_is_told(pair: Cluster, fake: FakeCluster) -> None:
    run, _ = request_run(draft())
    passed_by(run, pair)
    fake.jobs[run.job_name]["status"] = {
        "conditions": [{"type": "Suspended", "status": "True", "reason": "JobSuspended"}]
    }
    run = passed_by(run, pair)
    assert (run.state, run.pending_reason) == ("pending", "Suspended")
    assert run.pending_message.startswith("The Job is suspended in the cluster. If Kueue did it, exclude the namespace")
    later(run, 3600)
    run = passed_by(run, pair, 2)
    assert (run.verdict, codes(run)[0], fake.jobs) == ("errored", "unschedulable", {})
    assert "exclude the namespace" in run.reason_text


def test_a_group_without_pods_is_pending() -> None:
    seen = observe_group(Job(), [], State.PENDING, 2)
    assert (seen.state, seen.reason) == (State.PENDING, "NoPod")


def test_the_same_group_is_run_again(pair: Cluster, fake: FakeCluster) -> None:
    run, _ = request_run(draft())
    finished(run, fake)
    again, _ = request_again(run, None)
    assert (again.group, again.rerun_of) == (NODES, run)


def test_the_audit_log_names_the_nodes(pair: Cluster) -> None:
    request_run(draft())
    assert Entry.objects.latest("id").target == "prod/gpu-1,gpu-2"


def test_campaigns_and_policies_take_no_group(pair: Cluster) -> None:
    with pytest.raises(Refused) as error:
        campaigns.create(SUITE, [("prod", "gpu-1", "")])
    assert "suite" in error.value.problems
    with pytest.raises(Refused):
        create(PolicyDraft(name="p", suite=SUITE, options={"cards": 1}), make_user("ada", Role.ADMIN))


def test_rest_launches_and_shows_a_group(pair: Cluster, fake: FakeCluster) -> None:
    api = bearer(make_token(make_user("olga", Role.OPERATOR), Role.OPERATOR))
    body = {"suite": SUITE, "nodes": NODES}
    preview = api.post("/api/v1/runs/preview", body, content_type="application/json").json()
    assert preview["launchable"], preview["reasons"]
    assert [one["code"] for one in preview["warnings"]] == ["no-pass-alone"]
    made = api.post("/api/v1/runs", body, content_type="application/json")
    assert made.status_code == 201, made.json()
    finished(Run.objects.get(), fake, "slow", 1)
    told = api.get(f"/api/v1/runs/{made.json()['id']}").json()
    assert (told["node"], told["nodes_count"], told["card"]) == ("", 2, None)
    assert [(one["node"], one["index"], one["first_rank"], one["passed_alone"]) for one in told["nodes"]] == [
        ("gpu-1", 0, 0, None),
        ("gpu-2", 1, 8, None),
    ]
    assert told["suspect"]["tests"] == []
    assert api.get("/api/v1/suites/nccl-multinode").json()["nodes"] == 2


def test_a_person_scoped_elsewhere_sees_no_group_and_launches_none(pair: Cluster) -> None:
    run, _ = request_run(draft())
    make_cluster("other")
    stranger = bearer(make_token(scoped_user("carl", "other", role=Role.OPERATOR), Role.OPERATOR))
    assert stranger.get(f"/api/v1/runs/{run.pk}").status_code == 404
    request_cancel(run, None)
    answer = stranger.post(
        "/api/v1/runs", {"suite": SUITE, "cluster": "prod", "nodes": NODES}, content_type="application/json"
    )
    assert answer.status_code in (400, 403, 404, 422)
    assert Run.objects.count() == 1
    inside = bearer(make_token(scoped_user("nina", "prod", role=Role.OPERATOR), Role.OPERATOR))
    assert len(inside.get(f"/api/v1/runs/{run.pk}").json()["nodes"]) == 2


def test_the_run_page_lists_the_nodes_and_offers_pairs(pair: Cluster, fake: FakeCluster) -> None:
    good, _ = request_run(draft("gpu-3", "gpu-4"))
    finished(good, fake)
    run, _ = request_run(draft())
    finished(run, fake, "one-rank-lost", 137)
    client = signed_in(make_user("olga", Role.OPERATOR))
    page = get(client, f"/validations/runs/{run.pk}")
    for words in ("gpu-1, gpu-2", "ranks 0–7", "ranks 8–15", "not tested alone", "The result belongs to the group"):
        assert words in page.text, words
    assert "Run on nodes gpu-1, gpu-3" in page.text
    assert "2 nodes" in get(client, "/validations").text
    form = get(client, f"/validations/new?suite={SUITE}&cluster=prod&nodes=gpu-1%0Agpu-3")
    assert "Ready to launch." in form.text
    assert "This validates the group, no card." in form.text
    assert f'<option value="{NodeTotals.objects.get(node_name="gpu-1").pool}">' in form.html
    made = client.post("/validations/new", {"suite": SUITE, "cluster": "prod", "nodes": "gpu-1\ngpu-3", "key": "k"})
    assert made.status_code == 302
    assert Run.objects.latest("id").group == ["gpu-1", "gpu-3"]


def test_the_command_launches_a_group(pair: Cluster) -> None:
    out, err = StringIO(), StringIO()
    call_command("validate", SUITE, "--node", "gpu-1", "--node", "gpu-2", stdout=out, stderr=err)
    assert "nodes gpu-1, gpu-2" in out.getvalue()
    assert "No test of several cards has passed" in err.getvalue()


@pytest.mark.sweep
def test_a_death_at_any_place_of_a_groups_life_harms_nothing(pair: Cluster, fake: FakeCluster) -> None:
    client, at, died = client_of(pair), 0, True
    while died:
        at += 1
        run, _ = request_run(draft())
        fate = test_crashes.Fate(at)
        for turn in range(14):
            test_crashes.one_pass(pair, client, fate)
            run.refresh_from_db()
            if run.job_removed and not run.active:
                break
            if run.job_name in fake.jobs and turn % 2:
                running = any("running" in str(one.get("status")) for one in fake.pods.values())
                if running:
                    fake.logs[f"{run.job_name}-0"] = log_of(run)
                    fake.condition(run.job_name, "Complete", "x")
                fake.members(run.job_name, NODES, **({"exit_code": 0} if running else {"running": True}))
        test_crashes.check_all_is_well(fake, [run])
        assert run.nodes.count() == 2
        died = fate.passed >= at
    assert at > 30


def test_a_group_is_among_the_runs_of_each_of_its_nodes(pair: Cluster) -> None:
    run, _ = request_run(draft())
    client = signed_in(make_user("vera", Role.VIEWER))
    for node in NODES:
        assert [one.pk for one in querysets.runs_of_node(pair.pk, node)] == [run.pk]
        for asked in (f"node={node}", f"q={node}", f"node={node}&node=gpu-4"):
            found = client.get(f"/api/v1/runs?{asked}").json()["results"]
            assert [one["id"] for one in found] == [run.pk], asked
        assert f"/validations/runs/{run.pk}" in client.get(f"/nodes/prod/{node}").content.decode()
    assert not querysets.runs_of_node(pair.pk, "gpu-3")
    assert client.get("/api/v1/runs?node=gpu-3").json()["results"] == []


def test_runs_of_a_node_are_those_of_its_cluster(pair: Cluster) -> None:
    request_run(draft())
    assert not querysets.runs_of_node(make_cluster("other").pk, "gpu-1")
