"""Logs of the embedded cluster: they grow line by line, obey the parameters, and say why there are none."""

from __future__ import annotations

import itertools
import re
import threading

import pytest

from fleetsim import Fleet
from tests.fleetsim.client import Client
from tests.fleetsim.conftest import make_job, pass_time

NS = "gpudash-validations"
JOBS = f"/apis/batch/v1/namespaces/{NS}/jobs"


@pytest.fixture
def started(api: Client, simulated: Fleet) -> str:
    """Path of the log of a pod that has just begun to run."""
    api.post(JOBS, make_job())
    while True:
        pass_time(simulated, 0.1, pace=0.1)
        for pod in api.get(f"/api/v1/namespaces/{NS}/pods")["items"]:
            if pod["status"]["phase"] == "Running":
                return f"/api/v1/namespaces/{NS}/pods/{pod['metadata']['name']}/log"


def test_the_log_grows_line_by_line_to_its_end(api: Client, simulated: Fleet, started: str) -> None:
    seen = [api.text(started)]
    for _ in range(20):
        pass_time(simulated, 0.25)
        seen.append(api.text(started))
    assert all(after.startswith(before) for before, after in itertools.pairwise(seen))
    assert len(set(seen)) > 4
    assert seen[-1].endswith("Test PASSED\nDone\n")


def test_following_gives_the_same_text_and_ends_with_the_container(api: Client, simulated: Fleet, started: str) -> None:
    texts: list[str] = []
    reader = threading.Thread(target=lambda: texts.append(api.text(f"{started}?follow=true")))
    reader.start()
    pass_time(simulated, 10)
    reader.join(timeout=10)
    assert texts == [api.text(started)]


def test_following_a_pod_that_is_deleted_ends(api: Client, simulated: Fleet, started: str) -> None:
    followed = api.watch(f"{started}?follow=true")  # it has begun when its status is there
    api.delete(started.removesuffix("/log"), {"gracePeriodSeconds": 0})
    pass_time(simulated, 1)
    assert b"Test PASSED" not in followed.answer.read()  # it ends, and before the container would have
    followed.close()


def test_tail_since_limit_and_timestamps(api: Client, simulated: Fleet, started: str) -> None:
    pass_time(simulated, 10)
    whole = api.text(started)
    lines = whole.splitlines(keepends=True)
    assert api.text(f"{started}?tailLines=2") == "".join(lines[-2:])
    assert api.text(f"{started}?tailLines=0") == ""
    assert api.text(f"{started}?limitBytes=10") == whole[:10]
    assert api.text(f"{started}?sinceSeconds=1") == ""
    assert api.text(f"{started}?sinceSeconds=3600") == whole
    stamped = api.text(f"{started}?timestamps=true").splitlines(keepends=True)
    stamp = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z ")
    assert all(stamp.match(line) for line in stamped)
    assert "".join(stamp.sub("", line, count=1) for line in stamped) == whole


def test_a_container_that_waits_has_no_log_and_says_why(api: Client, simulated: Fleet) -> None:
    api.post(JOBS, make_job())
    pass_time(simulated, 1)
    [pod] = api.get(f"/api/v1/namespaces/{NS}/pods")["items"]
    name = pod["metadata"]["name"]
    status = api.get(f"/api/v1/namespaces/{NS}/pods/{name}/log", status=400)
    assert status["message"] == f'container "suite" in pod "{name}" is waiting to start: ContainerCreating'


def test_a_pod_without_a_node_has_an_empty_answer(api: Client, simulated: Fleet) -> None:
    api.post(JOBS, make_job(node="dgx-h100-02"))
    pass_time(simulated, 2)
    [pod] = api.get(f"/api/v1/namespaces/{NS}/pods")["items"]
    assert api.request("GET", f"/api/v1/namespaces/{NS}/pods/{pod['metadata']['name']}/log").status == 204


def test_questions_about_logs_that_make_no_sense(api: Client, started: str) -> None:
    api.get(f"{started}?container=other", status=400)
    api.get(f"{started}?tailLines=-1", status=400)
    api.get(f"{started}?previous=true", status=400)
    api.get("/api/v1/namespaces/default/pods/none/log", status=404)


def test_a_pod_of_several_containers_needs_the_name(api: Client) -> None:
    pods = api.get("/api/v1/namespaces/gpu-operator/pods?labelSelector=app%3Dgpu-feature-discovery")["items"]
    ready = next(pod for pod in pods if pod["status"]["phase"] == "Running")
    path = f"/api/v1/namespaces/gpu-operator/pods/{ready['metadata']['name']}/log"
    message = api.get(path, status=400)["message"]
    assert "choose one of: [toolkit-validation config-manager-init gpu-feature-discovery config-manager]" in message
    assert api.text(f"{path}?container=gpu-feature-discovery")


def test_an_operand_that_waits_for_the_toolkit_says_so_in_its_log(api: Client) -> None:
    pods = api.get("/api/v1/namespaces/gpu-operator/pods?labelSelector=app%3Dnvidia-device-plugin-daemonset")["items"]
    [waiting] = [pod for pod in pods if pod["status"]["phase"] == "Pending"]
    path = f"/api/v1/namespaces/gpu-operator/pods/{waiting['metadata']['name']}/log"
    assert "waiting for nvidia container stack to be setup" in api.text(f"{path}?container=toolkit-validation")
    api.get(f"{path}?container=nvidia-device-plugin", status=400)
