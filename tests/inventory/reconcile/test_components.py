"""Rows of components over time: what changed, since when, what is kept of it, and what goes with what."""

from __future__ import annotations

import copy
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
import yaml
from django.utils import timezone

from inventory.models import Component, ComponentChange, Finding, NodeTotals, SoftwareObject, Watch
from inventory.retention import prune
from tests.factories import make_cluster
from tests.inventory.components.case import GOLDEN
from tests.inventory.reconcile.conftest import KIND_OF, Fleet

pytestmark = pytest.mark.django_db
Thing = dict[str, Any]
Clock = Callable[[str], datetime]

DRIVER = "nvidia-driver-daemonset-a1b2c"


def objects() -> dict[str, Thing]:
    """Two nodes, one with a GPU, whose operator and all components are ready: by kind and name."""
    found = yaml.load((GOLDEN / "c01-operator-all-ready.yaml").read_text(), yaml.CSafeLoader)["objects"]
    return {f"{one['kind']} {one['metadata']['name']}": one for one in found}


@pytest.fixture
def things() -> dict[str, Thing]:
    return objects()


@pytest.fixture
def ready(clock: Clock, things: dict[str, Thing], db: None) -> Fleet:
    """That cluster, counted for the first time at noon."""
    clock("2026-11-20T12:00:00Z")
    fleet = Fleet(make_cluster("prod", held=False))
    Watch.objects.filter(kind="cards").update(synced_at=None)
    fleet.put_all(things.values())
    fleet.reconcile()
    return fleet


def crashed(pod: Thing) -> Thing:
    """The main container of the pod ended with 1, again and again."""
    made = copy.deepcopy(pod)
    made["status"]["conditions"] = [
        one | {"status": "False"} if one["type"] == "Ready" else one for one in made["status"]["conditions"]
    ]
    waiting = {"state": {"waiting": {"reason": "CrashLoopBackOff"}}, "ready": False, "restartCount": 4}
    last = {"lastState": {"terminated": {"exitCode": 1, "finishedAt": "2026-11-20T12:04:00Z"}}}
    made["status"]["containerStatuses"][0] |= waiting | last
    return made


def driver() -> Component:
    return Component.objects.get(node_name="gpu-1", name="driver")


def changes(name: str = "driver", node: str = "gpu-1") -> list[tuple[Any, ...]]:
    rows = ComponentChange.objects.filter(node_name=node, name=name).order_by("at", "id")
    return list(rows.values_list("state_before", "state_after", "at"))


def test_the_first_time_nothing_has_changed(ready: Fleet) -> None:
    assert Component.objects.filter(node_name="gpu-1", state="ready").count() > 5
    assert Component.objects.filter(node_name="", name="gpu-operator", state="ready").exists()
    assert not ComponentChange.objects.exists()


def test_the_same_again_writes_nothing(ready: Fleet, clock: Clock, things: dict[str, Thing]) -> None:
    before = list(Component.objects.order_by("id").values())
    clock("2026-11-20T13:00:00Z")
    ready.put_all(things.values())
    assert ready.reconcile() == 0
    assert list(Component.objects.order_by("id").values()) == before
    assert not ComponentChange.objects.exists()


def test_a_change_is_kept_with_what_was_before_and_since_when(
    ready: Fleet, clock: Clock, things: dict[str, Thing]
) -> None:
    noon = driver().state_since
    pod = things[f"Pod {DRIVER}"]
    first = clock("2026-11-20T12:05:00Z")
    ready.put_all([crashed(pod)])
    ready.reconcile()
    found = driver()
    assert (found.state, found.exit_code, found.first_cause) == ("crash-looping", 1, True)
    assert noon < first == found.state_since
    assert found.since is not None, "the container says when it ended"
    assert found.since < first
    assert changes() == [("ready", "crash-looping", first)]
    # It goes on: another code, the same state.
    clock("2026-11-20T12:06:00Z")
    again = crashed(pod)
    again["status"]["containerStatuses"][0]["lastState"]["terminated"]["exitCode"] = 137
    ready.put_all([again])
    ready.reconcile()
    assert (driver().exit_code, driver().state_since) == (137, first)
    assert len(changes()) == 1
    last = clock("2026-11-20T12:10:00Z")
    ready.put_all([pod])
    ready.reconcile()
    assert changes() == [("ready", "crash-looping", first), ("crash-looping", "ready", last)]
    assert driver().state_since == last
    assert not Component.objects.filter(first_cause=True).exists()


