"""The mirror: one row per object of the cluster, written by its watcher alone.

`facts` is the trimmed object as JSON (structs of `kube.objects`): what the stacks read. `digest` is a hash of the whole
row: a row whose digest is unchanged is not written.
"""

from __future__ import annotations

import msgspec
from django.db import models

from inventory.marks import Mark
from inventory.models.cluster import Cluster
from kube.decoders import decoder
from runtime.scoped import OfCluster, OfNamespace

_marks = decoder(tuple[Mark, ...])


class Mirrored(OfCluster):
    """What every mirrored object has."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE)
    uid = models.CharField(max_length=128)
    name = models.CharField(max_length=253)
    created_at = models.DateTimeField(null=True)
    facts = models.TextField()
    digest = models.BigIntegerField()

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.name


class Node(Mirrored):
    """A node as it is now. A node that leaves the cluster leaves this table; its cards stay, with `removed_at`."""

    #: True, False, or None when the node says Unknown or nothing.
    ready = models.BooleanField(null=True)
    ready_reason = models.TextField(blank=True)
    unschedulable = models.BooleanField(default=False)
    os = models.CharField(max_length=32, blank=True)
    os_image = models.CharField(max_length=256, blank=True)
    kernel = models.CharField(max_length=128, blank=True)
    kubelet = models.CharField(max_length=64, blank=True)
    runtime = models.CharField(max_length=128, blank=True)
    instance_type = models.CharField(max_length=128, blank=True)
    zone = models.CharField(max_length=128, blank=True)
    address = models.CharField(max_length=64, blank=True)
    driver_version = models.CharField(max_length=64, blank=True)
    driver_source = models.CharField(max_length=128, blank=True)
    #: Of the machine's last start, and of the machine, as the kubelet says: "machineID/systemUUID".
    boot_id = models.CharField(max_length=64, blank=True, default="", db_default="")
    machine_id = models.CharField(max_length=128, blank=True, default="", db_default="")
    #: Its annotation says that no policy starts a run on it.
    policies_off = models.BooleanField(default=False, db_default=False)
    #: Whether anything on it looks like a GPU; nodes without are counted, not listed by default.
    has_gpu = models.BooleanField(default=False)
    #: Allocatable CPU in thousandths and main memory; None: the node does not say.
    cpu_millis = models.BigIntegerField(null=True)
    host_memory_bytes = models.BigIntegerField(null=True)
    #: By what it is kept from pods, or said to be bad, as JSON: [Mark, …] of `inventory.marks`; "" for nothing.
    marks = models.TextField(blank=True, default="", db_default="")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cluster", "name"], name="node_once")]
        indexes = [models.Index(fields=["cluster", "name"], condition=~models.Q(marks=""), name="marked_nodes")]

    @property
    def found_marks(self) -> tuple[Mark, ...]:
        """`marks`, read; none when somebody wrote into the column."""
        try:
            return _marks.decode(self.marks) if self.marks else ()
        except msgspec.DecodeError:
            return ()


class NodeChange(OfCluster):
    """A change of a GPU node that its watcher saw. what: see `inventory.mirror.node_changes`. before, after: "" of nothing."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE)
    node_name = models.CharField(max_length=253)
    what = models.CharField(max_length=320)
    before = models.CharField(max_length=253, blank=True)
    after = models.CharField(max_length=253, blank=True)
    at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["cluster", "node_name", "-at"], name="node_changes_of_a_node"),
            models.Index(fields=["at"], name="node_changes_in_order"),
        ]

    def __str__(self) -> str:
        return f"{self.node_name} {self.what}: {self.before} → {self.after}"


