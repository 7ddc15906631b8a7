"""A cluster, how it is watched, and what of it could not be read."""

from __future__ import annotations

from datetime import datetime

from django.core.validators import RegexValidator
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from runtime.leases.row import LeaseRow
from runtime.scope import Scope
from runtime.scoped import OfCluster, ScopedManager


class Kind(models.TextChoices):
    """What is watched, each under a lease of its own. CARDS is the reconciler: it reads the mirror, not the cluster."""

    NODES = "nodes", "nodes"
    PODS = "pods", "pods"
    DAEMONSETS = "daemonsets", "daemonsets"
    CONFIGMAPS = "configmaps", "config maps"
    RESOURCESLICES = "resourceslices", "resource slices"
    RESOURCECLAIMS = "resourceclaims", "resource claims"
    DEVICETAINTRULES = "devicetaintrules", "device taint rules"
    DEVICES = "devices", "devices"
    DEPLOYMENTS = "deployments", "deployments"
    SERVICES = "services", "services"
    CLUSTERPOLICIES = "clusterpolicies", "cluster policies"
    NVIDIADRIVERS = "nvidiadrivers", "NVIDIA drivers"
    GPUCLUSTERS = "gpuclusters", "GPU clusters"
    DEVICECONFIGS = "deviceconfigs", "device configs"
    GPUDEVICEPLUGINS = "gpudeviceplugins", "GPU device plugins"
    CARDS = "cards", "cards"


#: Kinds whose objects set up GPU software, each in rows of `SoftwareObject`.
SOFTWARE_KINDS = (
    Kind.DEPLOYMENTS,
    Kind.SERVICES,
    Kind.CLUSTERPOLICIES,
    Kind.NVIDIADRIVERS,
    Kind.GPUCLUSTERS,
    Kind.DEVICECONFIGS,
    Kind.GPUDEVICEPLUGINS,
)
#: Kinds by which components are judged: of each it matters whether it is read.
JUDGED_BY = (Kind.NODES, Kind.PODS, Kind.DAEMONSETS, Kind.RESOURCESLICES, *SOFTWARE_KINDS)
#: Custom resources of operators: most clusters have none. The watcher of nodes looks at once which are served; until then they rest.
LOOKED_FOR = (
    Kind.CLUSTERPOLICIES,
    Kind.NVIDIADRIVERS,
    Kind.GPUCLUSTERS,
    Kind.DEVICECONFIGS,
    Kind.GPUDEVICEPLUGINS,
)
#: What may be missing: the cluster may not serve it, or not let it be read.
OPTIONAL_KINDS = (
    Kind.DAEMONSETS,
    Kind.CONFIGMAPS,
    Kind.RESOURCESLICES,
    Kind.RESOURCECLAIMS,
    Kind.DEVICETAINTRULES,
    Kind.DEVICES,
    *SOFTWARE_KINDS,
)


class WatchState(models.TextChoices):
    """WAITING → LISTING → WATCHING; BACKING_OFF and REFUSED carry a reason and go back to LISTING or WATCHING.

    NOT_SERVED: the API server does not have this kind; it is looked for from time to time. NOT_NEEDED: of this kind there is nothing
    to be read. Either way nobody holds the lease: it costs nothing (`resting`).
    """

    WAITING = "waiting", "waiting for a watch worker"
    LISTING = "listing", "initial list"
    WATCHING = "watching", "in sync"
    BACKING_OFF = "backing-off", "retrying"
    REFUSED = "refused", "access denied"
    NOT_SERVED = "not-served", "API not available"
    NOT_NEEDED = "not-needed", "not needed"


#: An optional kind in one of these states is done without, also by the next watcher until it has tried.
DONE_WITHOUT = (WatchState.REFUSED, WatchState.NOT_SERVED, WatchState.NOT_NEEDED)


def resting() -> models.Q:
    """Watches that need no watcher now: the kind is not served, nothing is to be read, or what is to be read is not known yet."""
    absent = models.Q(state=WatchState.NOT_SERVED, next_try_at__gt=Now())
    return absent | models.Q(state=WatchState.NOT_NEEDED) | models.Q(kind=Kind.CONFIGMAPS, selection="")


class QuarantineHow(models.TextChoices):
    """TAINT: a taint of ours. CORDON: that, and unschedulable. NVSENTINEL: a MaintenanceRequest, which needs no right on nodes."""

    TAINT = "taint", _("taint")
    CORDON = "cordon", _("taint and cordon")
    NVSENTINEL = "nvsentinel", _("NVSentinel maintenance request")


