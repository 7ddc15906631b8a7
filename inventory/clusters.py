"""Clusters: add, check, remove. Only commands and workers call this; the web process has no credentials."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from django.conf import settings
from django.db import transaction
from django.db.models import Model
from django.utils import timezone
from django.utils.module_loading import import_string

from audit.actions import Action
from audit.chain import record
from inventory.credential_files import refused
from inventory.mirror.anew import anew
from inventory.mirror.kinds import KINDS
from inventory.mirror.served import is_served
from inventory.models import Cluster, Watch
from inventory.models.cluster import OPTIONAL_KINDS, Kind
from inventory.permissions import READER, Wanted, not_served, of_cluster
from kube.client import ApiError, BadKubeconfig, Client, current_context
from kube.credentials import PATIENCE_S
from kube.plugin import LIMIT_S as PLUGIN_S


class Addition(NamedTuple):
    """What an app above adds to clusters; `settings.CLUSTER_ADDITIONS` names them, so that none is known here.

    wanted: what its credentials may have to do. told: what it has to say of a cluster, for `cluster list` and `cluster check`.
    take_over: what `cluster take-over` does for it; says in words what was done.
    """

    wanted: Callable[[], Sequence[Wanted]]
    told: Callable[[Cluster], Sequence[str]]
    take_over: Callable[[Cluster], str]


def additions() -> list[Addition]:
    return [import_string(path) for path in settings.CLUSTER_ADDITIONS]


def wanted(cluster: Cluster | None = None) -> list[Wanted]:
    """What a check asks for, in this order; without a cluster, what is the same in all."""
    mine = of_cluster(cluster) if cluster is not None else READER
    return [*mine, *(one for addition in additions() for one in addition.wanted())]


#: Seconds for all questions of a check together, where a worker asks; and where a person waits for the answer.
CHECK_S, CHECK_PATIENTLY_S = 20.0, 90.0
QUESTION_S = 10.0
#: For a question of discovery, which an API server answers from memory.
SERVED_S = 3.0


def client_of(cluster: Cluster, patience_s: float = PATIENCE_S) -> Client:
    """With the watchers' credentials. patience_s: for a credential plugin. Raises BadKubeconfig."""
    return Client(_readable(cluster.kubeconfig), cluster.context, patience_s)


def launcher_source(cluster: Cluster) -> tuple[str, str]:
    """(kubeconfig, context) of who launches validations. A file of its own is used in its current context. Raises BadKubeconfig."""
    if cluster.launcher_kubeconfig:
        return _readable(cluster.launcher_kubeconfig), ""
    return _readable(cluster.kubeconfig), cluster.context


def _readable(kubeconfig: str) -> str:
    if text := refused(kubeconfig):
        raise BadKubeconfig(text)
    return kubeconfig


def add(name: str, kubeconfig: str, context: str = "", launcher_kubeconfig: str = "") -> Cluster:
    """Add a cluster, or change where the credentials of a known one are. Raises BadKubeconfig and ValidationError."""
    path, launcher = _readable(_absolute(kubeconfig)), _readable(_absolute(launcher_kubeconfig))
    server = Client(path, context).server
    if launcher:
        Client(launcher, "")
    cluster = Cluster.objects.filter(name=name.strip()).first() or Cluster()
    cluster.kubeconfig, cluster.context, cluster.server = path, context, server
    cluster.launcher_kubeconfig = launcher
    cluster.uid = cluster.uid_note = ""  # the first that answers with these credentials is the one that is meant
    cluster.name = Cluster._meta.get_field("name").clean(name.strip(), cluster)
    with transaction.atomic():
        cluster.save()
        for kind in Kind.values:
            Watch.objects.get_or_create(cluster=cluster, kind=kind)
        # It may be another server now, where an old resource version means nothing: watchers lose their leases and list anew.
        cluster.watches.filter(synced_at=None).update(**anew(""))
        cluster.watches.exclude(synced_at=None).update(**anew("its address or credentials were set anew"))
        record(Action.CLUSTER_SET, cluster.name, server=cluster.server, kubeconfig=path, launcher=launcher)
    return cluster


def _absolute(path: str) -> str:
    return str(Path(path).expanduser().absolute()) if path else ""


def remove(cluster: Cluster) -> dict[str, int]:
    """Delete a cluster with all its rows. Returns how many of each."""
    counts: dict[str, int] = {}
    name = cluster.name
    with transaction.atomic():
        # The lease rows go first: a watcher that still runs loses its lease and writes nothing more.
        cluster.watches.all().delete()
        for model in _children():
            rows = model._default_manager.filter(cluster=cluster)
            counts[model._meta.model_name or ""] = rows._raw_delete(rows.db)
        cluster.delete()
        record(Action.CLUSTER_REMOVE, name)
    return counts


def _children() -> list[type[Model]]:
    """Tables that name a cluster, those first that others do not point at."""
    from inventory import models

    order = (models.Allocation, models.Card, models.NodeTotals, models.Finding, models.DirtyNode)
    return [
        *order,
        models.HistoryAnswer,
        models.HistoryDay,
        models.HistoryMinute,
        models.Unreadable,
        models.Pod,
        models.Node,
        models.DaemonSet,
        models.ConfigMap,
        models.Device,
        models.ResourceClaim,
        models.ResourceSlice,
        models.DeviceTaintRule,
    ]


