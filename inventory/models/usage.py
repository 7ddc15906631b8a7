"""What cards say of themselves: where it is asked, and the last that was measured.

Writers: commands write a `UsageSource`'s settings; its collector, under the lease in the same row, writes its state and `CardUsage`.
"""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from inventory.models.cards import Card
from inventory.models.cluster import Cluster
from runtime.leases.row import LeaseRow
from runtime.scoped import OfCluster

#: Seconds for which a collector holds its source: longer than one question may take (`prometheus.ANSWER_S`); the lease is renewed
#: after each answer.
LEASE_S = 60.0


class Way(models.TextChoices):
    """How exporters are read."""

    PROMETHEUS = "prometheus", "Prometheus"
    DIRECT = "direct", _("from the exporters' pods")


class SourceState(models.TextChoices):
    """WAITING: never asked. BACKING_OFF and REFUSED carry a reason; the next round is at `due_at`."""

    WAITING = "waiting", _("waiting for the first read")
    READING = "reading", _("measured")
    BACKING_OFF = "backing-off", _("retrying")
    REFUSED = "refused", _("failed")


class UsageSource(LeaseRow, OfCluster):
    """Where the exporters of one cluster are read: at most one row per cluster. Holds where a token is, never the token.

    address, token_file, ca_file, headers, matchers: of a Prometheus. headers: {"X-Scope-OrgID": "team-a"}. matchers: label matchers
    that choose this cluster's series, such as `cluster="prod"`; "" where the Prometheus has one cluster only.
    every_s: seconds from one round to the next.
    """

    cluster = models.OneToOneField(Cluster, on_delete=models.CASCADE, related_name="usage_source")
    way = models.CharField(max_length=16, choices=Way.choices)
    address = models.CharField(max_length=512, blank=True)
    token_file = models.CharField(max_length=1024, blank=True)
    ca_file = models.CharField(max_length=1024, blank=True)
    headers = models.JSONField(default=dict)
    matchers = models.CharField(max_length=1000, blank=True)
    every_s = models.PositiveIntegerField(default=60)
    state = models.CharField(max_length=16, choices=SourceState.choices, default=SourceState.WAITING)
    reason = models.TextField(blank=True)
    #: How the reason was made, see `wording.said`.
    wording = models.JSONField(null=True)
    state_since = models.DateTimeField(null=True)
    #: First failure since the last round that was complete, and how many there were.
    trouble_since = models.DateTimeField(null=True)
    failures = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField(null=True)
    #: The last complete round: when it asked, how long it took, what it brought.
    round_at = models.DateTimeField(null=True)
    round_seconds = models.FloatField(null=True)
    samples = models.BigIntegerField(default=0)
    cards_measured = models.IntegerField(default=0)
    #: Cards that an exporter names and the mirror does not have.
    cards_unmatched = models.IntegerField(default=0)
    #: [{"format", "version", "cards", "samples"}]
    formats = models.JSONField(default=list)
    #: What was dropped or doubted, with how often: [{"code", "text", "count"}].
    problems = models.JSONField(default=list)

    may_name_pods = ("reason", "wording", "problems")

    def __str__(self) -> str:
        return f"{self.cluster_id}/{self.way}"


class CardUsage(OfCluster):
    """What was last measured of one card, or of one slice of it. None: not collected, never 0.

    A card that an exporter names stands here whether or not the mirror has it; `card` is the mirror's. A row is written when a value
    changed by more than noise; one that is not `lost_at` was in its source's last round as it stands, so its age is that of
    `source.round_at`. Ratios are 0 to 1.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE)
    source = models.ForeignKey(UsageSource, on_delete=models.CASCADE)
    node_name = models.CharField(max_length=253)
    #: Within the node: the UUID, else the PCI address, else the exporter's index; of a slice with "/" and its number.
    ident = models.CharField(max_length=160)
    uuid = models.CharField(max_length=128, blank=True)
    #: The exporter's index; not always the scheduler's.
    index = models.IntegerField(null=True)
    card = models.OneToOneField(Card, null=True, on_delete=models.SET_NULL, related_name="usage")
    #: The exporter, and its version where it is told.
    format = models.CharField(max_length=32)
    version = models.CharField(max_length=64, blank=True)
    memory_used_bytes = models.BigIntegerField(null=True)
    #: What the card says that it has.
    memory_measured_bytes = models.BigIntegerField(null=True)
    utilization_ratio = models.FloatField(null=True)
    #: The best sign of work that the exporter has, and its measure's name.
    activity_ratio = models.FloatField(null=True)
    activity_measure = models.CharField(max_length=64, blank=True)
    temperature_celsius = models.FloatField(null=True)
    power_watts = models.FloatField(null=True)
    #: All other measures: {name: value}.
    more = models.JSONField(default=dict)
    #: What speaks of its health, each with when it was first seen, as JSON (`inventory.health.signs`); of a lost card the last.
    signs = models.TextField(blank=True, default="", db_default="")
    #: "0000:3b:00.0"; "" where the exporter does not say it.
    pci = models.CharField(max_length=32, blank=True, default="", db_default="")
    #: Who is on the card, as exporters say: [{"namespace", "pod", "container", "uid", "memory", "of_pod", "format"}].
    holders = models.JSONField(default=list)
    #: How old the sample was when its round asked, in seconds.
    age_s = models.FloatField(default=0.0)
    #: When these values were written, and since when the exporter says nothing of this card; None: it was in the last round.
    written_at = models.DateTimeField()
    lost_at = models.DateTimeField(null=True)
    #: Since when it is watched without a gap, and when work was seen last within that time.
    watched_since = models.DateTimeField(null=True)
    active_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cluster", "node_name", "ident"], name="usage_once")]
        indexes = [
            models.Index(fields=["cluster", "node_name"], name="usage_of_a_node"),
            models.Index(fields=["memory_used_bytes", "card"], name="usage_by_memory"),
            models.Index(fields=["activity_ratio", "card"], name="usage_by_activity"),
        ]

    def __str__(self) -> str:
        return f"{self.node_name}/{self.ident}"
