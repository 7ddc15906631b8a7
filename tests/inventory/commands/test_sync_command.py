"""`sync --once` against the demo's API server, with threads and committed rows as in the real thing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench.first_sync import rows_written
from fleetsim import Server
from fleetsim.api import Reply
from fleetsim.request import Request
from fleetsim.resources import PODS
from fleetsim.status import ApiError
from inventory.mirror import follow
from inventory.mirror.lease import acquire
from inventory.mirror.store import Store
from inventory.models import Card, Cluster, Component, Node, NodeTotals, Pod, Watch
from inventory.models.cluster import LOOKED_FOR, Kind
from kube import backoff
from kube.client import Client
from tests.inventory.commands.conftest import Run
from tests.kube.scripted import ScriptedServer, refusal
from tests.kube.words import config, write_config

pytestmark = pytest.mark.usefixtures("committed_database")


def written(said: str) -> dict[str, int]:
    return {kind: int(rows) for kind, rows in re.findall(r"^demo (\w+): .*?(\d+) rows written", said, re.MULTILINE)}


def uids(kubeconfig: str, kind: str) -> set[str]:
    """What the API server itself lists."""
    items = json.loads(Client(kubeconfig).get(f"/api/v1/{kind}"))["items"]
    return {item["metadata"]["uid"] for item in items}


def test_it_lists_writes_prints_counts_and_ends(run: Run, kubeconfig: str, api_server: Server) -> None:
    run("cluster", "add", "demo", "--kubeconfig", kubeconfig)
    said = run("sync", "--once")
    nodes, pods = len(uids(kubeconfig, "nodes")), len(uids(kubeconfig, "pods"))
    assert f"demo nodes: {nodes} seen, {nodes} stored, {nodes} rows written" in said
    assert f"demo pods: {pods} seen, " in said
    cards = Card.objects.filter(removed_at=None).count()
    assert f"demo: {cards} cards, in sync after" in said
    assert (Node.objects.count(), cards > 0, NodeTotals.objects.count() > 0) == (nodes, True, True)
    assert set(Watch.objects.values_list("holder", flat=True)) == {""}
    assert dict(Watch.objects.exclude(state="waiting").values_list("kind", "state")) == {
        "devices": "not-served",
        "devicetaintrules": "not-served",
        **dict.fromkeys(set(LOOKED_FOR) - {Kind.CLUSTERPOLICIES, Kind.DEVICECONFIGS}, "not-served"),
    }
    assert "demo devices: not read (404 NotServed: the API server has no devices of scheduling.koordinator.sh" in said


def test_a_second_time_it_writes_nothing(run: Run, kubeconfig: str) -> None:
    run("cluster", "add", "demo", "--kubeconfig", kubeconfig)
    first = written(run("sync", "--once"))
    assert first["pods"] > 0
    again = run("sync", "--once")
    assert written(again) == dict.fromkeys(first, 0)
    assert sum(rows_written(again)) == 0, "the benchmark reads it too"
    with pytest.raises(ValueError, match="said nothing of pods"):
        rows_written(again.replace("demo pods:", "demo nothing"))


def test_what_changed_meanwhile_is_there_after_the_second_time(run: Run, kubeconfig: str, api_server: Server) -> None:
    run("cluster", "add", "demo", "--kubeconfig", kubeconfig)
    run("sync", "--once")
    before = set(Pod.objects.values_list("uid", flat=True))
    for _ in range(60):
        api_server.fleet.step(api_server.fleet.now + 1)
    run("sync", "--once")
    after = set(Pod.objects.values_list("uid", flat=True))
    assert after != before
    assert after <= uids(kubeconfig, "pods")


def test_a_cluster_that_refuses_is_said_and_nothing_is_in_step(
    run: Run, refuse: Run, kubeconfig: str, api_server: Server
) -> None:
    run("cluster", "add", "demo", "--kubeconfig", kubeconfig)
    api_server.revoke()
    said = refuse("sync", "--once")
    assert "nodes: 401" in said
    assert "pods: 401" in said
    assert Watch.objects.filter(synced_at=None).count() == len(Kind)


def test_a_lease_that_is_held_is_said(run: Run, refuse: Run, kubeconfig: str) -> None:
    run("cluster", "add", "demo", "--kubeconfig", kubeconfig)
    assert acquire(Cluster.objects.get().id, "pods") is not None
    assert "pods: another process watches this cluster" in refuse("sync", "--once")


def test_a_kubeconfig_that_went_is_said(run: Run, refuse: Run, kubeconfig: str) -> None:
    run("cluster", "add", "demo", "--kubeconfig", kubeconfig)
    Path(kubeconfig).unlink()
    assert "cannot be read" in refuse("sync", "--once")


def test_an_unforeseen_failure_is_never_in_step(
    run: Run, refuse: Run, kubeconfig: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("cluster", "add", "demo", "--kubeconfig", kubeconfig)

    class Failing(Store[Any]):
        def end_replace(self, refused: tuple[str, ...] = ()) -> int:
            raise ZeroDivisionError("unforeseen")

    monkeypatch.setattr(follow, "Store", Failing)
    assert "nodes: ZeroDivisionError: unforeseen" in refuse("sync", "--once")
    assert Watch.objects.filter(synced_at=None).count() == len(Kind)


def test_daemonsets_that_fail_for_the_moment_are_a_failure(
    run: Run, refuse: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backoff, "FIRST_S", 0.001)
    with ScriptedServer(*[refusal(503, "ServiceUnavailable", "later")] * 100) as server:
        run("cluster", "add", "demo", "--kubeconfig", write_config(tmp_path, config(server.url)))
        assert "daemonsets: 503 ServiceUnavailable: later" in refuse("sync", "--once")


def test_without_a_cluster_it_says_how_to_add_one(refuse: Run) -> None:
    assert refuse("sync", "--once").startswith("no clusters yet; add one: gpudash cluster add")


def test_an_unknown_cluster_is_named(run: Run, refuse: Run, kubeconfig: str) -> None:
    run("cluster", "add", "demo", "--kubeconfig", kubeconfig)
    assert "there is no cluster 'demon'; clusters: demo" in refuse("sync", "--once", "--cluster", "demon")


def test_a_role_without_deployments_counts_all_nodes_and_says_so_once(
    run: Run, kubeconfig: str, api_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = api_server.api.answer

    def refusing(request: Request, cut: Callable[[], None]) -> Reply:
        if request.path == "/apis/apps/v1/deployments":
            raise ApiError(403, "Forbidden", "cannot list resource deployments")
        return answer(request, cut)

    # Its pod would say more.
    store = api_server.fleet.store
    (pod,) = (key for key in store.names(PODS) if key.startswith("kube-system/gpushare-schd-extender-"))
    store.remove(PODS, *pod.split("/"))
    monkeypatch.setattr(api_server.api, "answer", refusing)
    run("cluster", "add", "demo", "--kubeconfig", kubeconfig)
    said = run("sync", "--once")
    assert [line for line in said.splitlines() if "403" in line] == [
        "demo deployments: not read (403 Forbidden: cannot list resource deployments)"
    ]
    assert Watch.objects.get(kind="deployments").state == "refused"
    assert Watch.objects.get(kind="cards").synced_at is not None
    assert NodeTotals.objects.count() > 40
    (extender,) = Component.objects.filter(name="gpushare-scheduler-extender")
    assert (extender.state, extender.why) == (
        "unknown",
        "Deployments are not available: the initial list is not complete, or the cluster role does not allow it.",
    )
