"""What goes wrong with a service, for tests that read what its pages say of it: each text as its writer makes it.

Beside `tests.browser.full`; what others say in it is `FOREIGN`.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
from django.utils import timezone

from audit.actions import Action
from audit.acts import act, refuse
from inventory.checks import Answer, _row
from inventory.clusters import wanted
from inventory.mirror.anew import RECREATED
from inventory.mirror.audit import _words
from inventory.mirror.compared import Difference
from inventory.mirror.config_maps import NOTHING
from inventory.models import Cluster, Finding, Pod, UsageSource, Watch
from inventory.models.cluster import Kind, WatchState
from inventory.models.usage import SourceState
from kube import objects as kube
from kube.client import ApiError
from kube.errors import plain
from kube.kubeconfig import BadKubeconfig, read
from runtime.models import ProcessReport
from stacks.engine.software.base import Statement
from tests.browser.full import Full
from tests.factories import make_node
from tests.factories.software import make_software
from validations.models import CampaignTarget, Launcher, Run
from validations.models.run import TEXTS
from wording.said import of_error, sentence, series, stored

#: What is not ours: an API server, a container runtime, a Prometheus.
FORBIDDEN = 'nodes is forbidden: User "watcher" cannot list resource "nodes" in API group ""'
BACK_OFF = "back-off 5m0s restarting failed container"
ORDER = (
    *("container-toolkit", "device-plugin", "dcgm-exporter", "gpu-feature-discovery", "operator-validator"),
    *("nfd-worker", "mps-control-daemon", "dcgm", "node-status-exporter"),
)
TIMED_OUT = "execution: query timed out in expression evaluation"


def make_trouble(full: Full) -> None:
    """Each state of a watch, a source, a launcher and a process that needs words."""
    far = Cluster.objects.get(name="far")
    _watches(full.cluster, far)
    _sources(full.cluster, far)
    _permissions(full.cluster)
    _components(full.cluster)
    _software(full.cluster)
    _findings()
    _validations(full.cluster)
    _processes()
    _audited()


def _watches(near: Cluster, far: Cluster) -> None:
    refused = ApiError(403, "Forbidden", FORBIDDEN)
    several = series((sentence("{place}: {error}", place="team-a", error=of_error(refused)),), "; ")
    found = [Difference("a", "changed in the synced data", None), Difference("b", "deleted from the cluster", None)]
    for kind, state, reason in (
        (Kind.CONFIGMAPS, WatchState.NOT_NEEDED, NOTHING),
        (Kind.DEVICES, WatchState.REFUSED, several),
        (Kind.RESOURCESLICES, WatchState.BACKING_OFF, of_error(ApiError(0, "Broken", _unreached()))),
        (Kind.DAEMONSETS, WatchState.LISTING, sentence("an audit found {count} differences", count=2)),
    ):
        _write(near, kind, state=state, reason=reason, reason_wording=stored(reason))
    note = _words(found)
    noted = {"audit_note": note, "audit_wording": stored(note), "audit_differences": 2, "audited_at": timezone.now()}
    _write(near, Kind.PODS, **noted, relist_reason=RECREATED, relist_wording=stored(RECREATED))
    said = sentence(
        "no permission to read the namespace kube-system ({status} {reason})", status=403, reason="Forbidden"
    )
    Cluster.objects.filter(pk=near.pk).update(uid="", uid_note=said, uid_wording=stored(said))
    lost = of_error(_no_kubeconfig())
    _write(far, Kind.NODES, state=WatchState.REFUSED, reason=lost, reason_wording=stored(lost))


def _write(cluster: Cluster, kind: Kind, **columns: Any) -> None:
    changed = Watch.objects.filter(cluster=cluster, kind=kind).update(
        **columns, state_since=timezone.now(), holder="test", expires_at=timezone.now() + timedelta(hours=1)
    )
    assert changed == 1


def _unreached() -> str:
    return sentence("the response was interrupted: {why}", why=plain(OSError("Connection reset by peer")))


def _no_kubeconfig() -> BadKubeconfig:
    try:
        read(Path("/nothing/of/this/name"), "")
    except BadKubeconfig as error:
        return error
    raise AssertionError("there is no such file")


def _sources(near: Cluster, far: Cluster) -> None:
    doubts = series(
        (
            sentence("{name}: Prometheus reports a partial response", name="DCGM_FI_DEV_FB_USED"),
            sentence("{base} returned {status}{message}", base="http://p", status=422, message=_after(TIMED_OUT)),
        ),
        "; ",
    )
    UsageSource.objects.filter(cluster=near).delete()
    now = timezone.now()
    problems = [{"format": "dcgm-exporter", "code": "bad-line", "count": 3, "example": "x{y", "cards": 1}]
    formats = [{"format": "dcgm-exporter", "versions": ["4.2"], "cards": 8, "samples": 90}]
    told: dict[str, Any] = {"round_at": now, "round_seconds": 1.5, "formats": formats, "problems": problems}
    UsageSource.objects.create(
        cluster=near, way="prometheus", address="http://p:9090", state=SourceState.READING, reason=doubts,
        wording=stored(doubts), due_at=now + timedelta(minutes=1), **told,
    )  # fmt: skip
    away = sentence("cannot reach {base}: {why}", base="http://q:9090", why=sentence("name lookup failed"))
    UsageSource.objects.create(
        cluster=far, way="prometheus", address="http://q:9090", state=SourceState.BACKING_OFF, reason=away,
        wording=stored(away), trouble_since=now, due_at=now + timedelta(minutes=1),
    )  # fmt: skip


def _after(said: str) -> str:
    return sentence(": {message}", message=said)


def _permissions(cluster: Cluster) -> None:
    rows = [_row(Answer(one, allowed=number % 2 == 0)) for number, one in enumerate(wanted(cluster))]
    Cluster.objects.filter(pk=cluster.pk).update(permissions=rows, permissions_checked_at=timezone.now())


def _components(cluster: Cluster) -> None:
    pending = kube.ContainerState(waiting=kube.Waiting(reason="CrashLoopBackOff", message=BACK_OFF))
    runs = kube.ContainerState(running={})
    for name, status in (
        ("nvidia-device-plugin", {"containerStatuses": [kube.ContainerStatus(name="plugin", state=pending)]}),
        ("nvidia-driver", {"initContainerStatuses": [kube.ContainerStatus(name="k8s-driver-manager", state=runs)]}),
    ):
        facts = kube.Pod(
            spec=kube.PodSpec(initContainers=[kube.Container(name="k8s-driver-manager")]),
            status=kube.PodStatus(phase="Pending", **status),
        )
        Pod.objects.create(
            cluster=cluster, uid=name, name=name, namespace="gpu-operator", node_name="gpu-00000", component=name,
            phase="Pending", facts=msgspec.json.encode(facts).decode(), digest=0,
        )  # fmt: skip


def _software(cluster: Cluster) -> None:
    """Components in each state, an upgrade that one failed node holds up, a MIG change that is stuck."""
    said = sentence("The container {name} ends with exit code {code}.", name="driver", code=1)
    remedy = sentence("Use the image {image}", image="registry.example/driver:1")
    states = ("ready", "pending", "not ready", "pending", "paused", "outdated", "unknown", "disabled", "not needed")
    others = {
        name: Statement(state=state, version="1.2", wanted="1.3", why=said, warnings=(said,), source=f"pod gpu/{name}")
        for name, state in zip(ORDER, states, strict=False)
    }
    for number, step in enumerate(("upgrade-failed", "upgrade-required", "upgrade-done")):
        make_node(cluster, f"software-{number}", "nvidia", 2)
        state = "ready" if step == "upgrade-done" else "crash-looping"
        driver = Statement(state=state, version="1", why=said, remedy=remedy, step=step, explains=number == 0)
        mig = Statement(state="ready", step="pending", warnings=(said,), remedy="kubectl delete pod x")
        found = others | {"driver": driver} | ({"mig-manager": mig} if number == 0 else {})
        make_software(cluster, f"software-{number}", found, minutes_ago=40)
        make_software(cluster, f"software-{number}", found | {"dcgm": others["container-toolkit"]}, keep_changes=True)
    once = {"gpu-operator": Statement(state="missing", why=said, remedy="kubectl get pods")}
    make_software(cluster, "", once | {"clusterpolicy/x": Statement(state="ready", version="25.10")})


def _findings() -> None:
    """Each with a sentence of its kind, as the reconciler writes it."""
    for number, row in enumerate(Finding.objects.all()):
        said = _said(number)
        Finding.objects.filter(pk=row.pk).update(text=said, wording=stored(said))


def _said(number: int) -> str:
    return sentence("Node {node} is not ready.", node=f"gpu-{number:05d}")


def _validations(cluster: Cluster) -> None:
    wrong = sentence("Wrong result: {text}", text="Result verification failed at element 7!")
    for run in Run.objects.all():
        run.reasons = [one | {"text": str(wrong), "wording": stored(wrong)} for one in run.reasons]
        run.save(update_fields=["reasons"])
    node = {
        "os": "windows",
        "os_image": "Windows Server 2022",
        "kernel": "10.0.20348",
        "cordoned": "no",
        "zone": "eu-1",
    }
    facts = {"gpu_name": "Tesla T4", "precision": "single", "threads_per_block": "256"}
    Run.objects.update(node_snapshot=node, facts=facts)
    for target in CampaignTarget.objects.exclude(skipped=""):
        fit = _said(13)
        CampaignTarget.objects.filter(pk=target.pk).update(skipped=fit, wording=stored(fit))
    stays = sentence(
        "Job {name}, which belongs to no run, still exists in the cluster: {error}",
        name="gpudash-1",
        error=of_error(ApiError(403, "Forbidden", FORBIDDEN)),
    )
    Launcher.objects.update_or_create(
        cluster=cluster,
        defaults={
            "lock_state": "other",
            "lock_holder": "3f0c",
            "strays": {"gpudash-1": [2, timezone.now().isoformat(), stays, stored(stays)]},
        },
    )
    error = sentence("Cannot reach the cluster: {error}", error=_unreached())
    texts = {"last_error": error, "pending_message": BACK_OFF}
    forms = {name: form for name, text in texts.items() if name in TEXTS and (form := stored(text)) is not None}
    Run.objects.filter(state="running").update(**texts, wordings=forms, pending_reason="ImagePullBackOff")


def _processes() -> None:
    now = timezone.now()
    for number, role in enumerate(("web", "worker: default, watch", "all in one")):
        ProcessReport.objects.create(
            name=f"host/{role}/1", role=role, version=f"1.{number}", started_at=now, written_at=now
        )


def _audited() -> None:
    with act(Action.SIGN_IN, "ada", by="password and code"):
        pass
    refuse(Action.SIGN_IN, "nora", by="proxy", why="no group with a role")
    for action, target, detail in (
        (Action.USER_STATE, "olga", {"state": "deactivated"}),
        (Action.USER_SCOPE, "nora", {"scope": "everything"}),
        (Action.CLUSTER_SET, "far", {"usage": "no more"}),
        (Action.VIEW_SAVE, "nodes/mine", {"query": "stack=gpushare", "shared": "everything"}),
    ):
        with act(action, target, **detail):
            pass
    said = sentence("Node {node} is not ready.", node="gpu-00001")
    refuse(Action.RUN_LAUNCH, "prod/gpu-00001", why="not-ready", by="page", suite="nvidia-smi", text=said)
