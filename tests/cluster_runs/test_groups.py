"""Runs of several nodes on the real control plane: an Indexed Job, its pods on the nodes that were asked for, and one result."""

from __future__ import annotations

from pathlib import Path

import pytest

from inventory.models import Cluster
from tests.cluster_runs.conftest import NAMESPACE, add_node
from tests.cluster_runs.kubelet import Kubelet, Script
from tests.cluster_runs.test_runs import drive, jobs
from tests.validations.recorded import codes, later
from tests.validations.suites.golden import ROOT
from validations.models import LastResult, Run
from validations.planning import RunDraft
from validations.requests import request_cancel, request_run

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]
GOLDEN = ROOT / "nccl-multinode"
WELL = Script(b"")


def recorded(name: str) -> bytes:
    """A recorded log whose hosts are the pods of the run's Job."""
    text = Path(GOLDEN / f"{name}.log").read_bytes()
    for index in range(2):
        text = text.replace(f"nccl-worker-{index}".encode(), b"{job}-%d" % index)
        text = text.replace(f"gpudash-0199bd4f8a2c3e71-{index}".encode(), b"{job}-%d" % index)
    return text


def asked(real: Cluster, kubelet: Kubelet, name: str, script: Script) -> Run:
    """A run on two new nodes of this name, whichever of them gets the index 0."""
    nodes = [f"{name}-a", f"{name}-b"]
    for node in nodes:
        add_node(real, kubelet, node, gpus=8, script=script)
    run, _ = request_run(RunDraft(suite="nccl-multinode", cluster="real", nodes=nodes, options={"cards": 8}))
    return run


def pods(kubelet: Kubelet) -> list[str]:
    return [pod["metadata"]["name"] for pod in kubelet.admin.list(f"/api/v1/namespaces/{NAMESPACE}/pods")]


def test_two_nodes_pass_and_nothing_is_left(real: Cluster, kubelet: Kubelet) -> None:
    run = asked(real, kubelet, "pass", Script(recorded("two-nodes"), others=WELL))
    drive(real, run)
    assert (run.verdict, run.exit_code, run.node_name) == ("passed", 0, ""), run.reasons
    assert codes(run) == ["no-pass-alone"]
    rows = list(run.nodes.order_by("index"))
    assert {row.node_name for row in rows} == {"pass-a", "pass-b"}
    assert [(row.index, row.first_rank, row.last_rank) for row in rows] == [(0, 0, 7), (1, 8, 15)]
    assert [row.pod_name.startswith(f"{run.job_name}-{index}-") for index, row in enumerate(rows)] == [True, True]
    assert run.pod_name == rows[0].pod_name
    assert jobs(kubelet) == []
    assert not LastResult.objects.exists(), "a result of a group is of none of its nodes"


def test_a_slow_group_fails_and_blames_no_node(real: Cluster, kubelet: Kubelet) -> None:
    run = asked(real, kubelet, "slow", Script(recorded("slow"), exit_code=1, others=WELL))
    drive(real, run)
    assert (run.verdict, codes(run)[0]) == ("failed", "bandwidth"), run.reasons
    assert (run.card_key, LastResult.objects.count()) == ("", 0)
    assert jobs(kubelet) == []


def test_a_rank_that_is_lost_fails_the_group(real: Cluster, kubelet: Kubelet) -> None:
    run = asked(real, kubelet, "lost", Script(recorded("node-left"), exit_code=1, others=Script(hangs=True)))
    drive(real, run)
    assert (run.verdict, codes(run)[0]) == ("failed", "group-broken"), run.reasons
    assert run.facts["suspects"] == [f"{run.job_name}-1"]
    assert not LastResult.objects.exists()
    assert jobs(kubelet) == []


def test_a_node_that_is_lost_ends_the_group(real: Cluster, kubelet: Kubelet) -> None:
    run = asked(real, kubelet, "gone", Script(recorded("node-left"), hangs=True, others=Script(evicted=True)))
    drive(real, run)
    assert run.verdict in ("failed", "errored")
    assert {"evicted", "group-broken"} & set(codes(run)), run.reasons
    assert run.nodes.get(index=1).said == "Evicted"
    assert jobs(kubelet) == []


def test_a_group_without_room_ends_in_time_and_holds_nothing(real: Cluster, kubelet: Kubelet) -> None:
    add_node(real, kubelet, "half-a", gpus=8, script=Script(b"", hangs=True))
    add_node(real, kubelet, "half-b", gpus=0)
    nodes = ["half-a", "half-b"]
    run, _ = request_run(RunDraft(suite="nccl-multinode", cluster="real", nodes=nodes, options={"cards": 4}))
    drive(real, run, lambda: "Insufficient nvidia.com/gpu" in run.pending_message)
    later(run, 601)
    drive(real, run)
    assert (run.verdict, codes(run)) == ("errored", ["unschedulable"])
    assert jobs(kubelet) == []


def test_a_cancelled_group_is_deleted(real: Cluster, kubelet: Kubelet) -> None:
    run = asked(real, kubelet, "cancel-group", Script(b"", hangs=True))
    drive(real, run, lambda: run.state == "running")
    request_cancel(run, None)
    drive(real, run)
    assert codes(run)[0] == "cancelled"
    assert jobs(kubelet) == []


def test_the_manifest_of_a_group_is_what_the_api_server_takes(real: Cluster, kubelet: Kubelet) -> None:
    run = asked(real, kubelet, "dry-group", Script(b"", hangs=True))
    path = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs?dryRun=All&fieldValidation=Strict"
    assert kubelet.admin.call("POST", path, run.manifest)["metadata"]["name"] == run.job_name
    request_cancel(run, None)
    drive(real, run)
