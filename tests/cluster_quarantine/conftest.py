"""A real API server with the shipped role and policy of the account that marks nodes, whose token alone is used to mark them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.utils import timezone

from inventory.models import Card, Cluster
from quarantine import clients, tasks
from quarantine.models import Case, CaseState
from tests import services
from tests.cluster_chart.apply import Applier
from tests.cluster_quarantine.people import Person
from tests.cluster_runs.conftest import database_server, django_db_modify_db_settings, processes
from tests.controlplane import controlplane
from tests.controlplane.admin import Admin, Refused, write_kubeconfig
from tests.controlplane.controlplane import ControlPlane
from tests.controlplane.objects import Json
from tests.factories import make_cluster, make_node
from tests.processes import ROOT
from tests.services import Missing, wait_until
from validations.ids import new_id

__all__ = ["database_server", "django_db_modify_db_settings", "processes"]
ACCOUNT = "gpudash-quarantine"
TOKEN = f"/api/v1/namespaces/gpudash/serviceaccounts/{ACCOUNT}/token"


@pytest.fixture(scope="session")
def plane() -> Iterator[ControlPlane]:
    built = all((controlplane.cache() / name).exists() for name in controlplane.BINARIES)
    if not built and shutil.which("go") is None:
        services.or_skip(Missing("no control plane here and no Go to build it (tests/controlplane/README.md)"))
    with services.scratch("quarantine") as folder:
        running = ControlPlane(folder)
        try:
            running.up(("etcd", "apiserver"))
            yield running
        finally:
            running.down()


@pytest.fixture(scope="session")
def admin(plane: ControlPlane) -> Admin:
    return Admin(plane.kubeconfig)


@pytest.fixture(scope="session")
def account(plane: ControlPlane, admin: Admin, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The account's kubeconfig. What is shipped is applied, and kept by the server."""
    admin.ensure_namespace("gpudash")
    applier = Applier(admin)
    for name in ("quarantine-role.yaml", "quarantine-policy.yaml"):
        for thing in yaml.safe_load_all((ROOT / "deploy" / name).read_text()):
            if thing["kind"] not in ("Namespace", "Secret"):
                applier.apply(thing, dry=False)
    token = admin.call("POST", TOKEN, {"spec": {"expirationSeconds": 36000}})["status"]["token"]
    path = write_kubeconfig(tmp_path_factory.mktemp("account") / "config", plane.kubeconfig, {"token": token})
    probe = Admin(path)
    admin.create({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "probe"}})

    def kept() -> bool:
        try:
            probe.call("PATCH", "/api/v1/nodes/probe?dryRun=All", {"metadata": {"labels": {"a": "b"}}}, MERGE)
        except Refused as refused:
            return "policy gpudash-quarantine" in str(refused)
        return False

    wait_until(kept, "the policy is kept", 60)
    return path


MERGE = "application/merge-patch+json"


@pytest.fixture
def real(transactional_db: None, account: Path, admin: Admin) -> Iterator[Cluster]:
    """The cluster's row; of its credentials there are only those that mark nodes."""
    row = make_cluster("real")
    row.quarantine_kubeconfig = str(account)
    row.save()
    yield row
    clients.forget(row.pk)
    admin.call("DELETE", "/api/v1/nodes", {})


@pytest.fixture
def node(real: Cluster, admin: Admin) -> Callable[..., Person]:
    """node(name, …) makes one with GPUs, in the cluster and in the mirror; what comes back acts on it as an administrator."""

    def make(name: str = "gpu-1", taints: list[Json] | None = None, labels: dict[str, str] | None = None) -> Person:
        found = Person(admin, name)
        found.create(taints or [], labels or {})
        make_node(real, name, "nvidia", 4, loads=(0.0,))
        return found

    return make


def make_case(cluster: Cluster, node: str = "gpu-1", card: int = 0, **columns: Any) -> Case:
    """A case that was accepted just now."""
    row = Card.objects.filter(cluster=cluster, node_name=node).order_by("index")[card]
    at = timezone.now()
    values: dict[str, Any] = {
        "pk": new_id(),
        "card_key": row.key,
        "card_uuid": row.uuid,
        "state": CaseState.ACCEPTED,
        "state_since": at,
        "accepted_at": at,
        "accepted_by_name": "ana",
        "suite": "cuda-vectoradd",
        "reason": "cuda-vectoradd failed 2 times on this card.",
    }
    return Case.objects.create(cluster=cluster, node_name=node, **values | columns)


def look(case: Case) -> str:
    """One pass, whenever the case was looked at last. The state of the case after it."""
    Case.objects.filter(cluster_id=case.cluster_id).update(next_look_at=None)
    tasks.reconcile(case.cluster_id)
    case.refresh_from_db()
    return str(case.state)
