"""Channels, rules, what was sent of each topic, deliveries, and silences.

Channels, rules and deliveries are for administrators, who see everything. A silence is of findings, and is seen by who sees those.
"""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from inventory.models import Cluster
from inventory.models.choices import Severity
from runtime.scope import NOTHING, Scope
from runtime.scoped import ScopedManager
from validations.ids import ByIdManager, new_id


class Channel(models.Model):
    """A place where people read messages: a chat group, a pager, a mailbox, a program.

    kind: a name of `notifications.channels`. settings: what is no secret. sealed: its secrets, encrypted (`runtime.sealed`).
    failing_since: since when no message reaches it; None: the last one did, or there was none. answer: what it said last.
    gone: it asked for no more messages; nothing is sent until it is changed.
    """

    id = models.CharField(primary_key=True, max_length=16, default=new_id, editable=False)
    name = models.CharField(max_length=100, unique=True)
    kind = models.CharField(max_length=32)
    settings = models.JSONField(default=dict)
    sealed = models.TextField(blank=True)
    language = models.CharField(max_length=16, default="en")
    paused = models.BooleanField(default=False)
    created_by_name = models.CharField(max_length=150, blank=True)
    created_at = models.DateTimeField(db_default=Now())
    changed_at = models.DateTimeField(db_default=Now())
    delivered_at = models.DateTimeField(null=True)
    failing_since = models.DateTimeField(null=True)
    answer = models.CharField(max_length=300, blank=True, default="", db_default="")
    gone = models.BooleanField(default=False)
    #: Of a receiver that forgets what is not repeated: when what holds now was sent last.
    repeated_at = models.DateTimeField(null=True)

    objects = ByIdManager()

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        """Without its settings: addresses of chat groups are secrets."""
        return f"<Channel {self.name} ({self.kind})>"


class Digest(models.TextChoices):
    """When a rule sends: at once, or what has gathered."""

    NONE = "", _("at once")
    HOURLY = "hourly", _("hourly")
    DAILY = "daily", _("daily")


class Rule(models.Model):
    """What is sent to a channel.

    about: kinds of topics (`notifications.topics`). codes: of findings; [] all. least_severity: lesser ones are not told.
    places: as scopes are written, one in a line; "" everything. digest, digest_hour, time_zone: of a daily digest, the local hour.
    told_at: when it told something last.
    """

    id = models.CharField(primary_key=True, max_length=16, default=new_id, editable=False)
    name = models.CharField(max_length=100, unique=True)
    channel = models.ForeignKey(Channel, on_delete=models.CASCADE, related_name="rules")
    about = models.JSONField(default=list)
    codes = models.JSONField(default=list)
    least_severity = models.CharField(max_length=8, choices=Severity.choices, default=Severity.WARNING)
    places = models.TextField(blank=True)
    digest = models.CharField(max_length=8, blank=True, choices=Digest.choices, default=Digest.NONE)
    digest_hour = models.PositiveSmallIntegerField(default=8)
    time_zone = models.CharField(max_length=64, default="UTC")
    paused = models.BooleanField(default=False)
    created_by_name = models.CharField(max_length=150, blank=True)
    created_at = models.DateTimeField(db_default=Now())
    changed_at = models.DateTimeField(db_default=Now())
    told_at = models.DateTimeField(null=True)

    objects = ByIdManager()

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(digest_hour__lte=23), name="rule_digest_hour")]

    def __str__(self) -> str:
        return self.name


class Told(models.Model):
    """What a rule has sent of one topic, and what is to be sent next.

    topic: what it is about, the same from its beginning to its end. line: the topic as it is now, `notifications.topics.Topic`.
    began_at: when the rule first saw it. gone_at: since when it does not hold, None while it does. told_at: when it was told last,
    None: not yet. newest, told_count: of the things that were sent, the last one, and how many they were. due_at: from when something
    of it is to be told; None: nothing. ended_at: when its end was told; the row stays for an hour, for what comes back, and loses it
    when that is told.
    """

    rule = models.ForeignKey(Rule, on_delete=models.CASCADE, related_name="told")
    topic = models.CharField(max_length=200)
    line = models.JSONField(default=dict)
    began_at = models.DateTimeField()
    gone_at = models.DateTimeField(null=True)
    newest = models.BigIntegerField(default=0)
    told_count = models.PositiveIntegerField(default=0)
    told_at = models.DateTimeField(null=True)
    due_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["rule", "topic"], name="told_once")]

    def __str__(self) -> str:
        return self.topic


