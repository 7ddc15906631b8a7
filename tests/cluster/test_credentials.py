"""Credentials that are revoked, rotated or too weak; and that the role which is shipped is enough, and no more than enough."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from inventory import checks, clusters
from inventory.models import Cluster
from inventory.models.cluster import LOOKED_FOR, Kind, Watch, WatchState
from tests.cluster.agreement import in_step
from tests.cluster.credentials import grant, role, token_file_config
from tests.cluster.fleet import Fleet
from tests.controlplane import plugins
from tests.controlplane.admin import Admin, Refused, write_kubeconfig
from tests.controlplane.controlplane import ControlPlane
from tests.controlplane.objects import Json
from tests.processes import Processes
from tests.roles import shipped
from tests.services import wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240, func_only=True)]
READ = ["get", "list", "watch"]


def shipped_role() -> Json:
    return shipped("watcher-role.yaml")[0]


def as_user(plane: ControlPlane, folder: Path, user: str) -> Path:
    """A kubeconfig of a new user. The API server reads its tokens at its start, so it is restarted."""
    token = plane.add_token(user, [])
    plane.restart("apiserver")
    return write_kubeconfig(folder / f"kubeconfig-{user}", plane.kubeconfig, {"token": token})


def test_a_revoked_token_is_refused_with_a_reason_and_a_rotated_file_heals_it(
    fleet: Fleet,
    admin: Admin,
    plane: ControlPlane,
    processes: Processes,
    tmp_path: Path,
    fault: Callable[[str, float], None],
) -> None:
    old, new = plane.add_token("rotating", []), plane.add_token("rotating", [])
    plane.restart("apiserver")
    grant(admin, shipped_role(), "rotating")
    kubeconfig, token_file = token_file_config(tmp_path, plane, old)
    cluster = clusters.add("test", str(kubeconfig))
    fleet.build()
    processes.manage("sync")
    in_step(admin, cluster)
    watching = Watch.objects.filter(cluster=cluster, state=WatchState.WATCHING).exclude(kind=Kind.CARDS)
    watched = set(watching.values_list("kind", flat=True))

    plane.drop_token(old)
    plane.restart("apiserver")
    refused = Watch.objects.filter(cluster=cluster, state=WatchState.REFUSED, reason__contains="401")
    wait_until(
        lambda: set() < watched <= set(refused.values_list("kind", flat=True)),
        "each kind that was watched says that it is refused, and why",
    )
    fleet.run("gib", "meanwhile", "gib-0", {6: 2})

    token_file.write_text(new)
    fault("token revoked, then rotated in its file", in_step(admin, cluster))
    wait_until(lambda: not refused.exists(), "no kind is refused any more")
    assert old not in processes.tail()


def test_without_daemonsets_nodes_and_pods_are_still_in_step(
    fleet: Fleet, admin: Admin, plane: ControlPlane, processes: Processes, tmp_path: Path
) -> None:
    grant(admin, role("nodes-and-pods-only", nodes=READ, pods=READ), "half")
    cluster = clusters.add("test", str(as_user(plane, tmp_path, "half")))
    fleet.build()
    processes.manage("sync")
    in_step(admin, cluster, daemonsets=False)
    refused = Watch.objects.filter(cluster=cluster, kind="daemonsets", state=WatchState.REFUSED)
    wait_until(refused.exists, "the DaemonSets are said to be refused")
    assert "403" in refused.get().reason
    assert "daemonsets" in refused.get().reason


def test_one_sync_ends_and_says_what_was_refused(
    fleet: Fleet, plane: ControlPlane, processes: Processes, tmp_path: Path
) -> None:
    clusters.add("test", str(as_user(plane, tmp_path, "nobody")))
    once = processes.manage("sync", "--once", name="once")
    wait_until(lambda: once.poll() is not None, "it ends", 20)
    assert once.returncode != 0
    assert "403" in processes.log("once").read_text()


def test_the_shipped_role_is_enough(
    fleet: Fleet, admin: Admin, plane: ControlPlane, processes: Processes, tmp_path: Path
) -> None:
    grant(admin, shipped_role(), "watcher")
    cluster = clusters.add("test", str(as_user(plane, tmp_path, "watcher")))
    fleet.build()
    processes.manage("sync")
    in_step(admin, cluster)
    fleet.run("status", "later", "status-0", {7: 1})
    in_step(admin, cluster)
    answers = checks.check(Cluster.objects.get(pk=cluster.pk)).answers
    mine = [answer for answer in answers if answer.wanted.role == "deploy/watcher-role.yaml"]
    assert {answer.wanted.resource for answer in mine if not answer.served} == {
        "devices",
        "devicetaintrules",
        *LOOKED_FOR,
    }, "there is no Koordinator and no operator, and the gate of rules is off"
    assert mine
    assert all(answer.allowed for answer in mine if answer.served)
    granted = [(one.wanted.verb, one.wanted.resource) for one in answers if one.allowed and one not in mine]
    assert granted == [("list", "pods")], "of what validations need, a watcher may list pods, as everywhere"


def test_the_shipped_role_gives_nothing_more(admin: Admin, plane: ControlPlane, fleet: Fleet, tmp_path: Path) -> None:
    grant(admin, shipped_role(), "reader")
    reader = Admin(as_user(plane, tmp_path, "reader"))
    review = {"spec": {"namespace": "default"}}
    before = _rules(Admin(as_user(plane, tmp_path, "stranger")), review)
    granted = [rule for rule in _rules(reader, review) if rule not in before]
    (names,) = {names for _, resources, _, names in granted if resources == ("configmaps",)}
    assert plugins.SETTINGS in names
    needed = {
        (("",), ("nodes", "pods"), tuple(READ), ()),
        (("",), ("configmaps",), tuple(READ), names),
        (("apps",), ("daemonsets",), tuple(READ), ()),
        (("apps",), ("deployments",), tuple(READ), ()),
        (("",), ("services",), tuple(READ), ("gpushare-schd-extender",)),
        (("nvidia.com",), ("clusterpolicies", "gpuclusters", "nvidiadrivers"), tuple(READ), ()),
        (("amd.com",), ("deviceconfigs",), tuple(READ), ()),
        (("deviceplugin.intel.com",), ("gpudeviceplugins",), tuple(READ), ()),
        (("resource.k8s.io",), ("devicetaintrules", "resourceclaims", "resourceslices"), tuple(READ), ()),
        (("scheduling.koordinator.sh",), ("devices",), tuple(READ), ()),
    }
    identity = (("",), ("namespaces",), ("get",), ("kube-system",))
    assert set(granted) == needed | {identity}
    maps = "/api/v1/namespaces/default/configmaps"
    assert reader.call("GET", f"{maps}?fieldSelector=metadata.name%3D{plugins.SETTINGS}")["kind"] == "ConfigMapList"
    others = (f"{maps}?fieldSelector=metadata.name%3Dother", maps, "/api/v1/configmaps", "/api/v1/secrets")
    for method, path in (
        *(("GET", one) for one in others),
        ("DELETE", "/api/v1/nodes/any"),
        ("GET", "/apis/batch/v1/jobs"),
    ):
        with pytest.raises(Refused) as refused:
            reader.call(method, path)
        assert refused.value.status == 403, path


def _rules(user: Admin, review: Json) -> list[tuple[tuple[str, ...], ...]]:
    answer = user.call("POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", review)
    rules = answer["status"]["resourceRules"]
    return [
        tuple(tuple(sorted(rule.get(part, ()))) for part in ("apiGroups", "resources", "verbs", "resourceNames"))
        for rule in rules
    ]