class Answer(msgspec.Struct, frozen=True):
    """What a cluster said of one permission. allowed None: it could not be asked. served: False where there is nothing to permit."""

    wanted: Wanted
    allowed: bool | None
    reason: str = ""
    served: bool = True

    @property
    def rule(self) -> str:
        """What is missing in the watchers' role; "" where nothing is."""
        return self.wanted.rule if self.allowed is False and self.wanted.optional else ""


class _Allowed(msgspec.Struct):
    allowed: bool
    reason: str | None = None


class _Review(msgspec.Struct):
    """A SelfSubjectAccessReview, answered."""

    status: _Allowed


class _Budget:
    """What is left of a check's time."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self._until = seconds, time.monotonic() + seconds

    @property
    def left_s(self) -> float:
        """For the next question; 0 when the time is over."""
        return min(max(self._until - time.monotonic(), 0.0), QUESTION_S)


def check(cluster: Cluster, total_s: float = CHECK_S, patience_s: float = PATIENCE_S) -> tuple[str, list[Answer]]:
    """The server's version and what the credentials may do; kept on the cluster's row. Raises ApiError and BadKubeconfig.

    It takes no longer than about total_s; what could not be asked by then is not known. patience_s: for a credential plugin.
    """
    asked, budget = wanted(cluster), _Budget(total_s)
    client = client_of(cluster, patience_s)
    try:
        version = _version(client, budget)
        answers = [_ask(client, one, budget) for one in asked if not one.launcher]
        absent = _absent(client, cluster, budget)
    finally:
        client.close()
    answers = [_not_served(one) if one.wanted.kind in absent else one for one in answers]
    answers += _ask_as_launcher(cluster, [one for one in asked if one.launcher], budget, patience_s)
    cluster.permissions = [
        {
            "verb": answer.wanted.verb,
            "resource": answer.wanted.full_resource,
            "allowed": answer.allowed,
            "needed_for": answer.wanted.needed_for,
            "optional": answer.wanted.optional,
            "served": answer.served,
            "rule": answer.rule,
        }
        for answer in answers
    ]
    cluster.permissions_checked_at = timezone.now()
    Cluster.objects.filter(pk=cluster.pk).update(
        permissions=cluster.permissions, permissions_checked_at=cluster.permissions_checked_at, server=client.server
    )
    return version, answers


def _absent(client: Client, cluster: Cluster, budget: _Budget) -> set[str]:
    """Kinds that the cluster does not have, asked of it: a cluster that was just added has no watcher yet that would know.

    Where it does not say in time, what the watchers found counts.
    """
    known = not_served(cluster)
    for kind in OPTIONAL_KINDS:
        if kind in KINDS and budget.left_s:
            try:
                served = is_served(kind, client, min(SERVED_S, budget.left_s))
            except ApiError:
                break
            known = known - {kind.value} if served else known | {kind.value}
    return known


def _ask_as_launcher(cluster: Cluster, asked: Sequence[Wanted], budget: _Budget, patience_s: float) -> list[Answer]:
    """Where the launcher's file cannot be read or used, that is the answer: the mirror does not need it."""
    try:
        client = Client(*launcher_source(cluster), patience_s)
    except BadKubeconfig as error:
        return [Answer(one, None, str(error)) for one in asked]
    try:
        return [_ask(client, one, budget) for one in asked]
    finally:
        client.close()


def _version(client: Client, budget: _Budget) -> str:
    try:
        version = msgspec.json.decode(client.get("/version", timeout_s=budget.left_s))
    except (msgspec.DecodeError, RecursionError):
        raise ApiError(0, "NotKubernetes", f"{client.server} answers, but not as a Kubernetes API server") from None
    name = version.get("gitVersion") if isinstance(version, dict) else None
    return str(name or "version not told")[:64]


def _not_served(answer: Answer) -> Answer:
    """There is nothing to permit."""
    return Answer(answer.wanted, None, "the cluster does not serve it", served=False)


def _ask(client: Client, wanted: Wanted, budget: _Budget) -> Answer:
    if not budget.left_s:
        return Answer(
            wanted, None, f"not asked: the cluster did not answer all questions within {budget.seconds:.0f} s"
        )
    resource, _, subresource = wanted.resource.partition("/")
    attributes = {"verb": wanted.verb, "group": wanted.group, "resource": resource, "subresource": subresource}
    if wanted.name:
        attributes["name"] = wanted.name
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes | {"namespace": wanted.namespace}},
    }
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    try:
        body = client.send("POST", path, msgspec.json.encode(review), timeout_s=budget.left_s)
        status = msgspec.json.decode(body, type=_Review).status
    except ApiError as error:
        return Answer(wanted, None, str(error))
    except (msgspec.DecodeError, RecursionError):
        return Answer(wanted, None, "the answer was not an access review")
    return Answer(wanted, status.allowed, (status.reason or "")[:1000])


__all__ = [
    "CHECK_PATIENTLY_S",
    "PLUGIN_S",
    "READER",
    "Answer",
    "ApiError",
    "BadKubeconfig",
    "Wanted",
    "add",
    "check",
    "client_of",
    "current_context",
    "launcher_source",
    "remove",
]
