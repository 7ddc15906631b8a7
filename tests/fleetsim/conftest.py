"""A small fleet whose time stands still until a test steps it, served on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from fleetsim import Fleet, Server, serve
from gpudash.demo_programs import demo_programs
from kube.objects import Node
from tests.fleetsim.client import Client

START = 1_780_000_000.0


@pytest.fixture
def simulated() -> Fleet:
    return Fleet(seed=1, now=START, programs=demo_programs())


@pytest.fixture
def server(simulated: Fleet) -> Iterator[Server]:
    with serve(simulated, live=False, bookmark_s=0.05) as running:
        yield running


@pytest.fixture
def api(server: Server) -> Iterator[Client]:
    client = Client(server)
    yield client
    client.pool.clear()


def node_of(obj: dict[str, Any]) -> Node:
    """As it is read from the API server: some of its fields are kept as they came."""
    return msgspec.json.decode(msgspec.json.encode(obj), type=Node)


def pass_time(fleet: Fleet, seconds: float, pace: float = 0.5) -> None:
    """Let simulated time go on in small steps, as the demo's thread does."""
    end = fleet.now + seconds
    while fleet.now < end:
        fleet.step(min(end, fleet.now + pace))


def make_job(name: str = "probe", node: str = "gpu-t4-05", image: str = "", **spec: Any) -> dict[str, Any]:
    """A Job that asks for 1 GiB of a gpushare node; `spec` goes over the Job's spec."""
    container = {
        "name": "suite",
        "image": image or "nvcr.io/nvidia/k8s/cuda-sample:vectoradd-cuda12.5.0",
        "resources": {"limits": {"aliyun.com/gpu-mem": "1"}},
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "labels": {"app.kubernetes.io/managed-by": "gpudash"}},
        "spec": {
            "backoffLimit": 0,
            "template": {
                "metadata": {"labels": {"gpudash.io/suite": "cuda-vectoradd"}},
                "spec": {
                    "restartPolicy": "Never",
                    "nodeSelector": {"kubernetes.io/hostname": node},
                    "containers": [container],
                },
            },
            **spec,
        },
    }
