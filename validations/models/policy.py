"""A policy: what must stay validated, and what its cards are now. Hourly counts of them, for the chart."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from inventory.models import Cluster
from runtime.scope import NOTHING, Scope, current
from runtime.scoped import OfCluster
from validations.ids import ByIdManager, new_id
from validations.models.run import Run
from validations.models.state import LevelChoice
from wording.said import restored


class Policy(models.Model):
    """One suite that must have passed on each chosen card, and how recently.

    level: the least level of a pass. cluster, pool, model, stack, node_labels: which cards; None, "" and {} choose all.
    max_age_s: a pass older than this is void. void_on_*: what else makes an older pass void; a later failure always does.
    window_cron, window_minutes, time_zone: when runs may start: the start of each window in local time, and its length; "" at any
    time.
    max_per_cluster, max_per_pool: runs of the policy at once; None: no limit of its own. card_minutes_per_day: a card is not taken
    again when its runs of the last 24 h took so long. keep_free_nodes, keep_free_cards: of each pool, whole and unallocated.
    counts_imported: whether a pass that another tool reported counts as one of ours, and a failure makes a card due.
    """

    id = models.CharField(primary_key=True, max_length=16, default=new_id, editable=False)
    name = models.CharField(max_length=100, unique=True)
    suite = models.CharField(max_length=63)
    options = models.JSONField(default=dict)
    level = models.CharField(max_length=8, choices=LevelChoice.choices, default=LevelChoice.CHECKED)

    cluster = models.ForeignKey(Cluster, null=True, on_delete=models.CASCADE, related_name="policies")
    pool = models.CharField(max_length=255, blank=True)
    model = models.CharField(max_length=128, blank=True)
    stack = models.CharField(max_length=32, blank=True)
    node_labels = models.JSONField(default=dict)

    max_age_s = models.PositiveIntegerField()
    void_on_driver = models.BooleanField(default=True)
    void_on_reboot = models.BooleanField(default=False)
    void_on_machine = models.BooleanField(default=True)
    void_on_image = models.BooleanField(default=True)
    counts_imported = models.BooleanField(default=False)

    window_cron = models.CharField(max_length=100, blank=True)
    window_minutes = models.PositiveIntegerField(null=True)
    time_zone = models.CharField(max_length=64, default="UTC")

    max_per_cluster = models.PositiveIntegerField(default=4)
    max_per_pool = models.PositiveIntegerField(null=True)
    card_minutes_per_day = models.PositiveIntegerField(null=True)
    keep_free_nodes = models.PositiveIntegerField(default=0)
    keep_free_cards = models.PositiveIntegerField(default=0)

    #: Cards whose failure it confirms are taken out of service without asking, where an administrator has switched that on.
    takes_out = models.BooleanField(default=False, db_default=False)
    paused = models.BooleanField(default=False)
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    requested_by_name = models.CharField(max_length=150, blank=True)
    created_at = models.DateTimeField(db_default=Now())
    changed_at = models.DateTimeField(db_default=Now())
    #: Its cards were looked at last, and it started runs last; None: never.
    evaluated_at = models.DateTimeField(null=True)
    launched_at = models.DateTimeField(null=True)
    #: Why nothing is started although cards are due, as `wording.said` keeps it; "" when something is, or nothing is due.
    held = models.TextField(blank=True, default="", db_default="")
    held_wording = models.JSONField(null=True)

    objects = ByIdManager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(level__in=LevelChoice.values), name="policy_level_known"),
            models.CheckConstraint(condition=Q(max_age_s__gte=60), name="policy_age"),
            models.CheckConstraint(condition=Q(max_per_cluster__gte=1), name="policy_parallel"),
            models.CheckConstraint(
                condition=Q(window_cron="", window_minutes=None) | (~Q(window_cron="") & Q(window_minutes__gte=1)),
                name="policy_window_whole",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @classmethod
    def from_db(cls, db: str | None, field_names: Collection[str], values: Collection[Any]) -> Self:
        """`held` names clusters and requesters: it is empty for who does not see all that the policy covers whole."""
        row = super().from_db(db, field_names, values)
        cluster, scope = row.__dict__.get("cluster_id"), current()
        if not (scope.everything if cluster is None else scope.sees_whole(cluster)):
            row.__dict__ |= {"held": "", "held_wording": None}
        return row

    @property
    def said_held(self) -> str:
        """`held` as the sentence that it is."""
        return restored(self.held, self.held_wording)

    @classmethod
    def seen_by(cls, scope: Scope) -> Q:
        """Of one cluster: who sees the cluster. Of all clusters: everybody; what its cards are is counted by their own rows."""
        seen = scope.in_clusters()
        return Q(cluster=None) | seen if seen and scope != NOTHING else seen


class PolicyState(models.TextChoices):
    """What a card is under a policy.

    valid     it has passed, recently enough, and nothing has made that void
    due       it is to be tested
    running   a run of the suite is under way on it
    failed    the last result is a failure that nothing has taken back
    excluded  it is due, and cannot be tested now: the reason says why
    """

    VALID = "valid", _("valid")
    DUE = "due", _("due")
    RUNNING = "running", _("running")
    FAILED = "failed", _("failed")
    EXCLUDED = "excluded", _("excluded")


class PolicyCard(OfCluster):
    """What one card is under one policy, made from the rows of cards, nodes and runs; only a refused launch is written beside.

    reason: a code of `policies.standing.REASONS`, or of a suite's reasons where a launch was refused. since: of state and reason.
    hindrance: why it cannot be tested now, of a card that failed or is excluded.
    valid_until: end of the pass, of a valid card. not_before: no run is started earlier, after one that gave no pass.
    run: the result that the state rests on, or the run under way. failures: failed runs since the last pass; tries: runs that
    gave no result since the last one that did.
    refused, refused_at: why a launch was refused, and when.
    """

    policy = models.ForeignKey(Policy, on_delete=models.CASCADE, related_name="cards")
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    node_name = models.CharField(max_length=253)
    card_key = models.CharField(max_length=128)
    state = models.CharField(max_length=8, choices=PolicyState.choices)
    reason = models.CharField(max_length=63, blank=True)
    hindrance = models.CharField(max_length=63, blank=True, default="", db_default="")
    since = models.DateTimeField()
    valid_until = models.DateTimeField(null=True)
    not_before = models.DateTimeField(null=True)
    run = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="+")
    failures = models.PositiveSmallIntegerField(default=0, db_default=0)
    tries = models.PositiveSmallIntegerField(default=0, db_default=0)
    refused = models.CharField(max_length=63, blank=True, default="", db_default="")
    refused_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["policy", "cluster", "node_name", "card_key"], name="policy_card_once"),
            models.CheckConstraint(condition=Q(state__in=PolicyState.values), name="policy_card_state_known"),
        ]
        indexes = [
            models.Index(fields=["policy", "state", "id"], name="policy_cards_by_state"),
            models.Index(fields=["cluster", "node_name", "card_key"], name="policies_of_a_card"),
        ]

    def __str__(self) -> str:
        return f"{self.node_name}/{self.card_key}: {self.state} {self.reason}".strip()


class PolicyCount(OfCluster):
    """How many cards were what at the end of an hour. policy None: each card once, by its worst state under all policies.

    driver: of the node. at: the start of the hour, UTC. reasons: code → how many of the excluded cards are so for it.
    """

    policy = models.ForeignKey(Policy, null=True, on_delete=models.CASCADE, related_name="counts")
    at = models.DateTimeField()
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    pool = models.CharField(max_length=255, blank=True)
    model = models.CharField(max_length=128, blank=True)
    driver = models.CharField(max_length=64, blank=True)
    valid = models.PositiveIntegerField(default=0)
    due = models.PositiveIntegerField(default=0)
    running = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)
    excluded = models.PositiveIntegerField(default=0)
    reasons = models.JSONField(default=dict)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["policy", "at", "cluster", "pool", "model", "driver"],
                condition=Q(policy__isnull=False),
                name="policy_count_once",
            ),
            models.UniqueConstraint(
                fields=["at", "cluster", "pool", "model", "driver"], condition=Q(policy=None), name="fleet_count_once"
            ),
        ]
        indexes = [models.Index(fields=["at"], name="policy_counts_by_hour")]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:00} {self.valid} valid"


class PolicySwitch(models.Model):
    """The switch of all policies: one row. paused: no policy starts a run anywhere."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    paused = models.BooleanField(default=False)
    changed_by_name = models.CharField(max_length=150, blank=True)
    changed_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="one_policy_switch")]

    def __str__(self) -> str:
        return "paused" if self.paused else "active"

    @classmethod
    def all_paused(cls) -> bool:
        return cls.objects.filter(paused=True).exists()