class DeliveryState(models.TextChoices):
    """WAITING → SENDING → DELIVERED, FAILED or UNCERTAIN; SENDING → WAITING where it is tried again."""

    WAITING = "waiting", _("waiting")
    SENDING = "sending", _("sending")
    DELIVERED = "delivered", _("delivered")
    FAILED = "failed", _("not delivered")
    UNCERTAIN = "uncertain", _("may have been sent")


#: States in which a delivery has not ended.
UNDER_WAY = (DeliveryState.WAITING, DeliveryState.SENDING)


class Delivery(models.Model):
    """One message to one channel. It is written in the transaction that notes what it says, and sent after that.

    message: `notifications.channels.engine.Message`. rule None: a test. next_at: not tried earlier. started_at: of the try under way,
    or of the last. answers: the last tries, [{"at", "outcome", "text"}].
    """

    id = models.CharField(primary_key=True, max_length=16, default=new_id, editable=False)
    channel = models.ForeignKey(Channel, on_delete=models.CASCADE, related_name="deliveries")
    rule = models.ForeignKey(Rule, null=True, on_delete=models.SET_NULL, related_name="deliveries")
    title = models.CharField(max_length=300)
    topics = models.PositiveIntegerField(default=0)
    test = models.BooleanField(default=False)
    message = models.JSONField(default=dict)
    state = models.CharField(max_length=9, choices=DeliveryState.choices, default=DeliveryState.WAITING)
    tries = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField()
    next_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    answer = models.CharField(max_length=300, blank=True)
    answers = models.JSONField(default=list)

    objects = ByIdManager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(state__in=DeliveryState.values), name="delivery_state_known"),
        ]
        indexes = [
            models.Index(
                fields=["channel", "id"], condition=Q(state__in=("waiting", "sending")), name="deliveries_to_make"
            ),
            models.Index(fields=["created_at"], name="deliveries_by_age"),
        ]

    def __str__(self) -> str:
        return self.title


class Silence(models.Model):
    """Findings that are not sent until an end, and why. "" and None: any.

    finding: the id of the one finding that was acknowledged; the silence ends with it.
    """

    cluster = models.ForeignKey(Cluster, null=True, on_delete=models.CASCADE, related_name="+")
    code = models.CharField(max_length=64, blank=True)
    cause = models.CharField(max_length=200, blank=True)
    node_name = models.CharField(max_length=253, blank=True)
    card_key = models.CharField(max_length=128, blank=True)
    pod = models.CharField(max_length=512, blank=True)
    finding = models.BigIntegerField(null=True)
    reason = models.CharField(max_length=500)
    created_by_name = models.CharField(max_length=150, blank=True)
    created_at = models.DateTimeField(db_default=Now())
    until = models.DateTimeField()
    #: Ended by hand, or because its cluster's finding ended.
    ended_at = models.DateTimeField(null=True)
    ended_by_name = models.CharField(max_length=150, blank=True)

    objects = ScopedManager()

    class Meta:
        indexes = [models.Index(fields=["until"], condition=Q(ended_at=None), name="silences_in_force")]

    def __str__(self) -> str:
        return self.reason

    @classmethod
    def seen_by(cls, scope: Scope) -> Q:
        """Its reason may name pods of others: who sees the cluster whole, or the pod. Of all clusters: who sees something."""
        seen = scope.in_whole_clusters() | scope.of_pods("pod")
        return Q(cluster=None, pod="") | seen if scope != NOTHING else seen