def test_another_version_is_a_change_too_and_keeps_the_state(
    ready: Fleet, clock: Clock, things: dict[str, Thing]
) -> None:
    noon = driver().state_since
    clock("2026-11-20T12:05:00Z")
    pod, daemonset = things[f"Pod {DRIVER}"], things["DaemonSet nvidia-driver-daemonset"]
    image = "nvcr.io/nvidia/driver:580.95.05-ubuntu22.04"
    daemonset["spec"]["template"]["spec"]["containers"][0]["image"] = image
    pod["spec"]["containers"][0]["image"] = pod["status"]["containerStatuses"][0]["image"] = image
    ready.put_all([daemonset, pod])
    ready.reconcile()
    row = ComponentChange.objects.get(name="driver")
    assert (row.version_before, row.version_after) == ("580.82.07", "580.95.05")
    assert row.state_before == row.state_after == "ready"
    assert driver().state_since == noon


def test_the_step_of_an_upgrade_has_a_time_of_its_own(ready: Fleet, clock: Clock, things: dict[str, Thing]) -> None:
    noon = driver().state_since
    assert (driver().step, driver().step_since) == ("", None)
    node, pod = things["Node gpu-1"], things[f"Pod {DRIVER}"]

    def at(moment: str, step: str, one: Thing) -> datetime:
        now = clock(moment)
        node["metadata"]["labels"]["nvidia.com/gpu-driver-upgrade-state"] = step
        ready.put_all([node, one])
        ready.reconcile()
        return now

    first = at("2026-11-20T12:05:00Z", "cordon-required", pod)
    assert (driver().step, driver().step_since, driver().state_since) == ("cordon-required", first, noon)
    crash = at("2026-11-20T12:06:00Z", "cordon-required", crashed(pod))
    assert (driver().step_since, driver().state_since) == (first, crash)
    second = at("2026-11-20T12:07:00Z", "pod-restart-required", crashed(pod))
    assert (driver().step_since, driver().state_since) == (second, crash)
    steps = ComponentChange.objects.filter(name="driver").order_by("at", "id")
    assert list(steps.values_list("step_before", "step_after", "state_after")) == [
        ("", "cordon-required", "ready"),
        ("cordon-required", "cordon-required", "crash-looping"),
        ("cordon-required", "pod-restart-required", "crash-looping"),
    ]
    del node["metadata"]["labels"]["nvidia.com/gpu-driver-upgrade-state"]
    clock("2026-11-20T12:09:00Z")
    ready.put_all([node])
    ready.reconcile()
    assert (driver().step, driver().step_since) == ("", None)


def test_what_the_cluster_has_once_changes_likewise(ready: Fleet, clock: Clock, things: dict[str, Thing]) -> None:
    now = clock("2026-11-20T12:05:00Z")
    operator = things["Deployment gpu-operator"]
    operator["status"]["readyReplicas"] = 0
    ready.put_all([operator])
    ready.reconcile()
    row = Component.objects.get(node_name="", name="gpu-operator")
    assert row.state != "ready"
    assert row.state_since == now
    assert changes("gpu-operator", "") == [("ready", row.state, now)]
    assert Finding.objects.filter(code="software-not-ready", node_name="", ended_at=None).count() == 1
    ready.drop_all([operator])
    ready.reconcile()
    assert not SoftwareObject.objects.filter(kind="deployments", name="gpu-operator").exists()
    assert Component.objects.get(node_name="", name="gpu-operator").state == "missing"


def test_rows_go_with_their_node_and_a_change_says_so(ready: Fleet, clock: Clock, things: dict[str, Thing]) -> None:
    now = clock("2026-11-20T12:05:00Z")
    ready.drop_all([things["Node gpu-1"]])
    ready.reconcile()
    assert not Component.objects.filter(node_name="gpu-1").exists()
    assert Component.objects.filter(node_name="cpu-1").exists()
    assert changes() == [("ready", "", now)]


