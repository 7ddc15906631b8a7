"""Failures of workloads are kept once, as their watcher sees them, and no end that was asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from inventory.mirror.store import Store
from inventory.models import Pod, PodFailure
from kube.listed import Pod as Listed
from tests.inventory.mirror.objects import decoded, pod_json

pytestmark = pytest.mark.django_db

MakeStore = Callable[[str], Store[Any]]
AT = "2026-11-26T08:00:00Z"


def made(
    version: int, *, code: int | None = None, last: int | None = None, restarts: int = 0, **metadata: Any
) -> Listed:
    value = pod_json("a", version=version, **metadata)
    status: dict[str, Any] = {"name": "main", "restartCount": restarts, "state": {"running": {}}}
    if code is not None:
        status["state"] = {"terminated": {"exitCode": code, "reason": "Error", "finishedAt": AT}}
    if last is not None:
        status["lastState"] = {
            "terminated": {"exitCode": last, "reason": "OOMKilled", "finishedAt": AT, "message": "x" * 999}
        }
    value["status"]["containerStatuses"] = [status]
    found: Listed = decoded(Listed, value)
    return found


def kept() -> list[tuple[str, int, str]]:
    return list(PodFailure.objects.order_by("id").values_list("pod", "exit_code", "reason"))


def test_an_end_is_kept_once(store: MakeStore) -> None:
    pods = store("pods")
    pods.apply([("ADDED", made(1), None)])
    pods.apply([("MODIFIED", made(2, code=1), None)])
    pods.apply([("MODIFIED", made(3, code=1, labels={"x": "y"}), None)])
    assert kept() == [("a", 1, "Error")]


def test_a_restart_is_kept_by_the_last_state_and_its_text_is_not(store: MakeStore) -> None:
    pods = store("pods")
    pods.apply([("ADDED", made(1), None)])
    pods.apply([("MODIFIED", made(2, last=137, restarts=1), None)])
    assert kept() == [("a", 137, "OOMKilled")]
    assert "xxx" not in Pod.objects.get().facts


@pytest.mark.parametrize("more", [{"code": 0}, {"code": 143}, {"code": 1, "deletionTimestamp": AT}])
def test_no_failure(store: MakeStore, more: dict[str, Any]) -> None:
    pods = store("pods")
    pods.apply([("ADDED", made(1), None)])
    pods.apply([("MODIFIED", made(2, **more), None)])
    assert kept() == []


def test_what_a_pod_without_an_end_told_before_is_not_read(store: MakeStore) -> None:
    pods = store("pods")
    pods.apply([("ADDED", made(1), None)])
    with CaptureQueriesContext(connection) as queries:
        pods.apply([("MODIFIED", made(2, labels={"x": "y"}), None)])
    assert not any(one["sql"].startswith("SELECT") for one in queries.captured_queries)


def test_the_priority_of_a_pod_is_kept(store: MakeStore) -> None:
    value = pod_json("a")
    value["spec"]["priority"] = 1000
    store("pods").apply([("ADDED", decoded(Listed, value), None)])
    assert Pod.objects.get().priority == 1000
