"""Jobs of the embedded cluster: from the POST to the pod, its end, and every way in which that goes wrong."""

from __future__ import annotations

from typing import Any

import pytest

from fleetsim import Fleet
from fleetsim.fleetplan import NODES
from tests.fleetsim.client import Client
from tests.fleetsim.conftest import make_job, pass_time

NS = "gpudash-validations"
JOBS = f"/apis/batch/v1/namespaces/{NS}/jobs"
PODS = f"/api/v1/namespaces/{NS}/pods"


def pods_of(api: Client, job: str) -> list[dict[str, Any]]:
    return api.get(f"{PODS}?labelSelector=batch.kubernetes.io%2Fjob-name%3D{job}")["items"]


def condition(obj: dict[str, Any], kind: str) -> dict[str, Any]:
    found = [row for row in obj["status"].get("conditions", []) if row["type"] == kind]
    return found[0] if found else {}


def reasons(api: Client, name: str) -> list[str]:
    return [e["reason"] for e in api.get(f"/api/v1/events?fieldSelector=involvedObject.name%3D{name}")["items"]]


def test_a_job_gets_a_pod_that_runs_and_completes(api: Client, simulated: Fleet) -> None:
    created = api.post(JOBS, make_job())
    assert (created["kind"], created["metadata"]["namespace"]) == ("Job", NS)
    phases = []
    for _ in range(60):
        pass_time(simulated, 0.5)
        phases += [pod["status"]["phase"] for pod in pods_of(api, "probe")]
    assert sorted(set(phases), key=phases.index) == ["Pending", "Running", "Succeeded"]
    job, [pod] = api.get(f"{JOBS}/probe"), pods_of(api, "probe")
    assert condition(job, "Complete")["status"] == "True"
    assert (job["status"]["succeeded"], job["status"]["active"]) == (1, 0)
    assert pod["spec"]["nodeName"] == "gpu-t4-05"
    assert pod["metadata"]["ownerReferences"][0]["uid"] == created["metadata"]["uid"]
    assert pod["metadata"]["annotations"]["ALIYUN_COM_GPU_MEM_ASSIGNED"] == "true"
    assert pod["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 0
    assert reasons(api, pod["metadata"]["name"]) == ["Scheduled", "Pulling", "Pulled", "Created", "Started"]


def test_the_card_of_an_ended_job_is_free_again(api: Client, simulated: Fleet) -> None:
    machine = simulated.world.scheduler.by_name["gpu-t4-05"]
    api.post(JOBS, make_job())
    pass_time(simulated, 3)
    [uid] = [pod["metadata"]["uid"] for pod in pods_of(api, "probe")]
    assert machine.ledger is not None
    assert uid in machine.ledger.holders
    pass_time(simulated, 60)
    assert uid not in machine.ledger.holders


def windows_job(name: str) -> dict[str, Any]:
    job = make_job(name, "ackwin0001", "registry-vpc.cn-hangzhou.aliyuncs.com/acs/sample-gpu-windows:v1.0.0")
    spec = job["spec"]["template"]["spec"]
    spec["tolerations"] = [{"key": "os", "operator": "Equal", "value": "windows", "effect": "NoSchedule"}]
    spec["containers"][0]["resources"] = {"limits": {"windows.alibabacloud.com/directx": "1"}}
    return job


def test_a_large_image_is_pulled_for_half_a_minute_and_only_once(api: Client, simulated: Fleet) -> None:
    seconds = []
    for name in ("first", "second"):
        api.post(JOBS, windows_job(name))
        asked = simulated.now
        while [pod["status"]["phase"] for pod in pods_of(api, name)] != ["Running"]:
            pass_time(simulated, 0.5)
            assert simulated.now - asked < 60
        seconds.append(simulated.now - asked)
        pass_time(simulated, 30)
    assert 20 <= seconds[0] <= 42
    assert seconds[1] < 3
    [second] = pods_of(api, "second")
    assert reasons(api, second["metadata"]["name"]) == ["Scheduled", "Pulled", "Created", "Started"]


def ask(amount: object) -> dict[str, Any]:
    return {"limits": {"aliyun.com/gpu-mem": amount}}


@pytest.mark.parametrize(
    ("change", "code", "reason"),
    [
        (lambda job: job["spec"].pop("template"), 422, "Invalid"),
        (lambda job: job["spec"]["template"].pop("spec"), 422, "Invalid"),
        (lambda job: job["spec"]["template"]["spec"].update(containers=[]), 422, "Invalid"),
        (lambda job: job["spec"]["template"]["spec"]["containers"][0].pop("image"), 422, "Invalid"),
        (lambda job: job["spec"]["template"]["spec"].update(restartPolicy="Always"), 422, "Invalid"),
        (lambda job: job["spec"]["template"]["spec"]["containers"][0].update(resources=ask("1e400")), 422, "Invalid"),
        (lambda job: job["spec"]["template"]["spec"]["containers"][0].update(resources=ask("-1")), 422, "Invalid"),
        (lambda job: job["spec"]["template"]["spec"]["containers"][0].update(resources=ask([1])), 400, "BadRequest"),
        (lambda job: job["spec"].update(parallelism=4), 422, "Invalid"),
        (lambda job: job["spec"].update(backoffLimit=-1), 422, "Invalid"),
        (lambda job: job["metadata"].pop("name"), 422, "Invalid"),
        (lambda job: job["metadata"].update(name="Not A Name"), 422, "Invalid"),
        (lambda job: job["metadata"].update(name="x" * 64), 422, "Invalid"),
        (lambda job: job["metadata"].update(labels={"a": 1}), 400, "BadRequest"),
        (lambda job: job["metadata"].update(namespace="default"), 400, "BadRequest"),
        (lambda job: job["spec"].update(template=[1]), 400, "BadRequest"),
        (lambda job: job["spec"]["template"]["spec"].update(tolerations="all"), 400, "BadRequest"),
        (lambda job: job["spec"]["template"]["spec"].update(affinity={"nodeAffinity": 3}), 400, "BadRequest"),
        (lambda job: job["spec"]["template"]["spec"]["containers"].append(None), 400, "BadRequest"),
        (lambda job: job.update(kind="CronJob"), 400, "BadRequest"),
        (lambda job: job.update(spec=None), 422, "Invalid"),
    ],
)
def test_a_job_that_is_none_is_refused_with_the_field(
    api: Client, simulated: Fleet, change: Any, code: int, reason: str
) -> None:
    job = make_job()
    change(job)
    status = api.post(JOBS, job, status=code)
    assert status["reason"] == reason
    assert code == 400 or status["details"]["causes"][0]["field"]
    pass_time(simulated, 5)
    assert api.get(JOBS)["items"] == []


def test_bodies_that_are_no_objects_are_refused(api: Client) -> None:
    for body in (b"", b"[]", b"{", b"null", b"\xff\xfe", b"[" * 100_000):
        assert api.request("POST", JOBS, body).status in (400, 422)
    assert api.request("POST", JOBS, b"a: 1", content_type="application/yaml").status == 415


def test_a_dry_run_checks_and_keeps_nothing(api: Client) -> None:
    assert api.post(f"{JOBS}?dryRun=All", make_job())["metadata"]["uid"]
    assert api.get(JOBS)["items"] == []
    api.post(JOBS, make_job())
    assert api.post(f"{JOBS}?dryRun=All", make_job(), status=409)["reason"] == "AlreadyExists"


def test_the_same_name_twice_is_already_exists(api: Client) -> None:
    api.post(JOBS, make_job())
    assert api.post(JOBS, make_job(), status=409)["reason"] == "AlreadyExists"
    api.post(JOBS.replace(NS, "no-such-namespace"), make_job(), status=404)


def test_a_full_node_leaves_the_pod_unschedulable_until_the_deadline(api: Client, simulated: Fleet) -> None:
    job = make_job(node="dgx-h100-02", activeDeadlineSeconds=60)
    spec = job["spec"]["template"]["spec"]
    spec["tolerations"] = [{"operator": "Exists"}]
    spec["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": 1}}
    api.post(JOBS, job)
    pass_time(simulated, 30)
    [pod] = pods_of(api, "probe")
    scheduled = condition(pod, "PodScheduled")
    assert (pod["status"]["phase"], scheduled["reason"]) == ("Pending", "Unschedulable")
    assert scheduled["message"].startswith(f"0/{NODES} nodes are available: 1 Insufficient nvidia.com/gpu, ")
    assert "FailedScheduling" in reasons(api, pod["metadata"]["name"])
    pass_time(simulated, 60)
    assert condition(api.get(f"{JOBS}/probe"), "Failed")["reason"] == "DeadlineExceeded"
    assert pods_of(api, "probe") == []


