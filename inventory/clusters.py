"""Clusters: add, change, remove; clients of them. Only commands and workers call this; the web process has no credentials."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import Model, Q
from django.db.models.functions import Now

from audit.actions import Action
from audit.acts import act
from inventory.credential_files import refused
from inventory.extension import EXTENSIONS
from inventory.kubeconfig_files import discard
from inventory.mirror.anew import anew
from inventory.mirror.served import REST_S
from inventory.models import Cluster, Watch
from inventory.models.cluster import LOOKED_FOR, Kind, WatchState
from inventory.permissions import READER, of_cluster
from inventory.wanted import QUARANTINE, Wanted
from kube.client import BadKubeconfig, Client, current_context
from kube.credentials import PATIENCE_S
from wording.said import sentence

#: Watches in these states wait until somebody finds that there is something to be read.
RESTING = (WatchState.NOT_SERVED, WatchState.NOT_NEEDED)


def wanted(cluster: Cluster | None = None) -> list[Wanted]:
    """What a check asks for, in this order; without a cluster, what is the same in all."""
    mine = of_cluster(cluster) if cluster is not None else READER
    others = (one for extension in EXTENSIONS.values() for one in extension.wanted())
    marks = cluster is not None and cluster.quarantine_kubeconfig
    return [*mine, *(one for one in others if one.account != QUARANTINE or marks)]


def client_of(cluster: Cluster, patience_s: float = PATIENCE_S) -> Client:
    """With the watchers' credentials. patience_s: for a credential plugin. Raises BadKubeconfig."""
    return Client(_readable(cluster.kubeconfig), cluster.context, patience_s)


def launcher_source(cluster: Cluster) -> tuple[str, str]:
    """(kubeconfig, context) of who launches validations. A file of its own is used in its current context. Raises BadKubeconfig."""
    if cluster.launcher_kubeconfig:
        return _readable(cluster.launcher_kubeconfig), ""
    return _readable(cluster.kubeconfig), cluster.context


def quarantine_source(cluster: Cluster) -> tuple[str, str]:
    """(kubeconfig, context) of who marks nodes; there is no other credential in its place. Raises BadKubeconfig."""
    if not cluster.quarantine_kubeconfig:
        raise BadKubeconfig(
            sentence("No kubeconfig for marking nodes (`gpudash cluster set NAME --quarantine-kubeconfig FILE`).")
        )
    return _readable(cluster.quarantine_kubeconfig), ""


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
    before, cluster.kubeconfig, cluster.context, cluster.server = cluster.kubeconfig, path, context, server
    cluster.launcher_kubeconfig = launcher
    cluster.uid = cluster.uid_note = ""  # the first that answers with these credentials is the one that is meant
    cluster.name = Cluster._meta.get_field("name").clean(name.strip(), cluster)
    told = {"server": cluster.server, "kubeconfig": path, "launcher": launcher}
    with act(Action.CLUSTER_SET, cluster.name, **told):
        cluster.save()
        for kind in Kind.values:
            Watch.objects.get_or_create(cluster=cluster, kind=kind, defaults=beginning(kind))
        # It may be another server now, where an old resource version means nothing: watchers lose their leases and list anew.
        cluster.watches.filter(synced_at=None).exclude(state__in=RESTING).update(**anew(""))
        cluster.watches.exclude(synced_at=None).update(**anew("its address or credentials were changed"))
        if before != path:
            transaction.on_commit(lambda: _let_go(before))
    return cluster


def beginning(kind: str) -> dict[str, Any]:
    """The first state of a new watch: what most clusters do not have rests until it is looked for."""
    if kind in LOOKED_FOR:
        return {"state": WatchState.NOT_SERVED, "next_try_at": Now() + timedelta(seconds=REST_S)}
    return {"state": WatchState.NOT_NEEDED} if kind == Kind.SERVICES else {}


def set_launcher(cluster: Cluster, kubeconfig: str) -> None:
    """Say where the launcher's credentials are, in a process that can read them. "": those of the watchers. Raises BadKubeconfig."""
    path = _readable(_absolute(kubeconfig))
    if path:
        Client(path, "")
    with act(Action.CLUSTER_SET, cluster.name, launcher=path or "none"):
        Cluster.objects.filter(pk=cluster.pk).update(launcher_kubeconfig=path)


def set_quarantine(cluster: Cluster, kubeconfig: str | None, how: str = "") -> None:
    """Say where the credentials that mark nodes are, in a process that can read them, and by which mark. Raises BadKubeconfig.

    kubeconfig "": gpudash marks none. None and "" of `how`: as it is.
    """
    columns: dict[str, str] = {"quarantine_how": how} if how else {}
    if kubeconfig is not None:
        columns["quarantine_kubeconfig"] = path = _readable(_absolute(kubeconfig))
        if path:
            Client(path, "")
    told = {"quarantine": columns.get("quarantine_kubeconfig", cluster.quarantine_kubeconfig) or "none", "how": how}
    with act(Action.CLUSTER_SET, cluster.name, **told):
        Cluster.objects.filter(pk=cluster.pk).update(**columns)


def _absolute(path: str) -> str:
    return str(Path(path).expanduser().absolute()) if path else ""


def remove(cluster: Cluster) -> dict[str, int]:
    """Delete a cluster with all its rows. Returns how many of each."""
    counts: dict[str, int] = {}
    with act(Action.CLUSTER_REMOVE, cluster.name):
        # The lease rows go first: a watcher that still runs loses its lease and writes nothing more.
        cluster.watches.all().delete()
        for model in _children():
            rows = model._default_manager.filter(cluster=cluster)
            counts[model._meta.model_name or ""] = rows._raw_delete(rows.db)
        cluster.delete()
        transaction.on_commit(lambda: _let_go(cluster.kubeconfig))
    return counts


def _let_go(kubeconfig: str) -> None:
    """Of a cluster that does not use it any more: a file that was uploaded goes, unless another cluster names it."""
    named = Q(kubeconfig=kubeconfig) | Q(launcher_kubeconfig=kubeconfig) | Q(quarantine_kubeconfig=kubeconfig)
    used = Cluster.objects.filter(named)
    if kubeconfig and not used.exists():
        discard(kubeconfig)


def name_from(context: str) -> str:
    """A cluster name from the context's: lower case, with - for what is not allowed."""
    name = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in context.lower()).strip("-")
    return name[:63].strip("-") or "cluster"


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


__all__ = [
    "READER",
    "BadKubeconfig",
    "Wanted",
    "add",
    "client_of",
    "current_context",
    "launcher_source",
    "name_from",
    "quarantine_source",
    "remove",
    "set_launcher",
    "set_quarantine",
    "wanted",
]