class Pod(Mirrored, OfNamespace):
    """A pod that asks for a GPU, holds one, or belongs to a device plugin or operator. Other pods are counted, not kept."""

    namespace = models.CharField(max_length=253)
    node_name = models.CharField(max_length=253, blank=True)
    phase = models.CharField(max_length=32, blank=True)
    terminating_since = models.DateTimeField(null=True)
    owner_kind = models.CharField(max_length=63, blank=True)
    owner_name = models.CharField(max_length=253, blank=True)
    #: Id of the plugin or operator component that this pod is ("" for a workload).
    component = models.CharField(max_length=63, blank=True)
    #: Effective GPU request in words of the API: {"example.com/gpu-mem": 4}.
    requests = models.JSONField(default=dict)
    #: Effective request of CPU, in thousandths, and of the node's main memory.
    cpu_millis = models.BigIntegerField(default=0, db_default=0)
    host_memory_bytes = models.BigIntegerField(default=0, db_default=0)
    #: Of its PriorityClass; None: the pod has none.
    priority = models.IntegerField(null=True)
    #: Not bound to a node and not ended: demand, not allocation.
    pending = models.BooleanField(default=False)
    pending_reason = models.CharField(max_length=128, blank=True)
    pending_message = models.TextField(blank=True)
    #: The claims that it names, as JSON: [[what it calls the claim, the claim's name, the template], …]; "" for none.
    claims = models.TextField(blank=True, default="", db_default="")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cluster", "uid"], name="pod_once")]
        indexes = [
            models.Index(fields=["cluster", "node_name"], name="pods_of_a_node"),
            models.Index(fields=["cluster", "namespace", "name"], name="pod_by_name"),
            models.Index(fields=["cluster", "created_at"], condition=models.Q(pending=True), name="pending_pods"),
            models.Index(fields=["cluster", "component"], condition=~models.Q(component=""), name="pods_of_components"),
        ]


class PodFailure(OfNamespace):
    """A container of a workload that ended with an exit code other than 0, as its pod's watcher saw it."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE)
    node_name = models.CharField(max_length=253)
    pod_uid = models.CharField(max_length=128)
    namespace = models.CharField(max_length=253)
    pod = models.CharField(max_length=253)
    owner_kind = models.CharField(max_length=63, blank=True)
    owner_name = models.CharField(max_length=253, blank=True)
    container = models.CharField(max_length=253)
    exit_code = models.IntegerField()
    #: Of the kubelet: "Error", "OOMKilled", …
    reason = models.CharField(max_length=128, blank=True)
    at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["at"], name="pod_failures_in_order")]

    def __str__(self) -> str:
        return f"{self.namespace}/{self.pod} {self.exit_code}"


class FailureLook(OfCluster):
    """What the last look over failed pods and the activity of jobs found. Written by `inventory.failures.look` alone."""

    cluster = models.OneToOneField(Cluster, on_delete=models.CASCADE, related_name="failure_look")
    looked_at = models.DateTimeField()
    #: From the first recorded failure until the look; 0: no pod failed.
    days = models.IntegerField()
    failures = models.IntegerField()
    #: `inventory.failures.look.Kept`, the least likely by chance first.
    suspects = models.JSONField(default=list)
    #: `inventory.failures.look.KeptGap`, the largest first.
    gaps = models.JSONField(default=list)

    def __str__(self) -> str:
        return str(self.cluster_id)


class DaemonSet(Mirrored):
    """A DaemonSet that is a device plugin or operator component: the stacks read its arguments."""

    namespace = models.CharField(max_length=253)
    component = models.CharField(max_length=63, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cluster", "uid"], name="daemonset_once")]


class ConfigMap(Mirrored):
    """What systems read of a ConfigMap that their plugins take settings from, or tell of cards in. node_name: "" where of no one.

    place: where it was found, as the watch names it.
    """

    namespace = models.CharField(max_length=253)
    node_name = models.CharField(max_length=253, blank=True)
    place = models.CharField(max_length=600, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cluster", "uid"], name="config_map_once")]
        indexes = [models.Index(fields=["cluster", "node_name"], name="config_maps_of_a_node")]


class Device(Mirrored):
    """The cards of a node as a scheduler's agent reports them. name: of the node."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cluster", "name"], name="device_once")]