def test_a_node_that_comes_later_has_its_first_states_as_changes(
    ready: Fleet, clock: Clock, things: dict[str, Thing]
) -> None:
    node = copy.deepcopy(things["Node gpu-1"])
    node["metadata"] |= {"name": "gpu-2", "uid": "u-gpu-2"}
    now = clock("2026-11-20T12:05:00Z")
    ready.put_all([node])
    ready.reconcile()
    assert changes(node="gpu-2") == [("", "pending", now)]


def test_rows_go_with_their_cluster(ready: Fleet) -> None:
    ComponentChange.objects.create(cluster=ready.cluster, name="driver", stack="nvidia", at=timezone.now())
    ready.cluster.delete()
    assert not any(model.objects.exists() for model in (Component, ComponentChange, SoftwareObject))


def test_changes_are_kept_for_their_time(ready: Fleet) -> None:
    for days in (1, 89, 91, 400):
        at = timezone.now() - timedelta(days=days)
        ComponentChange.objects.create(cluster=ready.cluster, name=f"d{days}", stack="nvidia", at=at)
    prune()
    assert sorted(ComponentChange.objects.values_list("name", flat=True)) == ["d1", "d89"]
    assert Component.objects.exists()


# What a role does not allow.


@pytest.fixture
def without(clock: Clock, db: None) -> Callable[..., Fleet]:
    """A golden case in a cluster whose role refuses some kinds."""

    def make(case: str, *kinds: str) -> Fleet:
        found = yaml.load((GOLDEN / f"{case}.yaml").read_text(), yaml.CSafeLoader)
        clock(str(found["now"]))
        fleet = Fleet(make_cluster("prod", held=False))
        refused = {"state": "refused", "reason": "403 Forbidden: cannot list", "synced_at": None}
        Watch.objects.filter(kind__in=kinds).update(**refused)
        read = [one for one in found["objects"] if KIND_OF.get(one["kind"]) not in kinds]
        fleet.put_all(read)
        fleet.reconcile()
        return fleet

    return make


def said(name: str, node: str = "") -> tuple[str, str]:
    row = Component.objects.get(name=name, node_name=node)
    return row.state, row.why


def test_without_deployments_what_has_no_pod_is_unknown_and_all_else_goes_on(without: Callable[..., Fleet]) -> None:
    without("c09-gpushare-plugin-sleeps", "deployments")
    why = "Deployments are not available: the initial list is not complete, or the cluster role does not allow it."
    assert said("gpushare-scheduler-extender") == ("unknown", why)
    assert said("gpushare-device-plugin", "localhost")[0] == "not ready"
    assert NodeTotals.objects.filter(node_name="localhost").exists()
    assert Watch.objects.get(kind="cards").state == "watching"


def test_without_deployments_an_operator_without_a_pod_is_unknown(without: Callable[..., Fleet]) -> None:
    without("c01-operator-all-ready", "deployments")
    assert said("gpu-operator") == (
        "unknown",
        "Deployments are not available: the initial list is not complete, or the cluster role does not allow it.",
    )
    assert said("driver", "gpu-1")[0] == "ready"


def test_without_deployments_a_pod_is_proof(without: Callable[..., Fleet]) -> None:
    without("c12-hami-no-label", "deployments")
    assert said("hami-scheduler")[0] == "ready"


def test_without_services_the_extender_is_judged_and_its_service_is_unknown(without: Callable[..., Fleet]) -> None:
    without("c08-gpushare-extender-pending", "services")
    assert said("gpushare-scheduler-extender")[0] == "pending"
    assert said("gpushare-service") == (
        "unknown",
        "Services are not available: the initial list is not complete, or the cluster role does not allow it.",
    )


def test_without_daemonsets_nothing_is_called_missing(without: Callable[..., Fleet]) -> None:
    without("c01-operator-all-ready", "daemonsets")
    assert said("driver", "gpu-1") == (
        "unknown",
        "DaemonSets are not available: the initial list is not complete, or the cluster role does not allow it.",
    )
    assert not Component.objects.filter(state="missing").exists()


def test_the_sync_state_names_what_is_refused_once(without: Callable[..., Fleet]) -> None:
    fleet = without("c01-operator-all-ready", "deployments")
    refused = [watch for watch in fleet.cluster.watches.all() if "403" in watch.reason]
    assert [watch.kind for watch in refused] == ["deployments"]
    assert not Finding.objects.filter(text__contains="not read").exists()