def test_a_pod_without_the_toleration_is_unavailable_reason_a_tainted_node(api: Client, simulated: Fleet) -> None:
    api.post(JOBS, make_job(node="ackwin0001"))
    pass_time(simulated, 3)
    [pod] = pods_of(api, "probe")
    assert "9 node(s) had untolerated taint {os: windows}" in condition(pod, "PodScheduled")["message"]


def test_an_image_that_does_not_exist_is_never_run(api: Client, simulated: Fleet) -> None:
    api.post(JOBS, make_job(image="registry.demo/typo:1"))
    waiting = set()
    for _ in range(40):
        pass_time(simulated, 1)
        for pod in pods_of(api, "probe"):
            for row in pod["status"].get("containerStatuses", []):
                waiting.add(row["state"].get("waiting", {}).get("reason"))
    assert waiting == {"ContainerCreating", "ErrImagePull", "ImagePullBackOff"}


def test_backoff_makes_new_pods_and_then_gives_up(api: Client, simulated: Fleet) -> None:
    job = make_job(backoffLimit=2)
    job["spec"]["template"]["metadata"]["labels"]["demo.gpudash.io/outcome"] = "verification"
    api.post(JOBS, job)
    pass_time(simulated, 120)
    found = api.get(f"{JOBS}/probe")
    assert [pod["status"]["phase"] for pod in pods_of(api, "probe")] == ["Failed"] * 3
    assert condition(found, "Failed")["reason"] == "BackoffLimitExceeded"
    assert found["status"]["failed"] == 3


