"""A whole control plane with scheduler and controllers, a kubelet that is played, and a database that processes share."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from django.db import connections

from inventory.models import Cluster
from tests import services
from tests.cluster_runs.kubelet import Kubelet, Script
from tests.controlplane import controlplane
from tests.controlplane.admin import Admin
from tests.controlplane.controlplane import ControlPlane
from tests.factories import make_cluster, make_node
from tests.processes import Processes
from tests.services import Missing, Postgres
from tests.validations.recorded import PASSED
from validations.lifecycle import clients

NAMESPACE = "gpudash-validations"


@pytest.fixture(scope="session")
def database_server() -> Iterator[Postgres]:
    with ExitStack() as stack:
        try:
            server = stack.enter_context(services.postgres())
        except Missing as missing:
            services.or_skip(missing)
        yield server


@pytest.fixture(scope="session")
def django_db_modify_db_settings(database_server: Postgres) -> Iterator[None]:
    """PostgreSQL, so that other processes share the tables."""
    chosen: dict[str, Any] = connections.settings["default"]
    chosen.update(
        ENGINE="django.db.backends.postgresql",
        NAME=database_server.create("gpudash").rsplit("/", 1)[1],
        USER=services.POSTGRES_USER,
        HOST="127.0.0.1",
        PORT=str(database_server.port),
        OPTIONS={},
        CONN_HEALTH_CHECKS=True,
    )
    chosen["TEST"]["NAME"] = None
    if hasattr(connections._connections, "default"):  # type: ignore[attr-defined]
        del connections["default"]
    yield
    connections.close_all()


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    built = all((controlplane.cache() / name).exists() for name in controlplane.BINARIES)
    if not built and shutil.which("go") is None:
        services.or_skip(Missing("no control plane here and no Go to build it (tests/controlplane/README.md)"))
    with services.scratch("runs") as folder:
        running = ControlPlane(folder)
        try:
            running.up(("etcd", "apiserver", "scheduler", "controllers"))
            yield running
        finally:
            running.down()


@pytest.fixture(scope="module")
def admin(plane: ControlPlane) -> Admin:
    made = Admin(plane.kubeconfig)
    made.ensure_namespace(NAMESPACE)
    return made


@pytest.fixture(scope="module")
def kubelet(admin: Admin, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kubelet]:
    playing = Kubelet(admin, tmp_path_factory.mktemp("kubelet"), NAMESPACE, Script(PASSED))
    yield playing
    playing.close()


@pytest.fixture
def real(transactional_db: None, plane: ControlPlane, kubelet: Kubelet) -> Iterator[Cluster]:
    """The cluster's row; nodes come by `add_node`."""
    row = make_cluster("real")
    row.kubeconfig = str(plane.kubeconfig)
    row.save()
    yield row
    clients.forget(row.pk)


@pytest.fixture
def processes(tmp_path: Path, transactional_db: None) -> Iterator[Processes]:
    """To start gpudash's processes with; they end before the tables are emptied."""
    settings = connections["default"].settings_dict
    url = f"postgresql://{settings['USER']}@{settings['HOST']}:{settings['PORT']}/{settings['NAME']}"
    started = Processes(tmp_path, url)
    try:
        yield started
    finally:
        started.stop()


def add_node(
    cluster: Cluster,
    kubelet: Kubelet,
    name: str,
    gpus: int = 4,
    script: Script | None = None,
    stack: str = "nvidia-count",
) -> None:
    """A node with free GPUs, in the cluster and in the mirror. gpus 0: the mirror thinks that it has some, the cluster knows."""
    if script is not None:
        kubelet.scripts[name] = script
    labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}
    amounts = {"cpu": "64", "memory": "256Gi", "pods": "200"}
    if stack == "gpushare":
        amounts |= {"aliyun.com/gpu-mem": str(15 * gpus), "aliyun.com/gpu-count": str(gpus)}
    else:
        amounts["nvidia.com/gpu"] = str(gpus)
    status = {
        "capacity": amounts,
        "allocatable": amounts,
        "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
        "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": kubelet.port}},
    }
    metadata = {"name": name, "labels": labels}
    node = kubelet.admin.create({"kind": "Node", "apiVersion": "v1", "metadata": metadata, "status": status})
    # The API server taints a new node as not ready; the controller that takes this away does not run here.
    kubelet.admin.patch(node, {"spec": {"taints": None}})
    make_node(cluster, name, stack, gpus or 4, loads=(0.0,))
