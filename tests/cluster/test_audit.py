"""The audit against a real API server: what somebody spoilt is mended and said; under churn nothing is found."""

from __future__ import annotations

import threading

import pytest

from inventory.models import Cluster, Finding, Pod, Watch
from tests.cluster.agreement import all_watching, differences, in_step
from tests.cluster.fleet import Fleet
from tests.controlplane.admin import Admin
from tests.processes import Processes
from tests.services import wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240, func_only=True)]


@pytest.fixture
def audited(cluster: Cluster, processes: Processes) -> Cluster:
    """Watched, with an audit every few seconds: more than five, which is how often findings of the mirror are looked for."""
    processes.environment["GPUDASH_AUDIT_S"] = "12"
    processes.manage("sync")
    return cluster


def pods(cluster: Cluster) -> Watch:
    return Watch.objects.get(cluster=cluster, kind="pods")


def test_rows_that_somebody_changed_and_deleted_are_mended_and_it_is_said(
    fleet: Fleet, admin: Admin, audited: Cluster
) -> None:
    fleet.build()
    in_step(admin, audited)
    wait_until(lambda: all_watching(audited), "all kinds are in sync")
    rows = Pod.objects.filter(cluster=audited)
    rows.filter(name="gib-0-0").delete()
    rows.filter(name="mib-0-0").update(phase="Failed", node_name="nowhere")
    assert differences(admin, audited) != []
    in_step(admin, audited)
    wait_until(lambda: pods(audited).audit_differences_total == 2, "both were counted", 60)
    wait_until(lambda: Finding.objects.filter(code="synced-data-differed").exists(), "it is said")
    wait_until(lambda: pods(audited).audit_differences == 0, "the next audit finds nothing", 60)
    wait_until(
        lambda: not Finding.objects.filter(code="synced-data-differed", ended_at=None).exists(), "it is over", 60
    )
    assert pods(audited).audit_differences_total == 2


def test_under_churn_no_audit_finds_anything(fleet: Fleet, admin: Admin, audited: Cluster) -> None:
    fleet.build()
    in_step(admin, audited)
    seen: set[object] = set()
    ended = threading.Event()

    def churn() -> None:
        number = 0
        while not ended.wait(0.02):
            number += 1
            made = fleet.run("gib", f"churn-{number}", "gib-0", {number % 8: 1})
            if number % 2:
                admin.delete(made)

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        wait_until(lambda: bool(seen.add(pods(audited).audited_at)) or len(seen) > 3, "three audits", 150)
    finally:
        ended.set()
        thread.join()
    assert not Watch.objects.filter(cluster=audited).exclude(audit_differences_total=0).exists()
    in_step(admin, audited)
