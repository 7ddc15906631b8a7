"""`cluster add|list|check|remove` against the demo's API server and against servers that misbehave."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from fleetsim import Server
from inventory import clusters
from inventory.extension import Extension
from inventory.models import Cluster, Watch
from inventory.models.cluster import LOOKED_FOR, Kind
from inventory.wanted import Wanted
from tests.factories import make_cluster, make_fleet
from tests.inventory.commands.conftest import Run
from tests.kube.scripted import Answer, Asked, ScriptedServer, ok, refusal
from tests.kube.words import config, write_config

pytestmark = pytest.mark.django_db


def test_a_cluster_is_added_with_its_watches(run: Run, kubeconfig: str, api_server: Server) -> None:
    said = run("cluster", "add", "demo", "--kubeconfig", kubeconfig)
    assert said == f"demo: {api_server.url}. Next: gpudash cluster check demo\n"
    cluster = Cluster.objects.get()
    assert (cluster.kubeconfig, cluster.server) == (kubeconfig, api_server.url)
    assert sorted(cluster.watches.values_list("kind", flat=True)) == sorted(Kind.values)


def test_the_token_is_not_kept(run: Run, kubeconfig: str, api_server: Server) -> None:
    run("cluster", "add", "demo", "--kubeconfig", kubeconfig)
    assert api_server.token not in json.dumps(list(Cluster.objects.values()), default=str)


def test_adding_it_again_changes_where_it_is_and_makes_its_watchers_list_anew(
    run: Run, kubeconfig: str, tmp_path: Path
) -> None:
    run("cluster", "add", "demo", "--kubeconfig", kubeconfig)
    Watch.objects.exclude(kind__in=(*LOOKED_FOR, "services")).update(resource_version="500", holder="somebody", token=7)
    other = write_config(tmp_path / "..", config("https://other.example:6443"))
    run("cluster", "add", "demo", "--kubeconfig", other)
    assert Cluster.objects.get().server == "https://other.example:6443"
    asked = Watch.objects.exclude(kind__in=(*LOOKED_FOR, "services"))
    assert set(asked.values_list("resource_version", "holder", "token")) == {("", "", 8)}


@pytest.mark.parametrize("name", ["Upper", "a b", "", "-a", "a" * 64, "a/b", "ü", "a\nb"])
def test_a_name_that_no_label_could_carry_is_refused(refuse: Run, kubeconfig: str, name: str) -> None:
    assert refuse("cluster", "add", name, "--kubeconfig", kubeconfig)
    assert Cluster.objects.count() == 0


def test_a_kubeconfig_that_cannot_work_adds_nothing(refuse: Run, tmp_path: Path) -> None:
    assert "cannot be read" in refuse("cluster", "add", "demo", "--kubeconfig", str(tmp_path / "none"))
    assert Cluster.objects.count() == 0


def test_without_a_kubeconfig_it_says_what_is_wanted(refuse: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    assert "--kubeconfig FILE is required" in refuse("cluster", "add", "demo")


def test_the_list_shows_how_each_kind_is_in_step(run: Run, kubeconfig: str) -> None:
    run("cluster", "add", "demo", "--kubeconfig", kubeconfig)
    Watch.objects.filter(kind="pods").update(state="refused", reason="403 Forbidden")
    said = run("cluster", "list")
    assert "  nodes: waiting for a watch worker since " in said
    assert ": 403 Forbidden; no update yet\n" in said


def test_the_list_tells_since_when_and_how_old(run: Run) -> None:
    make_cluster("old", age_s=200)
    lines = {line.split(":")[0].strip(): line for line in run("cluster", "list").splitlines()}
    assert "nodes: not reporting since " in lines["nodes"]
    assert lines["nodes"].endswith("3 min ago")
    assert "cards: in sync" in lines["cards"]


def test_the_list_does_not_believe_a_watcher_that_is_dead(run: Run) -> None:
    make_cluster("dead")
    Watch.objects.update(expires_at=timezone.now() - timedelta(minutes=5))
    said = run("cluster", "list")
    assert said.count(": not watched since ") == len(Kind) - len((*LOOKED_FOR, "services"))
    assert "in sync" not in said


def test_relist_asks_each_kind_and_returns(run: Run) -> None:
    make_cluster("one")
    make_cluster("two")
    assert run("cluster", "relist", "one").startswith(
        "one: relist requested: nodes, pods, daemonsets, configmaps, resourceslices,"
    )
    rows = Watch.objects.filter(cluster__name="one")
    assert set(rows.values_list("resource_version", "holder", "token")) == {("", "", 1)}
    assert all(row.relist_reason.endswith("(gpudash cluster relist)") and row.relist_requested_at for row in rows)
    assert not Watch.objects.filter(cluster__name="two").exclude(relist_requested_at=None).exists()


def test_relist_of_all(run: Run, refuse: Run) -> None:
    assert "no clusters yet" in refuse("cluster", "relist", "--all")
    make_cluster("one")
    make_cluster("two")
    assert len(run("cluster", "relist", "--all").splitlines()) == 2
    assert not Watch.objects.filter(relist_requested_at=None).exists()


def test_a_check_says_what_the_credentials_may_do(run: Run, kubeconfig: str) -> None:
    run("cluster", "add", "demo", "--kubeconfig", kubeconfig)
    said = run("cluster", "check", "demo")
    assert "Kubernetes v1" in said.splitlines()[0]
    assert "  allowed: list nodes (cards and totals)\n" in said
    kept = Cluster.objects.get()
    assert kept.permissions_checked_at is not None
    assert {(row["verb"], row["resource"], row["allowed"]) for row in kept.permissions} >= {
        ("watch", "daemonsets.apps", True)
    }


def test_a_revoked_token_is_said(run: Run, refuse: Run, kubeconfig: str, api_server: Server) -> None:
    run("cluster", "add", "demo", "--kubeconfig", kubeconfig)
    api_server.revoke()
    assert "Missing permissions" in refuse("cluster", "check", "demo")
    assert {row["allowed"] for row in Cluster.objects.get().permissions} == {None}


def test_a_check_of_an_unknown_cluster_names_those_that_there_are(run: Run, refuse: Run, kubeconfig: str) -> None:
    assert "no clusters yet" in refuse("cluster", "check", "demo")
    run("cluster", "add", "demo", "--kubeconfig", kubeconfig)
    assert refuse("cluster", "check", "dem") == "there is no cluster 'dem'; clusters: demo"


def test_a_cluster_is_removed_with_its_rows_and_no_others(run: Run) -> None:
    make_fleet(make_cluster("one"), nodes=7)
    make_fleet(make_cluster("two"), nodes=3)
    two = clusters_rows("two")
    said = run("cluster", "remove", "one")
    assert said.startswith("one removed: ")
    assert "7 node" in said
    assert (list(Cluster.objects.values_list("name", flat=True)), clusters_rows("two")) == (["two"], two)


def clusters_rows(name: str) -> list[int]:
    cluster = Cluster.objects.get(name=name)
    return [model._default_manager.filter(cluster=cluster).count() for model in clusters._children()]


# Answers that are none.


#: Questions of a check: four that must be granted, those of the inventory that are optional, and those of the apps above.
QUESTIONS = len(clusters.wanted())


def allowed(value: object) -> Answer:
    return ok({"kind": "SelfSubjectAccessReview", "status": {"allowed": value}})


class Undiscovered(ScriptedServer):
    """One that does not tell what it serves; all else is scripted."""

    def take(self, asked: Asked) -> Any:
        if asked.method == "GET" and asked.path.startswith("/apis/"):
            return refusal(503, "ServiceUnavailable")
        return super().take(asked)


@pytest.fixture
def scripted(tmp_path: Path, run: Run) -> Callable[..., ScriptedServer]:
    """A cluster "odd" of which each answer is scripted."""

    def make(*answers: Answer) -> ScriptedServer:
        server = Undiscovered(*answers)
        run("cluster", "add", "odd", "--kubeconfig", write_config(tmp_path, config(server.url)))
        return server

    return make


@pytest.mark.parametrize("answer", [Answer(b"<html>Sign in"), Answer(b""), Answer(b"[" * 9000 + b"]" * 9000)])
def test_a_server_that_is_no_kubernetes_says_so(
    scripted: Callable[..., ScriptedServer], refuse: Run, answer: Answer
) -> None:
    with scripted(answer):
        assert "not as a Kubernetes API server" in refuse("cluster", "check", "odd")


@pytest.mark.parametrize(
    "answer",
    [
        Answer(b"<html>"),
        ok([]),
        ok({}),
        ok({"status": None}),
        ok({"status": 5}),
        allowed("false"),
        allowed(None),
        refusal(404, "NotFound"),
    ],
)
def test_a_permission_that_is_not_told_is_not_granted(
    scripted: Callable[..., ScriptedServer], refuse: Run, answer: Answer
) -> None:
    with scripted(ok({"gitVersion": "v1.30.1"}), *[answer] * QUESTIONS):
        assert "Missing permissions" in refuse("cluster", "check", "odd")
    assert {row["allowed"] for row in Cluster.objects.get().permissions} == {None}


def test_only_what_is_needed_must_be_granted(scripted: Callable[..., ScriptedServer], run: Run) -> None:
    with scripted(ok({"gitVersion": "v1.30.1"}), *[allowed(True)] * 4, *[allowed(False)] * (QUESTIONS - 4)):
        said = run("cluster", "check", "odd")
    units = "the memory unit of the Cambricon plugin, the memory unit of gpushare"
    missing = f"{units}, the number of shares per card of the Intel plugin"
    assert f"denied: list daemonsets ({missing}, optional)\n" in said
    assert "optional permissions are in deploy/" in said.splitlines()[-1]


def test_an_app_above_adds_what_it_wants(
    scripted: Callable[..., ScriptedServer], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = Wanted("get", "", "pods/log", "a test", True, "somewhere", "deploy/other.yaml")
    extension = Extension("test", (), {}, lambda: [more], lambda cluster: [], lambda cluster: "")
    monkeypatch.setattr(clusters, "EXTENSIONS", {"test": extension})
    with scripted(ok({"gitVersion": "v1.30.1"}), *[allowed(True)] * len(clusters.READER), allowed(False)) as server:
        said = run("cluster", "check", "odd")
        reviews = [one.body for one in server.asked if one.body]  # what is served is asked for after them
        asked = json.loads(reviews[-1])["spec"]["resourceAttributes"]
    assert said.splitlines()[-2:] == [
        "  denied: get pods/log (a test, optional)",
        "  optional permissions are in deploy/other.yaml",
    ]
    assert asked == {
        "verb": "get",
        "group": "",
        "resource": "pods",
        "subresource": "log",
        "namespace": "somewhere",
    }
    assert Cluster.objects.get().permissions[-1]["resource"] == "pods/log"


def test_a_permission_that_was_not_told_is_not_said_to_be_missing_from_a_role(
    scripted: Callable[..., ScriptedServer], run: Run
) -> None:
    with scripted(ok({"gitVersion": "v1.30.1"}), *[allowed(True)] * 4, *[ok({})] * (QUESTIONS - 4)):
        said = run("cluster", "check", "odd")
    assert "unknown: list daemonsets" in said
    assert "not granted" not in said


def test_the_launcher_asks_with_credentials_of_its_own(tmp_path: Path, run: Run) -> None:
    (tmp_path / "launcher").mkdir()
    with ScriptedServer(ok({"gitVersion": "v1.30.1"}), *[allowed(True)] * (QUESTIONS + 1)) as server:
        watcher = write_config(tmp_path, config(server.url, {"token": "watcher"}))
        launcher = write_config(tmp_path / "launcher", config(server.url, {"token": "launcher"}))
        run("cluster", "add", "odd", "--kubeconfig", watcher, "--launcher-kubeconfig", launcher)
        run("cluster", "check", "odd")
        asked = [(one.headers["Authorization"], one.body) for one in server.asked if one.body]
    jobs = {who for who, body in asked if b'"jobs"' in body}
    nodes = {who for who, body in asked if b'"nodes"' in body}
    assert (jobs, nodes) == ({"Bearer launcher"}, {"Bearer watcher"})


def test_a_launchers_file_that_this_process_may_not_read_is_not_known_rather_than_missing(
    scripted: Callable[..., ScriptedServer], run: Run
) -> None:
    with scripted(ok({"gitVersion": "v1.30.1"}), *[allowed(True)] * len(clusters.READER)):
        Cluster.objects.update(launcher_kubeconfig="/no/such/file")
        said = run("cluster", "check", "odd")
    assert "unknown: create jobs" in said
    assert "/no/such/file: cannot be read" in said


def test_a_launchers_file_that_cannot_work_adds_nothing(refuse: Run, kubeconfig: str) -> None:
    words = ("cluster", "add", "demo", "--kubeconfig", kubeconfig, "--launcher-kubeconfig", "/no/such/file")
    assert "/no/such/file: cannot be read" in refuse(*words)
    assert Cluster.objects.count() == 0


def test_a_version_that_is_not_told_is_no_obstacle(scripted: Callable[..., ScriptedServer], run: Run) -> None:
    with scripted(ok([1]), *[allowed(True)] * QUESTIONS):
        assert "Kubernetes version unknown" in run("cluster", "check", "odd")
