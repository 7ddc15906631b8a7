"""What credentials may do is asked by two processes, each with its own; a command asks with what it can read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from inventory import checks, clusters, permissions, tasks
from inventory.models import Cluster
from tests.inventory.commands.conftest import Run
from tests.kube.scripted import Asked, ScriptedServer, ok, refusal
from tests.kube.words import config, write_config

pytestmark = pytest.mark.django_db


class Allowing(ScriptedServer):
    """Allows what a token may: `rights` by the token of who asks."""

    def __init__(self) -> None:
        super().__init__()
        self.rights = {"Bearer watcher": True, "Bearer launcher": True}

    def take(self, asked: Asked) -> Any:
        self.asked.append(asked)
        if asked.path == "/version":
            return ok({"gitVersion": "v1.30.1"})
        if asked.method == "GET":
            return refusal(503, "ServiceUnavailable")
        return ok({"status": {"allowed": self.rights[asked.headers["Authorization"]]}})

    def who(self) -> set[str]:
        return {one.headers["Authorization"] for one in self.asked if one.body}


@pytest.fixture
def server() -> Iterator[Allowing]:
    with Allowing() as running:
        yield running


@pytest.fixture
def files(tmp_path: Path, server: Allowing) -> dict[str, str]:
    made = {}
    for who in ("watcher", "launcher"):
        (tmp_path / who).mkdir()
        made[who] = write_config(tmp_path / who, config(server.url, {"token": who}))
    return made


@pytest.fixture
def cluster(files: dict[str, str]) -> Cluster:
    return clusters.add("odd", files["watcher"], "", files["launcher"])


def launchers(cluster: Cluster) -> set[bool | None]:
    """What the launcher may, as it is kept."""
    cluster.refresh_from_db()
    names = {
        (one.verb, one.full_resource, one.needed_for) for one in clusters.wanted(cluster) if one.account == "launcher"
    }
    kept = {(row["verb"], row["resource"], row["needed_for"]): row["allowed"] for row in cluster.permissions}
    return {kept.get(name) for name in names}


def watchers(cluster: Cluster) -> set[bool | None]:
    cluster.refresh_from_db()
    absent = permissions.not_served(cluster)
    names = {
        (one.verb, one.full_resource, one.needed_for)
        for one in clusters.wanted(cluster)
        if one.account == "watcher" and one.kind not in absent
    }
    kept = {(row["verb"], row["resource"], row["needed_for"]): row["allowed"] for row in cluster.permissions}
    return {kept.get(name) for name in names}


@pytest.mark.parametrize(
    ("ask", "who"), [(tasks.check_cluster, "Bearer watcher"), (tasks.check_launcher, "Bearer launcher")]
)
def test_each_worker_asks_with_its_own_credentials(
    cluster: Cluster, server: Allowing, ask: Callable[[int], None], who: str
) -> None:
    ask(cluster.pk)
    assert server.who() == {who}


@pytest.mark.parametrize("first", ["check_cluster", "check_launcher"])
def test_neither_writes_over_what_the_other_was_told(cluster: Cluster, server: Allowing, first: str) -> None:
    second = {"check_cluster": "check_launcher", "check_launcher": "check_cluster"}[first]
    server.rights = {"Bearer watcher": True, "Bearer launcher": False}
    getattr(tasks, first)(cluster.pk)
    getattr(tasks, second)(cluster.pk)
    assert (watchers(cluster), launchers(cluster)) == ({True}, {False})
    order = [(one.verb, one.full_resource, one.needed_for) for one in clusters.wanted(cluster)]
    assert [(row["verb"], row["resource"], row["needed_for"]) for row in cluster.permissions] == order
    server.rights["Bearer launcher"] = True
    tasks.check_launcher(cluster.pk)
    assert (watchers(cluster), launchers(cluster)) == ({True}, {True})


def test_what_is_not_asked_any_more_is_forgotten(cluster: Cluster, settings: Any) -> None:
    tasks.check_launcher(cluster.pk)
    settings.VALIDATION_NAMESPACE = "elsewhere"
    tasks.check_cluster(cluster.pk)
    assert launchers(cluster) == {None, True}, "of the namespace there is nothing, of the classes there is"
    assert not any("gpudash-validations" in row["needed_for"] for row in cluster.permissions)


def test_each_has_a_time_of_its_own(cluster: Cluster) -> None:
    tasks.check_cluster(cluster.pk)
    cluster.refresh_from_db()
    assert cluster.permissions_checked_at is not None
    assert cluster.launcher_checked_at is None
    tasks.check_launcher(cluster.pk)
    before = cluster.permissions_checked_at
    cluster.refresh_from_db()
    assert cluster.launcher_checked_at is not None
    assert cluster.permissions_checked_at == before


def test_a_launchers_file_that_its_worker_cannot_read_is_the_answer(cluster: Cluster) -> None:
    tasks.check_launcher(cluster.pk)
    Cluster.objects.update(launcher_kubeconfig="/no/such/file")
    tasks.check_launcher(cluster.pk)
    assert launchers(cluster) == {None}
    assert cluster.launcher_checked_at is not None


def test_a_command_that_cannot_read_the_launchers_file_tells_what_its_worker_was_told(
    cluster: Cluster, run: Run, files: dict[str, str]
) -> None:
    Path(files["launcher"]).rename(files["launcher"] + ".hidden")
    said = run("cluster", "check", "odd")
    assert "unknown: create jobs" in said
    assert "launcher permissions unknown: not checked by the launch worker yet" in said
    Path(files["launcher"] + ".hidden").rename(files["launcher"])
    tasks.check_launcher(cluster.pk)
    Path(files["launcher"]).rename(files["launcher"] + ".hidden")
    said = run("cluster", "check", "odd")
    assert "  allowed: create jobs (needed for validations" in said
    cluster.refresh_from_db()
    assert f"checked by the launch worker {cluster.launcher_checked_at:%Y-%m-%d %H:%M:%S} UTC" in said
    assert f"{files['launcher']}: cannot be read" in said
    assert launchers(cluster) == {True}, "what is known is not written over"


def test_a_command_that_can_read_both_asks_with_both(cluster: Cluster, server: Allowing) -> None:
    found = checks.check(cluster)
    assert server.who() == {"Bearer watcher", "Bearer launcher"}
    assert found.note == ""
    assert (watchers(cluster), launchers(cluster)) == ({True}, {True})


# Where the launcher's file is read by its worker alone, it is named there.


def test_the_launchers_file_is_set_where_it_is(
    cluster: Cluster, run: Run, files: dict[str, str], server: Allowing
) -> None:
    Cluster.objects.update(launcher_kubeconfig="")
    said = run("cluster", "set", "odd", "--launcher-kubeconfig", files["launcher"])
    assert said.splitlines()[0] == f"odd: validations are launched with {files['launcher']}"
    assert "  allowed: create jobs (needed for validations (namespace gpudash-validations), optional)\n" in said
    assert server.who() == {"Bearer launcher"}, "what it may do is asked at once"
    assert launchers(cluster) == {True}
    assert (cluster.launcher_kubeconfig, cluster.kubeconfig) == (files["launcher"], files["watcher"])
    assert "with the watchers' credentials" in run("cluster", "set", "odd", "--launcher-kubeconfig", "")
    cluster.refresh_from_db()
    assert cluster.launcher_kubeconfig == ""


def test_a_launchers_file_that_cannot_be_read_is_not_set(cluster: Cluster, refuse: Run, files: dict[str, str]) -> None:
    assert "cannot be read" in refuse("cluster", "set", "odd", "--launcher-kubeconfig", "/no/such/file")
    cluster.refresh_from_db()
    assert cluster.launcher_kubeconfig == files["launcher"]


def test_setting_nothing_says_what_can_be_set(cluster: Cluster, refuse: Run) -> None:
    assert "--launcher-kubeconfig FILE" in refuse("cluster", "set", "odd")
