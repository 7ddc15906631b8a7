"""A campaign: one suite on many targets, some at a time."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from inventory.models import Cluster
from runtime.scope import Scope
from runtime.scoped import OfCluster
from validations.ids import ByIdManager, new_id


class CampaignState(models.TextChoices):
    """RUNNING ⇄ PAUSED; both → STOPPED (by a person, or by too many failures); RUNNING → DONE. Runs under way go on."""

    RUNNING = "running", _("running")
    PAUSED = "paused", _("paused")
    STOPPED = "stopped", _("stopped")
    DONE = "done", _("done")


class Campaign(models.Model):
    """One suite with one set of options on a list of targets.

    selector: how the list was chosen, as filters of the node list, for the page; {} when it was given by name.
    max_parallel: runs at once. stop_after_failures: failed or errored runs after which nothing more is started; None: never.
    """

    id = models.CharField(primary_key=True, max_length=16, default=new_id, editable=False)
    name = models.CharField(max_length=200, blank=True)
    suite = models.CharField(max_length=63)
    options = models.JSONField(default=dict)
    selector = models.JSONField(default=dict)
    max_parallel = models.PositiveIntegerField(default=4)
    stop_after_failures = models.PositiveIntegerField(null=True)
    state = models.CharField(max_length=16, choices=CampaignState.choices, default=CampaignState.RUNNING)
    state_reason = models.TextField(blank=True)
    #: How it was made, see `wording.said`.
    wording = models.JSONField(null=True)
    #: Paused because a cluster does not accept the launcher's credentials: it goes on by itself when that is over.
    resumes = models.BooleanField(default=False, db_default=False)
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    requested_by_name = models.CharField(max_length=150, blank=True)
    request_key = models.CharField(max_length=255, blank=True)
    request_digest = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField(db_default=Now())
    touched_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True)
    #: It starts nothing more, and all its runs have ended and stand at the places of the cards that they took.
    settled = models.BooleanField(default=False, db_default=False)

    objects = ByIdManager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(state__in=CampaignState.values), name="campaign_state_known"),
            models.CheckConstraint(condition=Q(max_parallel__gte=1), name="campaign_parallel"),
            models.UniqueConstraint(
                fields=["requested_by", "request_key"],
                condition=~Q(request_key=""),
                name="one_campaign_per_request_key",
            ),
        ]
        indexes = [
            models.Index(fields=["state", "id"], condition=Q(state="running"), name="campaigns_running"),
            models.Index(fields=["state", "id"], condition=Q(settled=False), name="campaigns_to_settle"),
            models.Index(fields=["id"], condition=Q(resumes=True), name="campaigns_to_resume"),
        ]

    def __str__(self) -> str:
        return self.name or f"{self.suite} ({self.id})"

    @classmethod
    def seen_by(cls, scope: Scope) -> Q:
        """Its name, selector and counts are of all its places: only who sees all of their clusters whole sees it."""
        targets = CampaignTarget._base_manager.filter(campaign_id=OuterRef("pk"))
        seen = scope.in_whole_clusters()
        return Q(Exists(targets.filter(seen))) & ~Q(Exists(targets.exclude(seen)))


class CampaignTarget(OfCluster):
    """One place of a campaign: a node, or a card of it.

    run: the run under way for it, then the run whose result is the place's: for a card one that ran on this card. skipped,
    not_tested: why it is settled without one. tried: the last run that was made for it and took another card, or no known one.
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="targets")
    position = models.PositiveIntegerField()
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    node_name = models.CharField(max_length=253)
    card_key = models.CharField(max_length=128, blank=True)
    run = models.OneToOneField("validations.Run", null=True, on_delete=models.SET_NULL, related_name="campaign_target")
    #: The suite cannot run there: what is wrong with the target.
    skipped = models.TextField(blank=True)
    #: Runs were made and none is known to have taken this card: why not.
    not_tested = models.TextField(blank=True, default="", db_default="")
    #: How the one or the other was made, see `wording.said`.
    wording = models.JSONField(null=True)
    tried = models.ForeignKey("validations.Run", null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "position"], name="campaign_position_once"),
            models.UniqueConstraint(
                fields=["campaign", "cluster", "node_name", "card_key"], name="campaign_target_once"
            ),
        ]
        indexes = [
            models.Index(
                fields=["campaign", "position"], condition=Q(run=None, skipped="", not_tested=""), name="targets_left"
            )
        ]

    @classmethod
    def seen_by(cls, scope: Scope) -> Q:
        return scope.in_whole_clusters()

    def __str__(self) -> str:
        return f"{self.node_name} {self.card_key}".strip()

    @property
    def measured(self) -> dict[str, float]:
        """What its run measured, by name; {} without one."""
        return {one.name: one.value for one in self.run.measurements.all()} if self.run else {}