def test_a_node_that_cannot_pull_keeps_the_pod_waiting_until_the_deadline(api: Client, simulated: Fleet) -> None:
    job = make_job(node="old-k80-02", activeDeadlineSeconds=60)
    job["spec"]["template"]["spec"]["containers"][0]["resources"] = {"limits": {"alpha.kubernetes.io/nvidia-gpu": "1"}}
    api.post(JOBS, job)
    pass_time(simulated, 50)
    [pod] = pods_of(api, "probe")
    assert pod["status"]["containerStatuses"][0]["state"]["waiting"]["reason"] in ("ErrImagePull", "ImagePullBackOff")
    pass_time(simulated, 20)
    assert condition(api.get(f"{JOBS}/probe"), "Failed")["reason"] == "DeadlineExceeded"


def test_an_evicted_pod_says_so(api: Client, simulated: Fleet) -> None:
    job = make_job()
    job["spec"]["template"]["metadata"]["labels"]["demo.gpudash.io/outcome"] = "evicted"
    api.post(JOBS, job)
    pass_time(simulated, 60)
    [pod] = pods_of(api, "probe")
    assert (pod["status"]["phase"], pod["status"]["reason"]) == ("Failed", "Evicted")
    assert condition(api.get(f"{JOBS}/probe"), "Failed")["status"] == "True"


def test_a_node_given_by_name_skips_the_scheduler(api: Client, simulated: Fleet) -> None:
    def pinned(name: str, node: str, resource: str) -> None:
        job = make_job(name)
        spec = job["spec"]["template"]["spec"]
        spec.pop("nodeSelector")
        spec["nodeName"] = node
        spec["containers"][0]["resources"] = {"limits": {resource: "1"}}
        api.post(JOBS, job)

    pinned("full", "dgx-h100-02", "nvidia.com/gpu")
    pinned("no-card", "gpu-t4-05", "aliyun.com/gpu-mem")
    pinned("nowhere", "no-such-node", "nvidia.com/gpu")
    pass_time(simulated, 30)
    [full], [no_card], [nowhere] = (pods_of(api, name) for name in ("full", "no-card", "nowhere"))
    assert full["status"]["reason"] == "UnexpectedAdmissionError"
    assert no_card["status"]["phase"] == "Failed"
    assert nowhere["status"]["phase"] == "Pending"


@pytest.mark.parametrize("policy", ["Background", "Foreground", "Orphan"])
def test_deleting_a_job_treats_its_pods_as_asked(api: Client, simulated: Fleet, policy: str) -> None:
    api.post(JOBS, make_job())
    pass_time(simulated, 2)
    api.delete(f"{JOBS}/probe?propagationPolicy={policy}")
    left = api.get(JOBS)["items"]
    assert [("deletionTimestamp" in job["metadata"]) for job in left] == ([True] if policy == "Foreground" else [])
    pass_time(simulated, 10)
    assert api.get(JOBS)["items"] == []
    assert len(pods_of(api, "probe")) == (1 if policy == "Orphan" else 0)


def test_deleting_needs_the_right_uid_and_policy(api: Client) -> None:
    api.post(JOBS, make_job())
    api.delete(f"{JOBS}/probe", {"preconditions": {"uid": "another"}}, status=409)
    api.delete(f"{JOBS}/probe", {"propagationPolicy": "Sometimes"}, status=422)
    api.delete(f"{JOBS}/none", status=404)
    assert api.delete(f"{JOBS}/probe?dryRun=All")["kind"] == "Job"
    assert len(api.get(JOBS)["items"]) == 1


def test_a_deleted_pod_of_a_running_job_terminates_and_counts_as_failed(api: Client, simulated: Fleet) -> None:
    api.post(JOBS, make_job())
    pass_time(simulated, 2)
    [pod] = pods_of(api, "probe")
    assert "deletionTimestamp" in api.delete(f"{PODS}/{pod['metadata']['name']}")["metadata"]
    pass_time(simulated, 10)
    assert pods_of(api, "probe") == []
    assert condition(api.get(f"{JOBS}/probe"), "Failed")["reason"] == "BackoffLimitExceeded"


def test_a_time_to_live_that_is_patched_later_removes_job_and_pod(api: Client, simulated: Fleet) -> None:
    api.post(JOBS, make_job())
    pass_time(simulated, 60)
    assert len(api.get(JOBS)["items"]) == 1
    api.patch(f"{JOBS}/probe", {"spec": {"ttlSecondsAfterFinished": -1}}, status=422)
    api.patch(f"{JOBS}/probe", {"spec": {"ttlSecondsAfterFinished": 5}})
    pass_time(simulated, 10)
    assert api.get(JOBS)["items"] == []
    assert pods_of(api, "probe") == []
