"""Holds without work: what could be taken back today."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from inventory.models.cards import Allocation
from inventory.models.cluster import Cluster
from runtime.scoped import OfCluster, OfNamespace


class Confidence(models.TextChoices):
    """How sure it is that there was no work."""

    CERTAIN = "certain", _("certain")
    #: The sign is one of moments, not of the whole time: short work may have been missed.
    LIKELY = "likely", _("likely")


class IdleAllocation(OfNamespace):
    """An allocation on whose card no work was seen for as long as GPUDASH_IDLE_MINUTES, as of `written_at`.

    It is copied beside the allocation so that lists are sorted and summed by an index. Written by `inventory.idle.allocations` alone,
    every minute for a whole cluster; a row that is older than `inventory.idle.KEPT` is not believed.
    """

    allocation = models.OneToOneField(Allocation, on_delete=models.CASCADE, related_name="idle")
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE)
    node_name = models.CharField(max_length=253)
    namespace = models.CharField(max_length=253)
    owner_name = models.CharField(max_length=253, blank=True)
    model = models.CharField(max_length=128, blank=True)
    #: No work was seen from then on; it may be longer.
    idle_since = models.DateTimeField()
    confidence = models.CharField(max_length=8, choices=Confidence.choices)
    #: The sign of work that was looked at.
    measure = models.CharField(max_length=64)
    #: What would be free again. Cards: a part of one where its memory says which part; None: not metered.
    memory_bytes = models.BigIntegerField(null=True)
    cards = models.FloatField(null=True)
    #: What is loaded on the card, where the pod is alone on it; None: not known.
    memory_used_bytes = models.BigIntegerField(null=True)
    #: Held without work so far: bytes × seconds, cards × seconds.
    byte_seconds = models.FloatField(null=True)
    card_seconds = models.FloatField(null=True)
    written_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["-byte_seconds", "id"], name="idle_by_memory"),
            models.Index(fields=["-card_seconds", "id"], name="idle_by_cards"),
            models.Index(fields=["cluster", "namespace"], name="idle_of_a_namespace"),
        ]

    def __str__(self) -> str:
        return f"{self.allocation_id} since {self.idle_since}"


class IdleLook(OfCluster):
    """What the last look over a cluster said of all that is held: how many holds are judged, and why the others are not."""

    cluster = models.OneToOneField(Cluster, on_delete=models.CASCADE, related_name="idle_look")
    looked_at = models.DateTimeField()
    window_s = models.FloatField()
    #: {verdict of `inventory.idle.rule`: allocations}
    verdicts = models.JSONField(default=dict)
    #: When promises were last compared with measurements (`inventory.discrepancies`, which alone writes it); None: never.
    findings_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return str(self.cluster_id)
