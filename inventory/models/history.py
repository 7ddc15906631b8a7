"""What cards and sums over them were, over time: each minute for some hours, then one row a day.

Written by `inventory.history.recorder` alone; the values lie packed in one column (`inventory.history.packed`).
"""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from inventory.models.cluster import Cluster
from runtime.scope import Scope
from runtime.scoped import OfCluster


class Subject(models.TextChoices):
    """What a history is of. In the key: a card's id, a node's name, a pool, a namespace; "" for a cluster."""

    CARD = "card", _("card")
    NODE = "node", _("node")
    POOL = "pool", _("pool")
    NAMESPACE = "namespace", _("namespace")
    CLUSTER = "cluster", _("cluster")


class HistoryMinute(OfCluster):
    """One minute of many subjects of a kind: those of `part`. It goes when its hour lies in days and no chart is drawn by it."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE)
    subject = models.CharField(max_length=9, choices=Subject.choices)
    part = models.IntegerField()
    at = models.DateTimeField()
    #: Whether it lies in `HistoryDay`.
    folded = models.BooleanField(default=False)
    data = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cluster", "subject", "part", "at"], name="history_minute_once")]
        indexes = [
            models.Index(
                fields=["cluster", "subject", "part", "at"], condition=Q(folded=False), name="history_to_fold"
            ),
            models.Index(fields=["at"], name="history_minutes_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.subject} {self.part} {self.at}"


class _OfSubject(OfCluster):
    """Rows of one subject: of a namespace for who sees its pods."""

    class Meta:
        abstract = True

    @classmethod
    def seen_by(cls, scope: Scope) -> Q:
        return (scope.in_clusters() & ~Q(subject=Subject.NAMESPACE)) | scope.in_namespaces(namespace="key")


class HistoryDay(_OfSubject):
    """One subject on one day (UTC): five minutes a value.

    free_mib, cards_free: of a pool the means of the day, so that a forecast unpacks no day; None: less than half of it is known.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE)
    subject = models.CharField(max_length=9, choices=Subject.choices)
    key = models.CharField(max_length=255, blank=True)
    day = models.DateField()
    data = models.BinaryField()
    free_mib = models.FloatField(null=True)
    cards_free = models.FloatField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cluster", "subject", "key", "day"], name="history_day_once")]
        indexes = [models.Index(fields=["day"], name="history_days_by_time")]

    def __str__(self) -> str:
        return f"{self.subject} {self.key} {self.day}"


class HistoryAnswer(_OfSubject):
    """What a Prometheus said of a card's or a node's past: asked for by a chart, answered by a collector, good for some minutes.

    Writers: whoever wants it sets `wanted_at`; `inventory.collect.past_answers` all else.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE)
    subject = models.CharField(max_length=9, choices=Subject.choices)
    key = models.CharField(max_length=255)
    #: The name of a window of `inventory.history.series`.
    window = models.CharField(max_length=8)
    wanted_at = models.DateTimeField()
    answered_at = models.DateTimeField(null=True)
    #: Why there is no answer; "" where there is one.
    reason = models.TextField(blank=True)
    #: How the reason was made, see `wording.said`.
    wording = models.JSONField(null=True)
    #: The beginning of the first step, and its columns as in a day (`packed.pack_columns`).
    begins_at = models.DateTimeField(null=True)
    data = models.BinaryField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["cluster", "subject", "key", "window"], name="history_answer_once")
        ]
        indexes = [models.Index(fields=["wanted_at"], name="history_answers_by_time")]

    def __str__(self) -> str:
        return f"{self.subject} {self.key} {self.window}"
