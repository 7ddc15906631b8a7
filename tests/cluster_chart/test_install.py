"""`helm install` against a real API server: the migrations come first, with what they need, and nothing is started where they fail.

No controller runs: the test plays the one of Jobs.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.controlplane.admin import MERGE, Admin, Refused
from tests.controlplane.controlplane import ControlPlane
from tests.go_program import program
from tests.helm import CHART, PACKAGE, SETTING, VALUES, VERSION
from tests.services import end, wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240, func_only=True)]

#: Of its own, beside what other tests have applied.
NAME, NAMESPACE = "second-gpudash", "second"
JOB = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs/{NAME}-migrate"
DEPLOYMENTS = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments"
#: What the hook brings for itself.
OWN = (f"serviceaccounts/{NAME}-migrate", f"configmaps/{NAME}-migrate")


class Cluster:
    """As the administrator and the controller of Jobs see it, and Helm."""

    def __init__(self, admin: Admin, plane: ControlPlane) -> None:
        self.admin, self.plane = admin, plane

    def helm(self, *words: str) -> subprocess.Popen[bytes]:
        where = ("--kubeconfig", str(self.plane.kubeconfig), "--namespace", NAMESPACE, "--timeout", "60s")
        command = [str(program(PACKAGE, VERSION, SETTING)), *words, *where]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def there(self, path: str) -> bool:
        try:
            self.admin.call("GET", path)
        except Refused as refused:
            if refused.status == 404:
                return False
            raise
        return True

    def owned(self) -> list[bool]:
        return [self.there(f"/api/v1/namespaces/{NAMESPACE}/{path}") for path in OWN]

    def deployments(self) -> int:
        return len(self.admin.call("GET", DEPLOYMENTS)["items"])

    def end_job(self, *conditions: str) -> None:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        done = {"completionTime": now, "succeeded": 1} if "Complete" in conditions else {"failed": 1}
        told = [
            {"type": kind, "status": "True", "lastTransitionTime": now, "reason": "Played", "message": "played"}
            for kind in conditions
        ]
        status: dict[str, Any] = {"startTime": now, "conditions": told, **done}
        self.admin.call("PATCH", f"{JOB}/status", {"status": status}, MERGE)


@pytest.fixture
def cluster(admin: Admin, plane: ControlPlane) -> Iterator[Cluster]:
    admin.ensure_namespace(NAMESPACE)
    made = Cluster(admin, plane)
    yield made
    process = made.helm("uninstall", NAME, "--ignore-not-found", "--no-hooks")
    process.communicate(timeout=60)
    for path in (JOB, *(f"/api/v1/namespaces/{NAMESPACE}/{one}" for one in OWN)):
        if made.there(path):
            admin.call("DELETE", path, {"propagationPolicy": "Background"})


INSTALL = (
    *("install", NAME, str(CHART), "--values", str(VALUES["minimal"])),
    *("--set", "launcher.createNamespace=false"),
)


def test_migrations_come_first_with_what_they_need(cluster: Cluster) -> None:
    installing = cluster.helm(*INSTALL)
    try:
        wait_until(lambda: cluster.there(JOB), "the migrations are under way")
        assert cluster.owned() == [True, True]
        assert cluster.deployments() == 0
        cluster.end_job("SuccessCriteriaMet", "Complete")
        said, _ = installing.communicate(timeout=60)
    finally:
        end(installing)
    assert installing.returncode == 0, said.decode()
    assert "cluster set here --launcher-kubeconfig /etc/gpudash/launcher/kubeconfig" in said.decode()
    assert cluster.deployments() == 6
    assert cluster.owned() == [False, False], "what the hook brought goes with it"

    upgrading = cluster.helm("upgrade", *INSTALL[1:], "--set", "watch.replicas=3")
    try:
        wait_until(lambda: cluster.there(JOB), "the migrations of the upgrade are under way")
        assert cluster.admin.call("GET", f"{DEPLOYMENTS}/{NAME}-watch")["spec"]["replicas"] == 2
        cluster.end_job("SuccessCriteriaMet", "Complete")
        said, _ = upgrading.communicate(timeout=60)
    finally:
        end(upgrading)
    assert upgrading.returncode == 0, said.decode()
    assert cluster.admin.call("GET", f"{DEPLOYMENTS}/{NAME}-watch")["spec"]["replicas"] == 3


def test_where_they_fail_nothing_is_started(cluster: Cluster) -> None:
    installing = cluster.helm(*INSTALL)
    try:
        wait_until(lambda: cluster.there(JOB), "the migrations are under way")
        cluster.end_job("FailureTarget", "Failed")
        said, _ = installing.communicate(timeout=60)
    finally:
        end(installing)
    assert installing.returncode != 0
    assert "pre-install" in said.decode()
    assert cluster.deployments() == 0
