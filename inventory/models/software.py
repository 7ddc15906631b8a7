"""The software of clusters: objects that set it up (mirror), what is true of each component, and what was true before."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, ClassVar, Self

from django.db import models

from inventory.models.choices import ComponentState
from inventory.models.cluster import Cluster
from inventory.models.mirror import Mirrored
from runtime.scope import ANY, current
from runtime.scoped import OfCluster

#: In `DirtyNode.stack`: what the cluster has once changed, no node.
CLUSTER_SOFTWARE = "(cluster software)"


class SoftwareObject(Mirrored):
    """A Deployment, Service or custom resource that sets up GPU software. kind: as the API's path has it, "clusterpolicies"."""

    kind = models.CharField(max_length=16)
    namespace = models.CharField(max_length=253, blank=True)
    #: The component that it is; "" for a custom resource.
    component = models.CharField(max_length=63, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cluster", "kind", "uid"], name="software_object_once")]


class Component(OfCluster):
    """What is true of one component now: of one on a node, or of one that the cluster has once (node_name "").

    Fields are those of `stacks.engine.software.base.Statement`.
    """

    may_name_pods: ClassVar[tuple[str, ...]] = ("remedy", "source")

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE)
    node_name = models.CharField(max_length=253, blank=True)
    name = models.CharField(max_length=320)
    stack = models.CharField(max_length=63)
    #: Place in the order of blame.
    position = models.IntegerField(default=0)
    state = models.CharField(max_length=16, choices=ComponentState.choices)
    version = models.CharField(max_length=64, blank=True)
    #: The version that should run, where it is another.
    wanted = models.CharField(max_length=64, blank=True)
    waiting_for = models.CharField(max_length=63, blank=True)
    container = models.CharField(max_length=63, blank=True)
    exit_code = models.IntegerField(null=True)
    why = models.TextField(blank=True)
    warnings = models.JSONField(default=list)
    remedy = models.TextField(blank=True)
    #: How the texts were made: {"why": …, "warnings": […], "remedy": …}, see `wording.said`.
    wording = models.JSONField(null=True)
    #: State of an upgrade or a change under way, as its label says.
    step = models.CharField(max_length=63, blank=True)
    source = models.CharField(max_length=600, blank=True)
    #: Whether it explains what is not ready on the node.
    first_cause = models.BooleanField(default=False)
    #: Since when the objects say so; None where they do not.
    since = models.DateTimeField(null=True)
    #: When gpudash saw the state, and the step, first.
    state_since = models.DateTimeField()
    step_since = models.DateTimeField(null=True)
    digest = models.BigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cluster", "node_name", "name"], name="component_once")]
        indexes = [
            models.Index(fields=["cluster", "state", "name", "version"], name="components_by_state"),
            models.Index(fields=["state_since"], name="components_changed_last"),
            models.Index(fields=["cluster", "node_name"], condition=models.Q(first_cause=True), name="first_causes"),
            models.Index(fields=["cluster", "step"], condition=~models.Q(step=""), name="components_in_a_step"),
        ]

    @classmethod
    def from_db(cls, db: str | None, field_names: Collection[str], values: Collection[Any]) -> Self:
        """The form of a remedy that is not told goes with it."""
        row = super().from_db(db, field_names, values)
        wording = row.__dict__.get("wording")
        if wording and not current().sees_whole(row.__dict__.get("cluster_id", ANY)):
            row.wording = {**wording, "remedy": None}
        return row

    def __str__(self) -> str:
        return f"{self.name} {self.node_name}".strip()


class ComponentChange(OfCluster):
    """One change of a component: state, version or step. before: "" where it was not there; after: "" where it is gone."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE)
    node_name = models.CharField(max_length=253, blank=True)
    name = models.CharField(max_length=320)
    stack = models.CharField(max_length=63)
    state_before = models.CharField(max_length=16, blank=True)
    state_after = models.CharField(max_length=16, blank=True)
    version_before = models.CharField(max_length=64, blank=True)
    version_after = models.CharField(max_length=64, blank=True)
    step_before = models.CharField(max_length=63, blank=True)
    step_after = models.CharField(max_length=63, blank=True)
    at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["cluster", "node_name", "-at"], name="changes_of_a_node"),
            models.Index(fields=["at"], name="component_changes_in_order"),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.node_name}: {self.state_before} → {self.state_after}"
