"""Allocations now, and of each day, by namespace: what lists and chargeback are read from.

Written by `inventory.charges` alone. Times of cards are in card-microseconds (a card for a second is 1,000,000), those of memory in
MiB-seconds: whole numbers, so that sums over them are exact.
"""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from inventory.models.cluster import Cluster
from runtime.scoped import OfCluster, OfNamespace


class By(models.TextChoices):
    """What allocations are grouped by. Owner: what controls the pod, as its object says."""

    NAMESPACE = "namespace", _("namespace")
    OWNER = "owner", _("owner")


class NamespaceAllocation(OfNamespace):
    """What is allocated to a namespace, or one owner in it, now in one cluster. Its row goes with its last allocation."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE)
    by = models.CharField(max_length=9, choices=By.choices)
    namespace = models.CharField(max_length=253)
    #: "" of a namespace, and of pods that nothing controls.
    owner_kind = models.CharField(max_length=63, blank=True)
    owner_name = models.CharField(max_length=253, blank=True)
    pods = models.IntegerField()
    allocations = models.IntegerField()
    #: Allocations whose memory is not metered: not in memory_bytes.
    unmetered = models.IntegerField()
    memory_bytes = models.BigIntegerField()
    #: Cards allocated in full; allocations on a part of a card, and how many cards those parts are, where memory or shares say so.
    cards_whole = models.IntegerField()
    shares = models.IntegerField()
    cards_shared = models.FloatField()
    cards = models.FloatField()
    #: Of idle allocations (`IdleAllocation`): None where activity is not collected.
    idle_bytes = models.BigIntegerField(null=True)
    idle_cards = models.FloatField(null=True)
    idle_since = models.DateTimeField(null=True)
    #: Bytes × seconds of the last seven days (UTC, with today): without activity; and not used. None: not collected, or an owner.
    idle_week_byte_seconds = models.FloatField(null=True)
    unused_week_byte_seconds = models.FloatField(null=True)
    oldest_pod = models.CharField(max_length=253)
    oldest_since = models.DateTimeField()
    #: Measured on cards where nobody else is; None: on none.
    memory_used_bytes = models.BigIntegerField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "by", "namespace", "owner_kind", "owner_name"], name="namespace_hold_once"
            )
        ]
        indexes = [
            models.Index(fields=["by", "-memory_bytes", "-cards", "id"], name="namespace_holds_by_memory"),
            models.Index(fields=["by", "-cards", "id"], name="namespace_holds_by_cards"),
        ]

    def __str__(self) -> str:
        return f"{self.namespace} {self.owner_name}".strip()


class ChargeDay(OfCluster):
    """One day (UTC) of a cluster: what there was, and the parts of it that no namespace held.

    done: the day was over when it was summed, and is not summed again; else it is true until `until`.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE)
    day = models.DateField()
    done = models.BooleanField(default=False)
    #: From when on something is recorded of it, until when it is summed.
    since = models.DateTimeField(null=True)
    until = models.DateTimeField()
    #: Seconds that summing took.
    took_s = models.FloatField(default=0)
    total_card_us = models.BigIntegerField()
    total_mib_s = models.BigIntegerField()
    free_card_us = models.BigIntegerField()
    free_mib_s = models.BigIntegerField()
    unplaced_card_us = models.BigIntegerField()
    unplaced_mib_s = models.BigIntegerField()
    unmetered_card_us = models.BigIntegerField()
    unmetered_mib_s = models.BigIntegerField()
    unknown_card_us = models.BigIntegerField()
    unknown_mib_s = models.BigIntegerField()
    #: The last four by hardware (`inventory.charges.prices.packed`).
    free_by_hardware = models.TextField(blank=True, default="", db_default="")
    unplaced_by_hardware = models.TextField(blank=True, default="", db_default="")
    unmetered_by_hardware = models.TextField(blank=True, default="", db_default="")
    unknown_by_hardware = models.TextField(blank=True, default="", db_default="")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cluster", "day"], name="charge_day_once")]
        indexes = [models.Index(fields=["day"], name="charge_days_by_time")]

    def __str__(self) -> str:
        return f"{self.cluster_id} {self.day}"


class NamespaceDay(OfNamespace):
    """What one namespace held on one day (UTC)."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE)
    day = models.DateField()
    namespace = models.CharField(max_length=253)
    card_us = models.BigIntegerField()
    mib_s = models.BigIntegerField()
    #: Of mib_s, as the history has it each minute: without activity; and not used, on measured cards that the namespace had alone.
    #: None: not collected.
    idle_mib_s = models.BigIntegerField(null=True)
    unused_mib_s = models.BigIntegerField(null=True)
    #: card_us and mib_s by what prices choose by.
    by_hardware = models.TextField(blank=True, default="", db_default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["cluster", "day", "namespace"], name="namespace_day_once"),
        ]
        indexes = [models.Index(fields=["day"], name="namespace_days_by_time")]

    def __str__(self) -> str:
        return f"{self.namespace} {self.day}"


class OwnerDay(OfNamespace):
    """What one owner in a namespace held on one day (UTC). Those of a namespace add up to its `NamespaceDay`.

    Days that were summed before owners were have none, and of those that are old they go earlier (`inventory.retention`).
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE)
    day = models.DateField()
    namespace = models.CharField(max_length=253)
    #: "" of pods that nothing controls.
    owner_kind = models.CharField(max_length=63, blank=True)
    owner_name = models.CharField(max_length=253, blank=True)
    card_us = models.BigIntegerField()
    mib_s = models.BigIntegerField()
    by_hardware = models.TextField(blank=True, default="", db_default="")
    #: Of days that are over, from the histories of its cards (`inventory.charges.used`); None: not collected.
    idle_mib_s = models.BigIntegerField(null=True)
    unused_mib_s = models.BigIntegerField(null=True)
    #: MiB of one card: the most allocated; the 99th percentile of what was used, of so many values.
    asked_mib = models.BigIntegerField(null=True)
    peak_mib = models.BigIntegerField(null=True)
    samples = models.BigIntegerField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "day", "namespace", "owner_kind", "owner_name"], name="owner_day_once"
            ),
        ]
        indexes = [models.Index(fields=["day"], name="owner_days_by_time")]

    def __str__(self) -> str:
        return f"{self.namespace} {self.owner_name} {self.day}"


class Price(models.Model):
    """A price from a day on (UTC): of the cards with a node label, in a pool, of a model; "" chooses all.

    card_hour, gib_hour: millionths of the currency; None: not charged by that. Both None: unknown from then on.
    """

    label = models.CharField(max_length=381, blank=True)
    pool = models.CharField(max_length=255, blank=True)
    model = models.CharField(max_length=128, blank=True)
    since = models.DateField()
    currency = models.CharField(max_length=3)
    card_hour = models.BigIntegerField(null=True)
    gib_hour = models.BigIntegerField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["label", "pool", "model", "since"], name="price_once")]

    def __str__(self) -> str:
        return f"{self.label} {self.pool} {self.model} {self.since}".strip()