class Cluster(models.Model):
    """One Kubernetes cluster. Holds where its credentials are, never the credentials.

    kubeconfig: absolute path of a file that the watchers can read; empty means the in-cluster service account.
    launcher_kubeconfig: the file with the rights to launch validations, for the launch workers; empty: the same as the watchers'.
    quarantine_kubeconfig: the file with the rights to mark nodes, for the launch workers; empty: gpudash marks none.
    quarantine_how: by which mark a node is taken out of service.
    """

    name = models.CharField(
        max_length=63,
        unique=True,
        validators=[RegexValidator(r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$", "lower-case letters, digits, - and . only")],
    )
    kubeconfig = models.CharField(max_length=1024, blank=True)
    context = models.CharField(max_length=253, blank=True)
    launcher_kubeconfig = models.CharField(max_length=1024, blank=True)
    quarantine_kubeconfig = models.CharField(max_length=1024, blank=True, default="", db_default="")
    quarantine_how = models.CharField(
        max_length=12, choices=QuarantineHow.choices, default=QuarantineHow.TAINT, db_default=QuarantineHow.TAINT.value
    )
    server = models.CharField(max_length=512, blank=True)
    #: What the credentials may do, as the last check found: [{"verb", "resource", "allowed", "needed_for"}].
    permissions = models.JSONField(default=list)
    permissions_checked_at = models.DateTimeField(null=True)
    #: The same for those of the launcher, which another process asks.
    launcher_checked_at = models.DateTimeField(null=True)
    quarantine_checked_at = models.DateTimeField(null=True)
    #: UID of the namespace kube-system, by which a cluster is known again; "" while it is not told, and why.
    uid = models.CharField(max_length=64, blank=True, default="", db_default="")
    uid_note = models.CharField(max_length=500, blank=True, default="", db_default="")
    uid_wording = models.JSONField(null=True)
    #: When another cluster was found at the same address, last; None: never.
    recreated_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    objects = ScopedManager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @classmethod
    def seen_by(cls, scope: Scope) -> models.Q:
        return scope.in_clusters("pk")


class Watch(LeaseRow, OfCluster):
    """The lease and the progress of one watcher: one row per (cluster, kind).

    The row is written in the same transaction as the state it speaks of. Times are UTC.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="watches")
    kind = models.CharField(max_length=16, choices=Kind.choices)
    #: When a message to take it was last sent to the workers, and how many since it was held last.
    sent_at = models.DateTimeField(null=True)
    sent = models.PositiveIntegerField(default=0, db_default=0)
    resource_version = models.CharField(max_length=64, blank=True)
    #: What made the rows (code and settings): when it differs, the watcher lists anew instead of going on.
    made_by = models.CharField(max_length=64, blank=True)
    state = models.CharField(max_length=16, choices=WatchState.choices, default=WatchState.WAITING)
    reason = models.TextField(blank=True)
    #: How each text of the row was made, see `wording.said`.
    reason_wording = models.JSONField(null=True)
    state_since = models.DateTimeField(null=True)
    next_try_at = models.DateTimeField(null=True)
    #: First failure since the last update from the cluster: it survives retries and changes of the watcher.
    trouble_since = models.DateTimeField(null=True)
    #: Of config maps: which are to be read, as JSON; "" while it is not known yet.
    selection = models.TextField(blank=True, default="", db_default="")
    #: Why everything is to be listed (for the cards: counted) anew; "" when that is done. Who asked by hand, and when.
    relist_reason = models.CharField(max_length=200, blank=True, default="", db_default="")
    relist_wording = models.JSONField(null=True)
    relist_requested_at = models.DateTimeField(null=True)
    #: First complete list; None before: pages then say that the mirror is not complete.
    synced_at = models.DateTimeField(null=True)
    #: Last object or bookmark that arrived; the age of the mirror.
    last_event_at = models.DateTimeField(null=True)
    objects_seen = models.BigIntegerField(default=0)
    objects_stored = models.BigIntegerField(default=0)
    relists = models.BigIntegerField(default=0)
    #: The last audit that was finished: when, how long it took, how many objects or rows differed, in words.
    audited_at = models.DateTimeField(null=True)
    audit_seconds = models.FloatField(null=True)
    audit_differences = models.IntegerField(default=0, db_default=0)
    audit_note = models.CharField(max_length=200, blank=True, default="", db_default="")
    audit_wording = models.JSONField(null=True)
    #: All differences that audits ever found.
    audit_differences_total = models.BigIntegerField(default=0, db_default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cluster", "kind"], name="watch_once")]

    def __str__(self) -> str:
        return f"{self.cluster_id}/{self.kind}"

    def rests(self, now: datetime) -> bool:
        """As `resting`."""
        absent = self.state == WatchState.NOT_SERVED and self.next_try_at is not None and self.next_try_at > now
        return absent or self.state == WatchState.NOT_NEEDED or (self.kind == Kind.CONFIGMAPS and not self.selection)


class Unreadable(OfCluster):
    """An object of the cluster that did not decode: kept by name, so that it is not silently missing."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="unreadable")
    kind = models.CharField(max_length=16, choices=Kind.choices)
    namespace = models.CharField(max_length=253, blank=True)
    name = models.CharField(max_length=253, blank=True)
    error = models.TextField()
    seen_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cluster", "kind", "namespace", "name"], name="unreadable_once")]

    @classmethod
    def seen_by(cls, scope: Scope) -> models.Q:
        """Nodes and the like have no namespace."""
        return (scope.in_clusters() & models.Q(namespace="")) | scope.in_namespaces()

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"
