"""Where promises and measurements of a node do not go together: what is begun, and what is a finding."""

from __future__ import annotations

from django.db import models

from inventory.models.cluster import Cluster
from runtime.scope import Scope
from runtime.scoped import OfCluster


class Discrepancy(OfCluster):
    """One condition of a node. Written by `inventory.discrepancies` alone; the node reconciler makes findings of those that are told.

    first_at: the round in which it was first seen, or since when it is known to be. unknown_since: since when nothing is known of it;
    None: it was seen in the last look. numbers: bytes in the text; exact: what else would change it.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE)
    node_name = models.CharField(max_length=253)
    code = models.CharField(max_length=64)
    card_key = models.CharField(max_length=128, blank=True)
    pod = models.CharField(max_length=512, blank=True)
    told = models.BooleanField(default=False)
    text = models.TextField(blank=True)
    wording = models.JSONField(null=True)
    first_at = models.DateTimeField()
    unknown_since = models.DateTimeField(null=True)
    numbers = models.JSONField(default=list)
    exact = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["cluster", "node_name", "code", "card_key", "pod"], name="discrepancy_once")
        ]

    @classmethod
    def seen_by(cls, scope: Scope) -> models.Q:
        """Its text names pods."""
        return scope.in_whole_clusters() | scope.of_pods("pod")

    def __str__(self) -> str:
        return f"{self.code} {self.node_name} {self.card_key}"
